package io.saucr.services.core;

import io.saucr.services.core.Change.Unacked;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which messages that were sent and not acked lie in the heap, and which in files (K13). Of each
 * peer's outbox a beginning lies in the heap; what is sent while that is full goes to a file, all
 * that follows goes behind it, and comes back in its order as room is there. A file is a stream of
 * messages to one peer, with rising counts; the shell keeps it, and is told what nobody needs any
 * more. Nothing of where a message lies is recorded with a turn: a start decides it again. Turn
 * thread.
 */
final class Outboxes {

    /** More than the messages of one peer may take, as many have some; a bound for all of them. */
    private static final int PEERS_IN_HEAP = 4;

    /** About what a message takes in addition to its bytes. */
    private static final int MESSAGE_BYTES = 200;

    private final int messages;
    private final long bytes;

    /** Streams with messages that a start might need. */
    private final TreeMap<Long, Peer> owners = new TreeMap<>();

    /** What comes back from peers that are lost, in its order (K15). */
    private final Deque<Drain> drains = new ArrayDeque<>();

    /** Peers whose beginning has room and whose rest is in a file. */
    private final Set<Peer> hungry = new LinkedHashSet<>();

    /** Streams of which something is needed no more once what is recorded next is final. */
    private final TreeMap<Long, Long> over = new TreeMap<>();

    private final List<Stored> stored = new ArrayList<>();
    private long bytesInHeap;

    /** Of what peers asked for and is not there yet, at most. */
    private long bytesAsked;

    private long newestStream;

    /** Messages of a stream that come back, as long as one of them was not taken. */
    private static final class Drain {
        final long stream;
        final long lastId;
        final Deque<Change.ReturningIs> rest = new ArrayDeque<>();

        /** Ids and counts of what was in the file when the pair ended. */
        final List<Change.ReturningIs> all;

        boolean asked;

        Drain(long stream, long lastId, List<Change.ReturningIs> all) {
            this.stream = stream;
            this.lastId = lastId;
            this.all = List.copyOf(all);
            rest.addAll(all);
        }
    }

    Outboxes(Limits limits) {
        messages = limits.outboxMessages();
        bytes = limits.outboxBytes();
    }

    static long bytes(Unacked message) {
        return (long) MESSAGE_BYTES + message.body().bytes().length;
    }

    /** Whether a message that is sent to this peer now may stay in the heap. */
    boolean hasRoom(Peer peer, Unacked message) {
        return peer.inFiles == 0
                && peer.unacked.size() < messages
                && (peer.unacked.isEmpty() || peer.heapBytes + bytes(message) <= bytes)
                && bytesInHeap + bytes(message) <= PEERS_IN_HEAP * bytes;
    }

    void tookHeap(long taken) {
        bytesInHeap += taken;
    }

    /** A message goes to the file of its peer, behind all that are there. */
    void store(Peer peer, long count, Unacked message) {
        if (peer.stream == 0) {
            peer.stream = ++newestStream;
            owners.put(peer.stream, peer);
        }
        stored.add(new Stored(peer.stream, peer.key, count, message));
    }

    /** A base says that a stream holds messages of this peer. */
    void holds(Peer peer, long stream) {
        peer.stream = stream;
        owners.put(stream, peer);
        newestStream = Math.max(newestStream, stream);
    }

    /** Messages of this peer were acked. */
    void acked(Peer peer) {
        if (peer.stream == 0) {
            return;
        }
        if (peer.floor() >= peer.lastInFile) {
            // The one that is stored next begins another: nothing of this one is needed.
            let(peer);
        } else {
            over.merge(peer.stream, peer.floor(), Math::max);
        }
        mayFetch(peer);
    }

    /** All of the peer's stream is over. */
    void let(Peer peer) {
        if (peer.stream != 0) {
            over.put(peer.stream, Long.MAX_VALUE);
            leave(peer);
        }
        hungry.remove(peer);
    }

    private void leave(Peer peer) {
        owners.remove(peer.stream);
        peer.stream = 0;
        // What was asked for is of no use to it any more.
        ask(peer, 0);
    }

    private void ask(Peer peer, long most) {
        bytesAsked += most - peer.asked;
        peer.asked = most;
    }

    /**
     * The pair is over, and what is in the file comes back, one by one (K15). The file stays until
     * all was taken, also what was in the heap: a start may find that in the file again.
     *
     * @param before the id of the last that came back before the pair was over
     * @param lastId the last that was in the heap came back with this id
     * @param perhaps whether it may have been consumed
     * @return the last id now
     */
    long drain(Peer peer, long before, long lastId, boolean perhaps, String reason) {
        if (peer.stream == 0) {
            return lastId;
        }
        long id = lastId + 1;
        List<Change.ReturningIs> pieces = new ArrayList<>();
        long from = peer.sent - peer.inFiles;
        // Nobody hears that a refusal was not consumed.
        for (long end : ends(peer.refusals, peer.sent + 1)) {
            if (end - 1 > from) {
                pieces.add(
                        new Change.ReturningIs(
                                peer.stream, id, peer.key, from, end - 1, perhaps, reason));
                id += end - 1 - from;
            }
            from = end;
        }
        long stream = peer.stream;
        if (id == before + 1) {
            let(peer);
            return lastId;
        }
        leave(peer);
        hungry.remove(peer);
        drains.add(new Drain(stream, id - 1, pieces));
        return id - 1;
    }

    private static List<Long> ends(Set<Long> refusals, long last) {
        List<Long> ends = new ArrayList<>(refusals);
        ends.add(last);
        return ends;
    }

    /** A base says that messages of a stream come back. */
    void returning(Change.ReturningIs piece) {
        newestStream = Math.max(newestStream, piece.stream());
        List<Change.ReturningIs> pieces = new ArrayList<>();
        if (!drains.isEmpty() && drains.getLast().stream == piece.stream()) {
            pieces.addAll(drains.removeLast().all);
        }
        pieces.add(piece);
        drains.add(new Drain(piece.stream(), piece.lastId(), pieces));
    }

    /** What came back was taken by a turn, as was all that came back before. */
    void taken(long id) {
        for (Iterator<Drain> each = drains.iterator(); each.hasNext(); ) {
            Drain drain = each.next();
            if (id >= drain.lastId) {
                over.put(drain.stream, Long.MAX_VALUE);
                each.remove();
                continue;
            }
            while (!drain.rest.isEmpty() && drain.rest.element().id() <= id) {
                Change.ReturningIs first = drain.rest.remove();
                if (first.lastId() > id) {
                    drain.rest.addFirst(first.behind(id));
                }
            }
            drain.all.stream()
                    .filter(it -> it.id() <= id && it.lastId() >= id)
                    .forEach(it -> over.merge(drain.stream, it.countOf(id), Math::max));
            return;
        }
    }

    /** The id of the first that comes back and still is in a file. */
    long firstReturning() {
        for (Drain drain : drains) {
            if (!drain.rest.isEmpty()) {
                return drain.rest.element().id();
            }
        }
        return Long.MAX_VALUE;
    }

    List<Change.ReturningIs> returning() {
        return drains.stream().flatMap(it -> it.rest.stream()).toList();
    }

    /** Whether something is needed no more once what was heard is recorded. */
    boolean anyOver() {
        return !over.isEmpty();
    }

    /**
     * A start begins: what is for those who are not there stays in files.
     *
     * @param self the service as a peer of its own
     */
    void begin(Optional<Peer> self) {
        hungry.clear();
        self.ifPresent(this::mayFetch);
    }

    /** There is, or soon will be, room for what this peer has in a file. */
    void mayFetch(Peer peer) {
        if (peer.inFiles > 0) {
            hungry.add(peer);
        }
    }

    /**
     * Asks for what has room now.
     *
     * @param back whether what comes back has room, too
     */
    void fetch(boolean back, List<Action> out) {
        for (Peer peer : hungry) {
            // Others, which are away, must not keep one from continuing that is there.
            long most = bytesInHeap + bytesAsked < PEERS_IN_HEAP * bytes ? bytes : bytes / 8;
            if (peer.inFiles > 0
                    && peer.asked == 0
                    && (peer.unacked.isEmpty()
                            || (peer.unacked.size() <= messages / 2
                                    && peer.heapBytes <= most / 2))) {
                ask(peer, most - peer.heapBytes);
                out.add(
                        new Action.Fetch(
                                peer.stream,
                                peer.sent - peer.inFiles,
                                (int) Math.min(peer.inFiles, messages - peer.unacked.size()),
                                peer.asked));
            }
        }
        hungry.clear();
        for (Drain drain : drains) {
            if (!drain.rest.isEmpty()) {
                if (back && !drain.asked) {
                    drain.asked = true;
                    Change.ReturningIs first = drain.rest.element();
                    out.add(
                            new Action.Fetch(
                                    drain.stream,
                                    first.from(),
                                    (int) Math.min(first.to() - first.from(), messages),
                                    bytes));
                }
                return;
            }
        }
    }

    /**
     * What was asked for is there.
     *
     * @return the peer to whose outbox it belongs, where it does
     */
    Optional<Peer> fetched(long stream, long after, List<Unacked> all, long turn) {
        Peer peer = owners.get(stream);
        if (peer == null) {
            return Optional.empty();
        }
        ask(peer, 0);
        // Acks may have come meanwhile for more than lies in the heap.
        long skipped = peer.sent - peer.inFiles - after;
        for (long index = Math.max(0, skipped); skipped >= 0 && index < all.size(); index++) {
            peer.fetched(all.get((int) index), turn);
        }
        mayFetch(peer);
        return Optional.of(peer);
    }

    /** What came back with a stream, with ids; empty where it is not what comes next. */
    List<Change.ReturnIs> back(long stream, long after, List<Unacked> all) {
        List<Change.ReturnIs> back = new ArrayList<>();
        for (Drain drain : drains) {
            if (drain.stream != stream) {
                continue;
            }
            drain.asked = false;
            Change.ReturningIs first = drain.rest.peek();
            if (first == null || first.from() != after) {
                break;
            }
            drain.rest.remove();
            int most = (int) Math.min(all.size(), first.to() - first.from());
            for (int index = 0; index < most; index++) {
                long id = first.id() + index;
                back.add(
                        new Change.ReturnIs(
                                id,
                                new Input.Returned(
                                        first.service(),
                                        first.countOf(id),
                                        first.perhaps(),
                                        first.reason(),
                                        all.get(index).body())));
            }
            if (first.id() + most <= first.lastId()) {
                drain.rest.addFirst(first.behind(first.id() + most - 1));
            }
            break;
        }
        return back;
    }

    /** What is needed no more once what was recorded is final. */
    List<Action.Release> over() {
        if (over.isEmpty()) {
            return List.of();
        }
        List<Action.Release> all = new ArrayList<>();
        over.forEach((stream, count) -> all.add(new Action.Release(stream, count)));
        over.clear();
        return all;
    }

    List<Stored> stored() {
        if (stored.isEmpty()) {
            return List.of();
        }
        List<Stored> all = List.copyOf(stored);
        stored.clear();
        return all;
    }
}
