package io.saucr.services.core;

import io.saucr.services.core.Change.Unacked;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The files of a service's outboxes, as a shell keeps them (K13). */
final class SimulatedOutbox {

    private final Map<Long, TreeMap<Long, Unacked>> streams = new HashMap<>();
    private final Map<Long, Long> released = new HashMap<>();

    SimulatedOutbox copy() {
        SimulatedOutbox copy = new SimulatedOutbox();
        streams.forEach((stream, all) -> copy.streams.put(stream, new TreeMap<>(all)));
        copy.released.putAll(released);
        return copy;
    }

    void store(List<Stored> all) {
        for (Stored each : all) {
            TreeMap<Long, Unacked> stream =
                    streams.computeIfAbsent(each.stream(), it -> new TreeMap<>());
            if (!stream.isEmpty() && stream.lastKey() >= each.count()) {
                throw new IllegalStateException(each + " is not behind " + stream.lastKey());
            }
            stream.put(each.count(), each.message());
        }
    }

    void release(long stream, long upTo) {
        released.merge(stream, upTo, Math::max);
        TreeMap<Long, Unacked> all = streams.get(stream);
        if (all != null) {
            all.headMap(upTo, true).clear();
        }
        if (upTo == Long.MAX_VALUE) {
            streams.remove(stream);
        }
    }

    /** Empty where it was released meanwhile; nothing where it should be there and is not. */
    Optional<List<Unacked>> read(Action.Fetch fetch) {
        if (released.getOrDefault(fetch.stream(), 0L) > fetch.after()) {
            return Optional.of(List.of());
        }
        List<Unacked> found = new ArrayList<>();
        long next = fetch.after() + 1;
        long bytes = fetch.bytes();
        for (Map.Entry<Long, Unacked> each :
                streams.getOrDefault(fetch.stream(), new TreeMap<>())
                        .tailMap(next, true)
                        .entrySet()) {
            bytes -= Outboxes.bytes(each.getValue());
            if (each.getKey() != next
                    || found.size() == fetch.most()
                    || (bytes < 0 && !found.isEmpty())) {
                break;
            }
            found.add(each.getValue());
            next++;
        }
        return found.isEmpty() ? Optional.empty() : Optional.of(found);
    }

    boolean isEmpty() {
        return streams.values().stream().allMatch(Map::isEmpty);
    }

    /** What a base of that turn names, and up to which count. */
    Map<Long, Long> names(Delta base) {
        Map<Long, Long> named = new HashMap<>();
        for (Change change : base.changes()) {
            if (change instanceof Change.InFiles it) {
                named.put(it.stream(), streams.get(it.stream()).lastKey());
            } else if (change instanceof Change.ReturningIs it) {
                named.put(it.stream(), streams.get(it.stream()).lastKey());
            }
        }
        return named;
    }

    /** A start: only what a base names was forced. */
    void cutTo(Map<Long, Long> named) {
        streams.keySet().retainAll(named.keySet());
        streams.forEach((stream, all) -> all.tailMap(named.get(stream), false).clear());
        released.clear();
    }

    /** The same as if no message lay in a file. */
    List<Change> expand(List<Change> changes) {
        List<Change> all = new ArrayList<>();
        for (Change change : changes) {
            if (change instanceof Change.InFiles it) {
                Change.PeerIs peer = (Change.PeerIs) all.remove(all.size() - 1);
                List<Unacked> messages = new ArrayList<>(peer.unacked());
                range(it.stream(), peer.sent() - it.messages(), peer.sent(), messages);
                all.add(with(peer, peer.heardMillis(), messages));
            } else if (change instanceof Change.ReturningIs it) {
                List<Unacked> messages = new ArrayList<>();
                range(it.stream(), it.from(), it.to(), messages);
                for (int index = 0; index < messages.size(); index++) {
                    Body body = messages.get(index).body();
                    long count = it.from() + 1 + index;
                    all.add(
                            new Change.ReturnIs(
                                    it.id() + index,
                                    new Input.Returned(
                                            it.service(), count, it.perhaps(), it.reason(), body)));
                }
            } else {
                all.add(change);
            }
        }
        return all;
    }

    private void range(long stream, long after, long to, List<Unacked> into) {
        for (long count = after + 1; count <= to; count++) {
            into.add(streams.get(stream).get(count));
        }
    }

    static Change.PeerIs with(Change.PeerIs it, long heardMillis, List<Unacked> unacked) {
        return new Change.PeerIs(
                it.peer(),
                it.outside(),
                it.birth(),
                it.known(),
                it.seen(),
                it.consumed(),
                it.acked(),
                it.numbersAfter(),
                it.sent(),
                heardMillis,
                it.gone(),
                it.returned(),
                unacked);
    }
}
