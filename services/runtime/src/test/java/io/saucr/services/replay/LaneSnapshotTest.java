package io.saucr.services.replay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.Resource;
import io.saucr.services.replay.ReplayedLanes.Reply;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a member keeps at a quiet cut, and how another one begins with it. */
@Timeout(120)
class LaneSnapshotTest {

    private static final long FUTURE = 5_000_000_000_000L;

    /** A value with a set. */
    record Tags(Set<String> all) {}

    private final List<byte[]> log = new ArrayList<>();

    private static byte[] bytes(LaneSnapshot snapshot) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        snapshot.writeTo(out);
        return out.toByteArray();
    }

    private static LaneSnapshot read(byte[] bytes) throws IOException {
        return LaneSnapshot.read(new ByteArrayInputStream(bytes));
    }

    /** Stores the words of a request as a set, and returns them as a member reads them. */
    private static LaneHandler tags(LaneState state) {
        Lock lock = state.lock("lock");
        LaneMap<String, Tags> tags = state.map("tags", String.class, Tags.class, 4);
        LaneMap<String, Long> counts = state.map("counts", String.class, Long.class, 4);
        return (body, turn) -> {
            String text = new String(body, UTF_8);
            if (text.equals("time")) {
                return Long.toString(turn.nowMillis()).getBytes(UTF_8);
            }
            lock.lock();
            try {
                tags.put("tags", new Tags(new LinkedHashSet<>(Arrays.asList(text.split(" ")))));
                long count = counts.merge("count", 1L, Long::sum);
                return (count + ":" + String.join(" ", tags.get("tags").all())).getBytes(UTF_8);
            } finally {
                lock.unlock();
            }
        };
    }

    private static LaneMember member(String name) {
        return new LaneMember(name, 2, LaneSnapshotTest::tags, 1);
    }

    private static LaneMember member(String name, LaneSnapshot from, int segments) {
        return new LaneMember(name, 2, LaneSnapshotTest::tags, 1, Optional.of(from), segments);
    }

    private String ask(LaneMember primary, long number, String text) throws Exception {
        return ask(primary, 1, number, text);
    }

    private String ask(LaneMember primary, long sender, long number, String text) throws Exception {
        CompletableFuture<Reply> reply = primary.lanes.ask(sender, number, text.getBytes(UTF_8));
        while (!reply.isDone()) {
            primary.cut(log);
        }
        return new String(reply.get().bytes(), UTF_8);
    }

    private LaneSnapshot quietCut(LaneMember primary) {
        int before = primary.snapshots.size();
        primary.lanes.quietSoon();
        while (primary.snapshots.size() == before) {
            primary.cut(log);
        }
        return primary.snapshots.get(before);
    }

    @Test
    void x19ASetIsInTheOrderOfItsBytesAndSoIsASnapshot() throws Exception {
        List<byte[]> snapshots = new ArrayList<>();
        for (String words : List.of("c a bb", "bb c a")) {
            log.clear();
            try (LaneMember primary = member("primary")) {
                primary.takeOver(log, 5);
                assertThat(ask(primary, 1, words)).isEqualTo("1:a c bb");
                LaneSnapshot snapshot = quietCut(primary);
                snapshots.add(
                        bytes(
                                new LaneSnapshot(
                                        snapshot.newest(),
                                        0,
                                        snapshot.replies(),
                                        snapshot.maps())));
            }
        }
        assertThat(snapshots.get(0)).isEqualTo(snapshots.get(1));
    }

    @Test
    void x19ResourcesAreNumberedAsTheyAreDeclared() {
        LaneState state = new LaneState(2);
        Lock unused = state.lock("a");
        LaneMap<String, Long> map = state.map("b", String.class, Long.class, 3);
        assertThat(map).isNotNull();
        assertThat(state.readWriteLock("c")).isNotNull();
        assertThat(state.resources().stream().map(Resource::number)).containsExactly(0, 1, 2, 3, 4);
        assertThat(unused).isNotNull();
    }

    @Test
    void x13AMemberThatBeginsWithASnapshotContinues() throws Exception {
        try (LaneMember primary = member("primary");
                LaneMember follower = member("follower")) {
            primary.takeOver(log, 5);
            assertThat(ask(primary, 1, "x")).isEqualTo("1:x");
            assertThat(ask(primary, 2, 1, "w")).isEqualTo("2:w");
            LaneSnapshot snapshot = quietCut(primary);
            int segments = log.size();
            assertThat(ask(primary, 2, "y")).isEqualTo("3:y");
            follower.follow(log);
            follower.lanes.awaitReplayed(log.size());
            assertThat(follower.snapshots).hasSize(1);
            assertThat(bytes(follower.snapshots.get(0))).isEqualTo(bytes(snapshot));
            try (LaneMember late = member("late", read(bytes(snapshot)), segments)) {
                late.follow(log);
                late.lanes.awaitReplayed(log.size() - segments);
                assertThat(late.failures).isEmpty();
                assertThat(late.lanes.content()).isEqualTo(primary.lanes.content());
                primary.kill();
                late.takeOver(log, 5);
                assertThat(ask(late, 2, "y")).as("X10").isEqualTo("3:y");
                assertThat(ask(late, 2, 1, "w")).as("from the snapshot").isEqualTo("2:w");
                assertThat(ask(late, 3, "z")).isEqualTo("4:z");
                follower.follow(log);
                follower.lanes.awaitReplayed(log.size());
                assertThat(follower.lanes.content()).isEqualTo(late.lanes.content());
            }
        }
    }

    @Test
    void x13RequestsAreHeldBackUntilTheQuietCut() throws Exception {
        try (LaneMember primary = member("primary")) {
            primary.takeOver(log, 5);
            assertThat(ask(primary, 1, "x")).isEqualTo("1:x");
            CompletableFuture<Reply> open = primary.lanes.ask(1, 2, "y".getBytes(UTF_8));
            primary.lanes.quietSoon();
            CompletableFuture<Reply> held = primary.lanes.ask(2, 1, "z".getBytes(UTF_8));
            while (primary.snapshots.isEmpty()) {
                assertThat(held).isNotDone();
                primary.cut(log);
            }
            // Requests begin again behind it, of which this is the first.
            assertThat(primary.snapshots.get(0).replies()).containsOnlyKeys(1L);
            assertThat(open).isDone();
            while (!held.isDone()) {
                primary.cut(log);
            }
            assertThat(new String(held.get().bytes(), UTF_8)).isEqualTo("3:z");
        }
    }

    @Test
    void timeDoesNotGoBackBehindASnapshotOrATakeover() throws Exception {
        LaneSnapshot later = new LaneSnapshot(0, FUTURE, Map.of(), Map.of());
        try (LaneMember primary = member("primary", later, 0);
                LaneMember follower = member("follower")) {
            primary.takeOver(log, 5);
            assertThat(Long.parseLong(ask(primary, 1, "time"))).isGreaterThanOrEqualTo(FUTURE);
            primary.kill();
            follower.takeOver(log, 5);
            assertThat(Long.parseLong(ask(follower, 2, "time"))).isGreaterThanOrEqualTo(FUTURE);
        }
    }

    @Test
    void aSnapshotThatIsDamagedIsRefusedByName() throws Exception {
        byte[] whole =
                bytes(
                        new LaneSnapshot(
                                7,
                                8,
                                Map.of(3L, new Reply(2, true, new byte[] {1})),
                                Map.of("m", Map.of(ByteBuffer.wrap(new byte[] {1}), new byte[2]))));
        assertThat(bytes(read(whole))).isEqualTo(whole);
        for (int length = 0; length < whole.length; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> read(part))
                    .isInstanceOf(IOException.class)
                    .hasMessage("a snapshot whose end is missing");
        }
        assertThatThrownBy(() -> read(Arrays.copyOf(whole, whole.length + 1)))
                .hasMessage("a snapshot with more bytes behind its end");
        byte[] format = whole.clone();
        format[0] = 2;
        assertThatThrownBy(() -> read(format))
                .hasMessage("a snapshot of format 2, and this release reads 1");
        byte[] count = whole.clone();
        count[17] = -1;
        assertThatThrownBy(() -> read(count)).hasMessageContaining(" replies");
    }

    @Test
    void aSnapshotOfOtherMapsIsRefusedByName() {
        byte[] key = {0x61, 0x61};
        LaneSnapshot more =
                new LaneSnapshot(
                        0, 0, Map.of(), Map.of("m", Map.of(ByteBuffer.wrap(key), new byte[1])));
        assertThatThrownBy(() -> member("member", more, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the snapshot has map m, and this service declares");
        LaneSnapshot other =
                new LaneSnapshot(
                        0, 0, Map.of(), Map.of("counts", Map.of(ByteBuffer.wrap(key), key)));
        assertThatThrownBy(() -> member("member", other, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("an entry of map counts that can not be read");
    }
}
