package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** K13: how much of what waits in files is asked for at once. */
class OutboxesTest {

    private static final int PEERS = 40;
    private static final int MESSAGES = 100;
    private static final long BYTES = 64 << 10;

    private final Outboxes outboxes = new Outboxes(Limits.standard().outbox(1_024, BYTES));
    private final List<Peer> peers = new ArrayList<>();
    private final Map<Long, List<Change.Unacked>> files = new HashMap<>();

    private static Change.Unacked message() {
        return new Change.Unacked(1, 1, 0, Optional.empty(), new Body("some", new byte[1 << 10]));
    }

    /** Each has some in the heap, as long as there is room, and the rest in a file. */
    private void fill() {
        for (int index = 0; index < PEERS; index++) {
            Peer peer = new Peer("peer" + index, false, outboxes);
            peers.add(peer);
            for (int count = 0; count < MESSAGES; count++) {
                peer.send(new Peer.Waiting(1, message()));
            }
        }
        for (Stored each : outboxes.stored()) {
            files.computeIfAbsent(each.stream(), it -> new ArrayList<>()).add(each.message());
        }
    }

    private List<Action.Fetch> fetch() {
        peers.forEach(Peer::mayFetch);
        List<Action> out = new ArrayList<>();
        outboxes.fetch(false, out);
        return out.stream().map(Action.Fetch.class::cast).toList();
    }

    private void ackAllInHeap() {
        for (Peer peer : peers) {
            peer.ack(new Count(peer.sent - peer.inFiles, 1, 1));
        }
    }

    /** All come back at once, as after a network that was cut in two. */
    @Test
    void manyPeersTogetherAskForNoMoreThanTheirBound() {
        fill();
        ackAllInHeap();
        int rounds = 0;
        long most = 0;
        while (peers.stream().anyMatch(it -> it.inFiles > 0)) {
            assertThat(++rounds).isLessThan(1_000);
            List<Action.Fetch> asked = fetch();
            long bytes = asked.stream().mapToLong(Action.Fetch::bytes).sum();
            most = Math.max(most, bytes);
            asked.forEach(this::give);
            ackAllInHeap();
        }
        assertThat(most).isBetween(4 * BYTES, 5 * BYTES + PEERS * BYTES / 8);
    }

    private void give(Action.Fetch fetch) {
        Peer peer =
                peers.stream().filter(it -> it.stream == fetch.stream()).findFirst().orElseThrow();
        List<Change.Unacked> all = files.get(fetch.stream());
        int from = (int) (all.size() - (peer.sent - fetch.after()));
        long left = fetch.bytes();
        List<Change.Unacked> given = new ArrayList<>();
        for (int index = from; index < from + fetch.most(); index++) {
            left -= all.get(index).body().bytes().length;
            if (left < 0 && !given.isEmpty()) {
                break;
            }
            given.add(all.get(index));
        }
        assertThat(outboxes.fetched(fetch.stream(), fetch.after(), given, 1)).contains(peer);
    }
}
