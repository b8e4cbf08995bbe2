package io.saucr.services.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.replay.ReplayedLanes.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Generated handlers in real threads, under schedules that a seed disturbs. */
@Timeout(120)
class ReplayedLanesTest {

    private static final int LANES = 4;
    private static final int CHANNELS = 6;
    private static final int REQUESTS = 12;

    private final List<byte[]> log = new ArrayList<>();

    /** A reply that a client has can not change. */
    private final Map<String, Reply> replies = new HashMap<>();

    private static String text(LaneMember member) {
        return member.lanes.content() + ((Shared) member.handler).content();
    }

    private void got(long channel, Reply reply) {
        Reply before = replies.putIfAbsent(channel + "#" + reply.number(), reply);
        if (before != null) {
            assertThat(reply.bytes()).isEqualTo(before.bytes());
            assertThat(reply.threw()).isEqualTo(before.threw());
        }
    }

    /**
     * Each channel asks one request after the other, until a number of segments is named.
     *
     * @return whether all is answered
     */
    private boolean serve(LaneMember primary, long[] done, long seed, int segments)
            throws Exception {
        int until = segments < 0 ? Integer.MAX_VALUE : log.size() + segments;
        Map<Integer, CompletableFuture<Reply>> asked = new HashMap<>();
        for (; ; ) {
            boolean rest = true;
            for (int channel = 0; channel < CHANNELS; channel++) {
                CompletableFuture<Reply> now = asked.get(channel);
                if (now != null && now.isDone()) {
                    got(channel, now.get());
                    done[channel]++;
                    asked.remove(channel);
                }
                if (!asked.containsKey(channel) && done[channel] < REQUESTS) {
                    long number = done[channel] + 1;
                    byte[] body = Shared.request(seed * 1000L + channel * 100L + number);
                    asked.put(channel, primary.lanes.ask(channel, number, body));
                }
                rest &= !asked.containsKey(channel);
            }
            if (rest) {
                return true;
            }
            if (!primary.cut(log)) {
                Thread.onSpinWait();
            }
            assertThat(primary.failures).isEmpty();
            if (log.size() >= until) {
                return false;
            }
        }
    }

    private static LaneMember member(String name, long seed) {
        return new LaneMember(name, LANES, Shared::new, seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void x6MembersAgreeUnderAnySchedule(long seed) throws Exception {
        try (LaneMember primary = member("primary", seed);
                LaneMember follower = member("follower", seed + 1000)) {
            primary.takeOver(log, ReplayedLanes.MOST_ATTEMPTS);
            long[] done = new long[CHANNELS];
            while (!serve(primary, done, seed, 5)) {
                follower.follow(log);
            }
            while (primary.cut(log)) {
                Thread.onSpinWait();
            }
            follower.follow(log);
            follower.lanes.awaitReplayed(log.size());
            assertThat(follower.failures).isEmpty();
            assertThat(text(follower)).isEqualTo(text(primary));
        }
    }

    /** Each primary is killed after a few segments, with requests half-run and locks held. */
    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18})
    void x9AnotherMemberContinuesInTheMiddleOfRequests(long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        List<LaneMember> all = new ArrayList<>();
        try (LaneMember follower = member("follower", seed)) {
            long[] done = new long[CHANNELS];
            LaneMember primary;
            do {
                primary = member("primary " + all.size(), random.nextLong());
                all.add(primary);
                primary.takeOver(log, 1000);
                int segments = all.size() > 8 ? -1 : 1 + random.nextInt(12);
                boolean over = serve(primary, done, seed, segments);
                if (!over) {
                    primary.kill();
                    assertThat(primary.failures).isEmpty();
                }
                follower.follow(log);
                if (over) {
                    break;
                }
            } while (true);
            while (primary.cut(log)) {
                Thread.onSpinWait();
            }
            follower.follow(log);
            follower.lanes.awaitReplayed(log.size());
            assertThat(follower.failures).isEmpty();
            assertThat(text(follower)).isEqualTo(text(primary));
        } finally {
            for (LaneMember each : all) {
                each.close();
            }
        }
    }

    @Test
    void x5AReplyWaitsForTheHead() throws Exception {
        try (LaneMember primary = member("primary", 1)) {
            primary.takeOver(log, 5);
            CompletableFuture<Reply> reply = primary.lanes.ask(1, 1, Shared.request(1));
            while (primary.lanes.cut().isPresent()) {
                // Cut, and not named.
            }
            assertThat(reply).isNotDone();
        }
    }

    @Test
    void whoIsNotPrimaryHandlesNothing() throws Exception {
        try (LaneMember member = member("member", 1)) {
            assertThatThrownBy(() -> member.lanes.ask(1, 1, Shared.request(1)).get())
                    .hasMessageContaining("not primary");
        }
    }
}
