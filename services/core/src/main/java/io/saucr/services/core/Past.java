package io.saucr.services.core;

import io.saucr.services.core.Change.Unacked;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the turns so far did, apart from the service's own state. Changed by {@link #apply} alone,
 * while a service runs and when it starts again, so both lead to the same (K9). Turn thread.
 */
final class Past {

    /** A timer, in the order in which timers go off. */
    record Due(long millis, long id) implements Comparable<Due> {

        @Override
        public int compareTo(Due other) {
            int first = Long.compare(millis, other.millis);
            return first != 0 ? first : Long.compare(id, other.id);
        }
    }

    /** How often an input was tried by starts that then died. */
    record Attempt(String input, int times) {}

    private final String name;
    final Outboxes outboxes;
    final Map<String, Peer> peers = new TreeMap<>();
    final TreeMap<Due, Body> timers = new TreeMap<>();
    final Map<Long, Due> dueOf = new HashMap<>();
    final Map<String, Change.RepeatDue> repeats = new TreeMap<>();
    final Map<Long, Body> outputs = new LinkedHashMap<>();
    final TreeMap<Long, Input.Returned> returned = new TreeMap<>();
    final TreeMap<Long, Change.ParkedIs> parked = new TreeMap<>();

    /** Those among {@link #parked} that came back. */
    final TreeMap<Long, Input.Returned> parkedReturns = new TreeMap<>();

    final Map<String, TreeSet<Long>> waiting = new TreeMap<>();
    final Map<String, Attempt> tried = new TreeMap<>();

    /** The birth that replaced another one last, or null where none did (K11). */
    Birth bornAs;

    /** Births that were replaced, the first one first. */
    final List<Change.Former> formers = new ArrayList<>();

    /** Of a service with standbys (C11). */
    Epochs epochs = Epochs.NONE;

    long turn;
    long nowMillis;
    long newestTimer;

    /** How many pairs ended since this was made. */
    long pairsOver;

    long newestOutput;
    long newestReturn;
    long newestParked;

    Past(String name, Limits limits) {
        this.name = name;
        outboxes = new Outboxes(limits);
    }

    void apply(Delta delta) {
        if (delta.turn() <= turn) {
            throw new IllegalArgumentException(
                    "turn " + delta.turn() + " comes after turn " + turn + ": a base ignores it");
        }
        turn = delta.turn();
        long before = nowMillis;
        long last = Math.max(before, delta.nowMillis());
        nowMillis = last;
        for (Change change : delta.changes()) {
            if (change instanceof Change.At it) {
                nowMillis = Math.max(before, it.nowMillis());
            } else {
                apply(change, delta.incarnation());
            }
        }
        nowMillis = last;
    }

    /** Whether the sender of that message waits for an answer of a later turn. */
    boolean waits(String key, long number) {
        return waiting.containsKey(key) && waiting.get(key).contains(number);
    }

    private Peer peer(String key, boolean outside) {
        return peers.computeIfAbsent(key, it -> new Peer(it, outside, outboxes));
    }

    /** Applies what is recorded with a later turn, as it may be lost (K6). */
    void applyEarly(Change change) {
        apply(change, 0);
    }

    private void apply(Change change, long incarnation) {
        if (change instanceof Change.PairOpened it) {
            Peer peer = peer(it.peer(), it.outside());
            peer.open(it.birth(), it.seen(), turn);
            peer.heardMillis = nowMillis;
        } else if (change instanceof Change.PairKnown it) {
            peers.get(it.peer()).know(turn);
        } else if (change instanceof Change.PairOver it) {
            end(it);
        } else if (change instanceof Change.PairRefused it) {
            Peer peer = peer(it.peer(), false);
            if (it.birth().equals(peer.birth)) {
                endPair(peer, it.reason());
            }
            peer.refusedBy = it.birth();
        } else if (change instanceof Change.GivenUp it) {
            comeBack(peers.get(it.peer()), false, it.reason());
        } else if (change instanceof Change.BornAnew it) {
            bornAnew(it);
        } else if (change instanceof Change.BornAs it) {
            bornAs = it.now();
            formers.addAll(it.before());
        } else if (change instanceof Change.Consumed it) {
            consume(it);
        } else if (change instanceof Change.Acked it) {
            Peer peer = peers.get(it.peer());
            peer.ack(it.last());
            peer.heardMillis = nowMillis;
        } else if (change instanceof Change.Sent it) {
            Peer peer = peer(it.peer(), false);
            peer.send(
                    new Peer.Waiting(
                            turn,
                            new Unacked(
                                    incarnation,
                                    nowMillis,
                                    it.answers(),
                                    it.refusal(),
                                    it.body())));
        } else if (change instanceof Change.Withdrawn it) {
            peers.get(it.peer()).withdraw(it.count());
        } else if (change instanceof Change.TimerSet it) {
            Due due = new Due(it.dueMillis(), it.id());
            timers.put(due, it.body());
            dueOf.put(it.id(), due);
            newestTimer = Math.max(newestTimer, it.id());
        } else if (change instanceof Change.TimerGone it) {
            timers.remove(dueOf.remove(it.id()));
        } else if (change instanceof Change.TimersUpTo it) {
            newestTimer = Math.max(newestTimer, it.id());
        } else if (change instanceof Change.RepeatDue it) {
            repeats.put(it.type(), it);
        } else if (change instanceof Change.RepeatGone it) {
            repeats.remove(it.type());
        } else if (change instanceof Change.EpochBegan it) {
            epochs = epochs.with(it.begun());
        } else if (change instanceof Change.OutputMade it) {
            outputs.put(++newestOutput, it.body());
        } else if (change instanceof Change.OutputDone it) {
            outputs.remove(it.output());
        } else if (change instanceof Change.ReturnTaken it) {
            returned.remove(it.id());
            outboxes.taken(it.id());
        } else if (change instanceof Change.Tried it) {
            if (it.times() == 0) {
                tried.remove(it.channel());
            } else {
                tried.put(it.channel(), new Attempt(it.input(), it.times()));
            }
        } else if (change instanceof Change.Parked it) {
            long id = ++newestParked;
            parked.put(id, new Change.ParkedIs(id, it.channel(), it.reason(), it.body()));
        } else if (change instanceof Change.ReturnParked it) {
            long id = ++newestParked;
            Body body = it.returned().body();
            parked.put(id, new Change.ParkedIs(id, it.channel(), it.reason(), body));
            parkedReturns.put(id, it.returned());
        } else if (change instanceof Change.ParkedGone it) {
            parked.remove(it.id());
            parkedReturns.remove(it.id());
        } else if (change instanceof Change.ReturnAgain it) {
            parked.remove(it.id());
            returned.put(++newestReturn, parkedReturns.remove(it.id()));
        } else if (change instanceof Change.Waits it) {
            waiting.computeIfAbsent(it.peer(), key -> new TreeSet<>()).add(it.number());
        } else if (change instanceof Change.Answered it) {
            answer(it);
        } else if (change instanceof Change.PeerIs it) {
            peers.put(it.peer(), Peer.of(it, turn, outboxes));
        } else if (change instanceof Change.InFiles it) {
            peers.get(it.peer()).holds(it);
        } else if (change instanceof Change.ReturningIs it) {
            outboxes.returning(it);
        } else if (change instanceof Change.NumbersUpTo it) {
            newestOutput = it.output();
            newestReturn = it.returned();
            newestParked = it.parked();
        } else if (change instanceof Change.OutputIs it) {
            outputs.put(it.output(), it.body());
        } else if (change instanceof Change.ReturnIs it) {
            returned.put(it.id(), it.returned());
        } else if (change instanceof Change.ParkedIs it) {
            parked.put(it.id(), it);
        } else if (change instanceof Change.ParkedReturnIs it) {
            parkedReturns.put(it.id(), it.returned());
        }
    }

    private void consume(Change.Consumed change) {
        Peer peer = peers.get(change.peer());
        if (change.peer().equals(name)) {
            peer.ack(change.last());
        } else {
            // Its number 1 left, so it has seen that the pair is on this disk.
            peer.know(turn);
            peer.consumed = change.last();
            peer.saw(change.last());
            peer.heardMillis = nowMillis;
        }
    }

    private void answer(Change.Answered change) {
        TreeSet<Long> numbers = waiting.get(change.peer());
        if (numbers != null && numbers.remove(change.number()) && numbers.isEmpty()) {
            waiting.remove(change.peer());
        }
    }

    private void end(Change.PairOver over) {
        Peer peer = peer(over.peer(), false);
        if (peer.outside) {
            peers.remove(over.peer());
            peer.drop();
            waiting.remove(over.peer());
            return;
        }
        if (over.birth().equals(peer.birth)) {
            endPair(peer, over.reason());
        }
        if (!peer.gone.contains(over.birth())) {
            peer.gone.add(over.birth());
        }
    }

    private void endPair(Peer peer, String reason) {
        if (peer.known) {
            comeBack(peer, true, reason);
        }
        peer.end();
        pairsOver++;
        waiting.remove(peer.key);
    }

    /** All that is in the outbox becomes inputs again, in its order, what is in files later. */
    private void comeBack(Peer peer, boolean perhaps, String reason) {
        long before = newestReturn;
        long count = peer.floor();
        for (Unacked message : peer.inHeap()) {
            count++;
            if (message.refusal().isEmpty()) {
                returned.put(
                        ++newestReturn,
                        new Input.Returned(peer.key, count, perhaps, reason, message.body()));
            }
        }
        newestReturn = outboxes.drain(peer, before, newestReturn, perhaps, reason);
        peer.takeBack();
    }

    private void bornAnew(Change.BornAnew anew) {
        for (Peer peer : List.copyOf(peers.values())) {
            if (peer.key.equals(name)) {
                continue;
            }
            waiting.remove(peer.key);
            tried.remove(peer.key);
            if (peer.outside) {
                peers.remove(peer.key);
                peer.drop();
            } else {
                // What has no number here may have got one in a newer folder, and been consumed.
                comeBack(peer, true, anew.reason());
                peer.end();
                peer.refusedBy = null;
            }
        }
        pairsOver++;
        bornAs = anew.now();
        formers.add(new Change.Former(anew.before(), newestOutput));
    }

    /** Under which birth a call to the world was made; empty where under that of now. */
    Optional<Birth> birthOfOutput(long output) {
        return formers.stream()
                .filter(it -> output <= it.outputsUpTo())
                .findFirst()
                .map(Change.Former::birth);
    }

    /** Everything as changes that, applied to nothing, lead here (K10). */
    Delta snapshot(long incarnation) {
        List<Change> all = new ArrayList<>();
        if (bornAs != null) {
            all.add(new Change.BornAs(bornAs, List.copyOf(formers)));
        }
        for (Peer peer : peers.values()) {
            all.add(peer.snapshot());
            peer.inFiles().ifPresent(all::add);
            if (peer.refusedBy != null) {
                // What it had to bring back came back already: the pair is none any more.
                all.add(new Change.PairRefused(peer.key, peer.refusedBy, ""));
            }
        }
        timers.forEach((due, body) -> all.add(new Change.TimerSet(due.id(), due.millis(), body)));
        all.add(new Change.TimersUpTo(newestTimer));
        all.addAll(repeats.values());
        epochs.begun().forEach(it -> all.add(new Change.EpochBegan(it)));
        all.add(new Change.NumbersUpTo(newestOutput, newestReturn, newestParked));
        outputs.forEach((output, body) -> all.add(new Change.OutputIs(output, body)));
        returned.forEach((id, it) -> all.add(new Change.ReturnIs(id, it)));
        all.addAll(outboxes.returning());
        all.addAll(parked.values());
        parkedReturns.forEach((id, it) -> all.add(new Change.ParkedReturnIs(id, it)));
        tried.forEach((at, it) -> all.add(new Change.Tried(at, it.input(), it.times())));
        waiting.forEach(
                (peer, numbers) ->
                        numbers.forEach(number -> all.add(new Change.Waits(peer, number))));
        return new Delta(turn, incarnation, nowMillis, List.copyOf(all));
    }

    Optional<Change.RepeatDue> firstRepeat() {
        return repeats.values().stream()
                .min(
                        (one, other) -> {
                            int first = Long.compare(one.dueMillis(), other.dueMillis());
                            return first != 0 ? first : one.type().compareTo(other.type());
                        });
    }
}
