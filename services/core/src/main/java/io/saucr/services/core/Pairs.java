package io.saucr.services.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what continues with other services, and with clients that have a birth: which births talk
 * to each other (K11, K15), what is sent again (K6), what is a duplicate (K7), and who is behind
 * its own past (K14). Turn thread.
 */
final class Pairs {

    /** So long nobody looks whether a service was made anew whose birth is of no use. */
    static final long LEFT_MILLIS = 10L * 60 * 1000;

    private final String name;
    private final Limits limits;
    private final CoreState state;
    private final Past past;
    private final Attempts attempts;
    private final Askers askers;
    private final Inputs inputs;
    private final Recorder recorder;
    private final Release release;
    private final Map<Link, Introduction> links = new LinkedHashMap<>();

    /** Services that are not dialled, and until when. */
    private final Map<String, Long> leftUntilMillis = new HashMap<>();

    private final Set<String> toTalk = new LinkedHashSet<>();
    private final Set<String> relinked = new LinkedHashSet<>();
    private final Set<String> toHello = new HashSet<>();

    /** Peers whose pair is over by a turn that is not final: they do not hear of it yet (K4). */
    private final Map<String, Long> overTurns = new HashMap<>();

    private long duplicates;

    /** What was said on a link: by the other end, and to it. */
    private static final class Introduction {
        Incarnation from;
        Frame.Hello said;
    }

    Pairs(CoreState state, Askers askers, Inputs inputs, Recorder recorder, Release release) {
        this.state = state;
        this.askers = askers;
        this.inputs = inputs;
        this.recorder = recorder;
        this.release = release;
        name = state.name;
        limits = state.limits;
        past = state.past;
        attempts = state.attempts;
        recorder.tell(this::recorded);
        release.tell(this::tell);
    }

    /**
     * A start begins.
     *
     * @param anew whether it is the first under its birth, which ended all pairs (K11)
     */
    void begin(boolean anew, List<Action> out) {
        for (Peer peer : past.peers.values()) {
            if (peer.key.equals(name)) {
                attempts.distrust(name);
                continue;
            }
            if (peer.birth != null) {
                attempts.distrust(peer.key);
            }
            reach(peer, out);
            if (anew && !peer.isWaitedFor()) {
                // It hears at once that the old birth is over, and has back what it sent that.
                out.add(new Action.Reach(peer.key));
            }
        }
    }

    /** All that was recovered so far is final, and may be said. */
    void areFinal() {
        for (Peer peer : past.peers.values()) {
            if (!peer.key.equals(name)) {
                Conversation conversation = conversation(peer.key);
                conversation.consumedFinal = peer.consumed;
                conversation.sentToward = peer.sent;
            }
        }
    }

    /** Peers hear what that turn did to pairs once it is final. */
    private void recorded(Delta delta) {
        for (Change change : delta.changes()) {
            if (change instanceof Change.Consumed it && !it.peer().equals(name)) {
                Birth birth = past.peers.get(it.peer()).birth;
                release.after(delta.turn(), () -> consumedFinally(it, birth));
            } else if (change instanceof Change.Sent it && !it.peer().equals(name)) {
                long count = past.peers.get(it.peer()).sent;
                release.after(
                        delta.turn(), conversation(it.peer()), () -> mayBeHeard(it.peer(), count));
            } else if (change instanceof Change.Sent it) {
                // No link and no ack of it would ask for what found no room next to others'
                // messages.
                past.peers.get(it.peer()).mayFetch();
            } else if (change instanceof Change.PairOver it) {
                overTurns.put(it.peer(), delta.turn());
                isOver(it.peer());
            } else if (change instanceof Change.PairRefused it) {
                isOver(it.peer());
            } else if (change instanceof Change.BornAnew) {
                state.conversations.values().forEach(Conversation::end);
            } else if (change instanceof Change.PairOpened it) {
                release.after(delta.turn(), () -> talk(it.peer()));
            } else if (change instanceof Change.PairKnown it) {
                release.after(delta.turn(), () -> talk(it.peer()));
            }
        }
    }

    private void isOver(String key) {
        Peer peer = past.peers.get(key);
        if (peer != null && peer.birth == null) {
            conversation(key).end();
        }
    }

    /** Tells peers what became final. */
    private void tell(List<Action> leaving) {
        for (String key : toTalk) {
            Peer peer = past.peers.get(key);
            if (peer != null) {
                if (toHello.remove(key)) {
                    helloAgain(key, leaving);
                } else {
                    introduce(key, peer, leaving);
                }
                conversation(key).say(peer, state.finals.outside(), leaving);
                reach(peer, leaving);
            }
        }
        toTalk.clear();
    }

    private void talk(String key) {
        toTalk.add(key);
    }

    private void consumedFinally(Change.Consumed change, Birth birth) {
        Peer peer = past.peers.get(change.peer());
        // Numbers of a pair that is over mean nothing in the next one (K11).
        if (peer != null && birth.equals(peer.birth)) {
            Conversation conversation = conversation(change.peer());
            conversation.consumedFinal = change.last();
            if (conversation.met != null
                    && change.last().incarnation() < conversation.met.number()) {
                // It came of an earlier start, and was not final when the peer's new one was heard:
                // that may be of an old copy, which has given the number to something else (K14).
                toHello.add(change.peer());
            }
            talk(change.peer());
        }
    }

    private void mayBeHeard(String key, long count) {
        Conversation conversation = conversation(key);
        conversation.sentToward = Math.max(conversation.sentToward, count);
        talk(key);
    }

    private void reach(Peer peer, List<Action> out) {
        if (!peer.outside
                && !peer.key.equals(name)
                && peer.isWaitedFor()
                && !leftUntilMillis.containsKey(peer.key)
                && conversation(peer.key).link().isEmpty()) {
            out.add(new Action.Reach(peer.key));
        }
    }

    /** Services that were left may have been made anew meanwhile. */
    void lookAgain(long now, List<Action> out) {
        for (Map.Entry<String, Long> left : List.copyOf(leftUntilMillis.entrySet())) {
            Peer peer = past.peers.get(left.getKey());
            if (left.getValue() <= now) {
                leftUntilMillis.remove(left.getKey());
                if (peer != null) {
                    reach(peer, out);
                }
            }
        }
    }

    /** In how many milliseconds one of them is looked at; {@link Long#MAX_VALUE} for never. */
    long nextLookMillis() {
        return leftUntilMillis.values().stream().reduce(Long.MAX_VALUE, Math::min);
    }

    /** Pairs with outside clients that are silent for long go; they hear GONE then (K11). */
    void forgetSilentClients(long now, List<Action> out) {
        for (Peer peer : List.copyOf(past.peers.values())) {
            if (peer.outside
                    && conversation(peer.key).links.isEmpty()
                    && now - peer.heardMillis >= limits.outsideSilenceMillis()) {
                end(peer, peer.birth, "silent for long", out);
            }
        }
    }

    /** Messages of an outbox are there that waited in a file. */
    void fetched(Peer peer, List<Action> out) {
        conversation(peer.key).say(peer, state.finals.outside(), out);
    }

    /** Every turn up to this one is final. */
    void finalUpTo(long turn) {
        overTurns.values().removeIf(it -> it <= turn);
    }

    long duplicates() {
        return duplicates;
    }

    private Conversation conversation(String key) {
        return state.conversation(key);
    }

    private void own(List<Change> changes, List<Action> out) {
        recorder.own(changes, out);
    }

    // ---- links and frames

    void linkUp(Link link, List<Action> out) {
        links.put(link, new Introduction());
        if (link.outside()) {
            askers.joined(link);
            if (state.keepsEpochs) {
                out.add(new Action.Send(link, new Frame.Past(past.epochs)));
            }
            release.joined(link, out);
        } else {
            Peer peer = past.peers.get(link.peer());
            hello(link, link.peer(), peer == null ? null : peer.birth, out);
        }
    }

    void linkDown(Link link, List<Action> out) {
        drop(link);
        sayAgain(out);
        Peer peer = past.peers.get(link.peer());
        if (peer != null && !link.outside()) {
            reach(peer, out);
        }
    }

    private void drop(Link link) {
        Introduction introduction = links.remove(link);
        if (introduction == null) {
            return;
        }
        if (link.outside()) {
            askers.left(link);
            inputs.left(link);
            release.left(link);
        }
        if (introduction.from != null) {
            String key = key(link, introduction.from);
            conversation(key).left(link);
            relinked.add(key);
        }
    }

    /** Where a link ended, another one may be there: all that is unacked goes over that (K6). */
    private void sayAgain(List<Action> out) {
        for (String key : relinked) {
            Peer peer = past.peers.get(key);
            if (peer != null) {
                conversation(key).say(peer, state.finals.outside(), out);
            }
        }
        relinked.clear();
    }

    private void close(Link link, String reason, List<Action> out) {
        drop(link);
        out.add(new Action.Close(link, reason));
    }

    private static String key(Link link, Incarnation from) {
        return link.outside() ? link.peer() + ServiceCore.RESERVED + from.birth() : link.peer();
    }

    void frame(Link link, Frame frame, List<Action> out) {
        Introduction introduction = links.get(link);
        if (frame instanceof Frame.Hello it) {
            hear(link, introduction, it, out);
        } else if (frame instanceof Frame.Gone it) {
            over(link, introduction, it, out);
        } else if (frame instanceof Frame.Ask it) {
            ask(link, it, out);
        } else if (frame instanceof Frame.Seen) {
            // It heard so when its link came, and sees on its own what is lost.
            return;
        } else if (frame instanceof Frame.Tagged it) {
            close(
                    link,
                    link.peer()
                            + " sent a message of "
                            + it.of()
                            + ", and is not known as that member of the group of "
                            + name,
                    out);
        } else if (introduction.from == null) {
            close(link, link.peer() + " spoke before it said who it is", out);
        } else if (frame instanceof Frame.Msg it) {
            message(link, key(link, introduction.from), it, out);
        } else if (frame instanceof Frame.Ack it) {
            acked(link, key(link, introduction.from), it, out);
        }
        // An answer or refusal without a number: a service asks nothing in this way.
        sayAgain(out);
    }

    boolean isThere(Link link) {
        return links.containsKey(link);
    }

    private void halt(String reason, List<Action> out) {
        state.halt(reason, out);
    }

    private void hello(Link link, String key, Birth to, List<Action> out) {
        Frame.Hello hello =
                conversation(key)
                        .hello(
                                name,
                                state.self,
                                past.peers.get(key),
                                Optional.ofNullable(to),
                                state.finals.outside());
        links.get(link).said = hello;
        out.add(new Action.Send(link, hello));
    }

    /** Says it again where it has changed since it was said. */
    private void introduce(String key, Peer peer, List<Action> out) {
        for (Link link : conversation(key).links.keySet()) {
            Introduction introduction = links.get(link);
            Birth with = introduction.from.birth();
            if (toSay(introduction, key, peer, with)) {
                hello(link, key, with, out);
            }
        }
    }

    private void helloAgain(String key, List<Action> out) {
        for (Link link : conversation(key).links.keySet()) {
            hello(link, key, links.get(link).from.birth(), out);
        }
    }

    private boolean toSay(Introduction introduction, String key, Peer peer, Birth with) {
        Frame.Hello said = introduction.said;
        return said == null
                || !said.to().equals(Optional.of(with))
                || said.pair()
                        != conversation(key).state(peer, Optional.of(with), state.finals.outside());
    }

    private void hear(Link link, Introduction introduction, Frame.Hello hello, List<Action> out) {
        Incarnation from = hello.from();
        String key = key(link, from);
        Peer peer = past.peers.get(key);
        Conversation conversation = conversation(key);
        if (!hello.name().equals(link.peer())) {
            close(link, "the name is " + link.peer() + ", and it said " + hello.name(), out);
            return;
        }
        if (introduction.from != null && !introduction.from.equals(from)) {
            close(link, key + " changed its start from " + introduction.from + " to " + from, out);
            return;
        }
        if (key.equals(name) || from.birth().equals(state.self.birth())) {
            close(link, "this is " + name + " itself; another place is meant", out);
            return;
        }
        if (peer != null && peer.gone.contains(from.birth())) {
            String reason = "generation " + from.birth() + " of " + key + " is lost here";
            boolean told = sayGone(link, key, from.birth(), out);
            close(link, reason, out);
            if (told && !link.outside()) {
                leave(key, reason + "; what is sent to it waits for another generation", out);
            }
            return;
        }
        if (peer != null && from.birth().equals(peer.refusedBy)) {
            String reason = refused(key, from.birth());
            close(link, reason, out);
            leave(key, reason, out);
            return;
        }
        Optional<String> old = conversation.older(peer, from);
        if (old.isPresent()) {
            close(link, key + ": " + old.get(), out);
            return;
        }
        if (peer != null && peer.birth != null && !peer.birth.equals(from.birth())) {
            end(peer, peer.birth, key + " was made anew, as generation " + from.birth(), out);
            peer = past.peers.get(key);
        }
        introduction.from = from;
        leftUntilMillis.remove(key);
        Frame.PairState pair = hello.pair();
        if (!hello.to().equals(Optional.of(state.self.birth()))) {
            pair = Frame.PairState.NEW;
        } else if (!judge(link, key, peer, hello, out)) {
            return;
        }
        conversation.joined(link, from, pair).forEach(it -> close(it, key + " started anew", out));
        peer = past.peers.get(key);
        if (toSay(introduction, key, peer, from.birth())) {
            hello(link, key, from.birth(), out);
        }
        if (peer != null) {
            conversation.say(peer, state.finals.outside(), out);
        }
    }

    /** What both know of the pair, put together (K11, K14); says whether the link is of use. */
    private boolean judge(Link link, String key, Peer peer, Frame.Hello hello, List<Action> out) {
        Birth birth = hello.from().birth();
        boolean mine = peer != null && birth.equals(peer.birth);
        if (!mine && hello.pair() == Frame.PairState.KNOWN) {
            behind(link, key, "it knows the pair, of which this folder knows nothing", hello, out);
            return false;
        }
        if (!mine) {
            Count seen = Count.of(0, hello.from());
            own(List.of(new Change.PairOpened(key, link.outside(), birth, seen)), out);
            return true;
        }
        Conversation conversation = conversation(key);
        Optional<String> behind =
                state.ownPast.behind(
                        peer,
                        hello,
                        conversation.sentNumber(peer, state.finals.outside()),
                        conversation.consumedFinal.number());
        if (behind.isPresent()) {
            behind(link, key, behind.get(), hello, out);
            return false;
        }
        if (conversation.isBehind(peer, hello)) {
            // It learns so from that frame, and halts.
            hello(link, key, birth, out);
            close(link, key + " is behind its own past: it knows less than it told before", out);
            return false;
        }
        if (!peer.known && hello.pair() != Frame.PairState.NEW) {
            own(List.of(new Change.PairKnown(key)), out);
        }
        return true;
    }

    private void behind(Link link, String key, String what, Frame.Hello hello, List<Action> out) {
        String reason =
                key
                        + " knows more of this service's past than its folder: "
                        + what
                        + ". The folder is an old copy or lost what was synced (K14)";
        if (link.outside()) {
            sayGone(link, key, hello.from().birth(), out);
            close(link, reason, out);
        } else {
            halt(reason + ". Put the newer folder back, or begin a new generation", out);
        }
    }

    /** Says so once that is final (K4). */
    private boolean sayGone(Link link, String key, Birth birth, List<Action> out) {
        if (overTurns.containsKey(key)) {
            return false;
        }
        out.add(new Action.Send(link, new Frame.Gone(birth)));
        return true;
    }

    private void leave(String key, String reason, List<Action> out) {
        leftUntilMillis.put(key, state.clock.nowMillis() + LEFT_MILLIS);
        out.add(new Action.Leave(key, reason));
    }

    /** What that birth of a peer said, and what to do. */
    String refused(String key, Birth birth) {
        return "generation "
                + birth
                + " of "
                + key
                + " says that generation "
                + state.self.birth()
                + " of "
                + name
                + " is lost: it takes nothing of it any more (K15). To continue with it, stop "
                + name
                + " and give it a new generation: Services.newGeneration";
    }

    /** The pair is over (K15). */
    private void end(Peer peer, Birth birth, String reason, List<Action> out) {
        for (Link link : List.copyOf(conversation(peer.key).links.keySet())) {
            close(link, reason, out);
        }
        endSilently(peer, birth, reason, out);
    }

    private void endSilently(Peer peer, Birth birth, String reason, List<Action> out) {
        own(List.of(new Change.PairOver(peer.key, birth, reason)), out);
        if (peer.birth == null) {
            attempts.forget(peer.key);
        }
        if (peer.outside) {
            state.conversations.remove(peer.key);
        }
        inputs.look(Inputs.RETURNED);
    }

    private void over(Link link, Introduction introduction, Frame.Gone gone, List<Action> out) {
        String reason = link.peer() + " says that generation " + gone.birth() + " is lost";
        Peer peer = past.peers.get(link.peer());
        Optional<Birth> from =
                Optional.ofNullable(introduction.from)
                        .map(Incarnation::birth)
                        .or(() -> Optional.ofNullable(peer).map(it -> it.birth));
        if (!link.outside() && gone.birth().equals(state.self.birth()) && from.isPresent()) {
            refuse(link.peer(), from.get(), out);
        } else if (!link.outside() && peer != null && gone.birth().equals(peer.birth)) {
            end(peer, peer.birth, reason, out);
        }
        if (links.get(link) == introduction) {
            close(link, reason, out);
        }
    }

    /** That birth takes nothing of this one any more (K15). */
    private void refuse(String key, Birth by, List<Action> out) {
        String reason = refused(key, by);
        Peer peer = past.peers.get(key);
        if (peer == null || !by.equals(peer.refusedBy)) {
            for (Link link : List.copyOf(conversation(key).links.keySet())) {
                close(link, reason, out);
            }
            own(List.of(new Change.PairRefused(key, by, reason)), out);
            attempts.forget(key);
            inputs.look(Inputs.RETURNED);
        }
        leave(key, reason, out);
    }

    private void ask(Link link, Frame.Ask ask, List<Action> out) {
        if (!link.outside()) {
            close(link, link.peer() + " is a service, and asked without a number", out);
        } else if (inputs.asks() + release.reads() >= limits.outsideRequests()) {
            String reason = name + " has too many requests waiting; try again later";
            out.add(new Action.Send(link, new Frame.Refused(ask.request(), reason)));
        } else {
            inputs.ask(link, ask);
        }
    }

    /** K7. */
    private void message(Link link, String key, Frame.Msg msg, List<Action> out) {
        Peer peer = past.peers.get(key);
        Conversation conversation = conversation(key);
        if (!conversation.links.containsKey(link)
                || peer == null
                || peer.birth == null
                || peer.openedTurn > state.finals.outside()) {
            close(link, key + " sent a message before both knew the pair (K11)", out);
            return;
        }
        long last = peer.consumed.number();
        if (msg.number() <= last) {
            duplicates++;
            if (msg.number() <= conversation.consumedFinal.number()) {
                conversation.ack(peer, link, out);
            }
        } else if (msg.number() > conversation.consumedFinal.number() + limits.window()) {
            close(link, key + " sent number " + msg.number() + " beyond its credit", out);
        } else if (answers(link, peer, msg.answers(), out)) {
            if (conversation.held.putIfAbsent(msg.number(), msg) != null) {
                duplicates++;
            }
            inputs.look(key);
        }
    }

    /** K5, K6. */
    private void acked(Link link, String key, Frame.Ack ack, List<Action> out) {
        Peer peer = past.peers.get(key);
        Conversation conversation = conversation(key);
        if (peer == null || peer.birth == null || !conversation.links.containsKey(link)) {
            return;
        }
        if (acknowledge(link, peer, ack.number(), out)) {
            conversation.credited(ack.number() + ack.credit());
            conversation.say(peer, state.finals.outside(), out);
        }
    }

    /**
     * An answer is an ack, too, where the turn that gave it consumed the message and is final. A
     * member's turn may be undone: it acks apart. Whether that may be; else the link is closed.
     */
    private boolean answers(Link link, Peer peer, long number, List<Action> out) {
        Conversation conversation = conversation(peer.key);
        if (!conversation.isMember()) {
            return acknowledge(link, peer, number, out);
        }
        long sent = conversation.sentNumber(peer, state.finals.outside());
        if (number > sent) {
            close(link, peer.key + " answered " + number + ", and " + sent + " were sent", out);
        }
        return number <= sent;
    }

    /** Whether that may be; else the link is closed. */
    private boolean acknowledge(Link link, Peer peer, long number, List<Action> out) {
        Conversation conversation = conversation(peer.key);
        long sent = conversation.sentNumber(peer, state.finals.outside());
        if (number > sent) {
            String reason = peer.key + " acked number " + number + ", and " + sent + " were sent";
            close(link, reason, out);
            if (!link.outside()) {
                halt(reason + ": this service is behind its own past (K14)", out);
            }
            return false;
        }
        if (number > peer.acked.number()) {
            Change.Acked change = new Change.Acked(peer.key, Count.of(number, conversation.met));
            recorder.acked(change);
        }
        return true;
    }

    /** An operator says that this birth never comes back: it hears so if it is there. */
    void declareLost(Peer peer, Birth birth, String reason, List<Action> out) {
        List<Link> there = List.copyOf(conversation(peer.key).links.keySet());
        endSilently(peer, birth, reason, out);
        release.after(past.turn, () -> sayGone(there, birth, reason));
    }

    private void sayGone(List<Link> there, Birth birth, String reason) {
        for (Link link : there) {
            if (links.containsKey(link)) {
                release.leaving().add(new Action.Send(link, new Frame.Gone(birth)));
                close(link, reason, release.leaving());
            }
        }
    }
}
