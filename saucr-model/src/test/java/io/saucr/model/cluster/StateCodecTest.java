package io.saucr.model.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.model.cluster.Step.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class StateCodecTest {
    private static final Bounds BOUNDS = bounds(3);

    /**
     * With several servers that lost their disks, which of several sources that are equally far
     * each of them asks is not in the codec.
     */
    private static final Bounds NO_LOST_DISKS = bounds(0);

    /** A cluster goes on from its code exactly as it would have without. */
    @ParameterizedTest
    @CsvSource({
        "3,",
        "4,",
        "5,",
        "3,R2_REJOINED_IN_EVERY_SET",
        "3,R13_NO_CRITICAL_SECTION",
        "3,R17_MARKER_LEFT",
        "3,R22_ANSWERS_WITHOUT_NUMBER",
        "3,R25_ACK_BEFORE_WRITE"
    })
    void aDecodedClusterGoesOnAsTheOneThatWasEncoded(int servers, BrokenRule broken) {
        EnumSet<BrokenRule> rules =
                broken == null ? EnumSet.noneOf(BrokenRule.class) : EnumSet.of(broken);
        Bounds bounds = servers == 3 ? BOUNDS : NO_LOST_DISKS;
        ModelCluster cluster = new ModelCluster(servers, bounds, rules);
        ModelCluster copy = new ModelCluster(servers, bounds, rules);
        StateCodec codec = new StateCodec(servers);
        StateCodec other = new StateCodec(servers);
        byte[] bytes = new byte[StateCodec.MAX_BYTES];
        byte[] again = new byte[StateCodec.MAX_BYTES];
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        for (int seed = 0; seed < 40; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            cluster.reset();
            for (int i = 0; i < 150; i++) {
                int count = cluster.enabled(steps);
                if (count == 0) {
                    break;
                }
                int step = steps[random.nextInt(count)];
                if (isCrash(step) && random.nextInt(10) > 0) {
                    continue;
                }
                if (!cluster.apply(step)) {
                    break;
                }
                int length = codec.encode(cluster, bytes);
                other.decode(copy, bytes);
                assertThat(names(copy, steps, null)).isEqualTo(names(cluster, steps, codec));
                int lengthAgain = other.encode(copy, again);
                assertThat(Arrays.copyOf(again, lengthAgain))
                        .isEqualTo(Arrays.copyOf(bytes, length));
                ModelCluster swap = cluster;
                cluster = copy;
                copy = swap;
            }
        }
    }

    /** Nothing that a later step depends on is forgotten. */
    @ParameterizedTest
    @CsvSource({
        "3,",
        "5,",
        "3,R2_REJOINED_IN_EVERY_SET",
        "3,R4_DURABLE_ACK_COUNTS_TOWARDS_F",
        "3,R21_OLD_CONNECTION_COUNTS"
    })
    void theSameStepsLeadBothToTheSame(int servers, BrokenRule broken) {
        EnumSet<BrokenRule> rules =
                broken == null ? EnumSet.noneOf(BrokenRule.class) : EnumSet.of(broken);
        ModelCluster cluster = new ModelCluster(servers, BOUNDS, rules);
        ModelCluster copy = new ModelCluster(servers, BOUNDS, rules);
        StateCodec codec = new StateCodec(servers);
        byte[] bytes = new byte[StateCodec.MAX_BYTES];
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        int[] names = new int[servers];
        for (int seed = 0; seed < 60; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            cluster.reset();
            if (servers == 3 && seed % 3 > 0) {
                StartingPoint.FAST.steps(3).forEach(step -> cluster.apply(Step.parse(step)));
                assertThat(cluster.fastMode(0)).isTrue();
            }
            boolean sound = true;
            for (int i = 0; i < 160 && sound; i++) {
                if (i % 40 == 0) {
                    codec.encode(cluster, bytes);
                    for (int place = 0; place < servers; place++) {
                        names[place] = codec.serverAt(place);
                    }
                    codec.decode(copy, bytes);
                }
                int count = copy.enabled(steps);
                int step = steps[random.nextInt(Math.max(1, count))];
                boolean rare = isCrash(step) || Step.kind(step) == Kind.STEP_DOWN;
                if (count == 0 || (rare && random.nextInt(10) > 0)) {
                    continue;
                }
                sound = copy.apply(step);
                assertThat(cluster.apply(Step.renamed(step, names))).isEqualTo(sound);
                assertThat(nameless(cluster)).isEqualTo(nameless(copy));
            }
        }
    }

    /** Time has moved when a drain has ended in vain, and when a process has stood still. */
    @ParameterizedTest
    @MethodSource("timeHasMoved")
    void acksLeadBothToTheSameAfterTimeHasMoved(List<String> before, List<String> after) {
        ModelCluster cluster = new ModelCluster(3, BOUNDS);
        ModelCluster copy = new ModelCluster(3, BOUNDS);
        StateCodec codec = new StateCodec(3);
        byte[] bytes = new byte[StateCodec.MAX_BYTES];
        StartingPoint.ON_DISKS.steps(3).forEach(step -> apply(cluster, step));
        before.forEach(step -> apply(cluster, step));
        codec.encode(cluster, bytes);
        int[] places = new int[3];
        for (int place = 0; place < 3; place++) {
            places[codec.serverAt(place)] = place;
        }
        codec.decode(copy, bytes);
        for (String step : after) {
            apply(cluster, step);
            apply(copy, Step.toString(Step.renamed(Step.parse(step), places)));
            assertThat(nameless(copy)).as(step).isEqualTo(nameless(cluster));
        }
    }

    static Stream<Arguments> timeHasMoved() {
        List<String> acks = List.of("receive 1 from 2", "receive 1 from 3", "ack 1");
        return Stream.of(
                Arguments.of(
                        List.of(
                                "propose 1",
                                "append 1",
                                "append 2",
                                "append 3",
                                "ack 2",
                                "ack 3",
                                "drain 1",
                                "drain-ends 1"),
                        acks),
                Arguments.of(
                        List.of(
                                "confirm 1",
                                "pause 1",
                                "suspect 1",
                                "noop 1",
                                "append 1",
                                "append 2",
                                "append 3",
                                "ack 2",
                                "ack 3"),
                        acks));
    }

    /**
     * 4 was answered by 5, which is no member of its view and is ahead, and then by the member 2,
     * which alone would have been enough (R23), and is not ahead. So it copies from 5; 3 copies
     * from 2, which has gone on. Whoever reads this state feeds 4 both answers again.
     */
    @Test
    void answersThatDoNotCountAreComparedToo() {
        ModelCluster cluster = new ModelCluster(5, NO_LOST_DISKS);
        ModelCluster copy = new ModelCluster(5, NO_LOST_DISKS);
        StateCodec codec = new StateCodec(5);
        byte[] bytes = new byte[StateCodec.MAX_BYTES];
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        StartingPoint.SEALED.steps(5).forEach(step -> apply(cluster, step));
        List.of(
                        "propose 1",
                        "append 1",
                        "append 3",
                        "ack 3",
                        "append 4",
                        "ack 4",
                        "connect 5 to 1",
                        "sync 5",
                        "receive 1 from 5",
                        "uptodate 5",
                        "crash 3",
                        "crash 4",
                        "restart 3",
                        "restart 4",
                        "answer 5 to 4",
                        "answer 2 to 4",
                        "learn 4 from 5",
                        "learn 4 from 2",
                        "append 2",
                        "answer 2 to 3",
                        "learn 3 from 2")
                .forEach(step -> apply(cluster, step));
        for (String step :
                List.of(
                        "ack 2",
                        "ack 5",
                        "receive 1 from 5",
                        "source 4",
                        "history 4",
                        "source 4",
                        "history 4",
                        "finish 4")) {
            codec.encode(cluster, bytes);
            new StateCodec(5).decode(copy, bytes);
            assertThat(names(copy, steps, null))
                    .as("before " + step)
                    .isEqualTo(names(cluster, steps, codec));
            apply(cluster, step);
        }
    }

    private static void apply(ModelCluster cluster, String step) {
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        int count = cluster.enabled(steps);
        assertThat(Arrays.stream(steps, 0, count).mapToObj(Step::toString)).contains(step);
        assertThat(cluster.apply(Step.parse(step))).as(step).isTrue();
    }

    private static Bounds bounds(int lostDisks) {
        return new Bounds(12, 8, 6, 6, 3, 6, 6, 6, 6, 4, lostDisks, 3, 4, 4, 3, true, true);
    }

    private static boolean isCrash(int step) {
        return switch (Step.kind(step)) {
            case CRASH, KILL, KILL_JOINING, LOSE_DISK -> true;
            default -> false;
        };
    }

    private static List<String> nameless(ModelCluster cluster) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < cluster.servers(); i++) {
            lines.add(
                    ClusterText.describe(cluster, i)
                            .replaceFirst("^\\d+ ", "")
                            .replaceFirst("^following (\\d+|nobody)", "following"));
        }
        Collections.sort(lines);
        return lines;
    }

    private static Set<String> names(ModelCluster cluster, int[] steps, StateCodec codec) {
        int[] places = new int[cluster.servers()];
        for (int i = 0; i < places.length; i++) {
            places[codec == null ? i : codec.serverAt(i)] = i;
        }
        Set<String> names = new TreeSet<>();
        int count = cluster.enabled(steps);
        for (int i = 0; i < count; i++) {
            names.add(Step.toString(Step.renamed(steps[i], places)));
        }
        return names;
    }
}
