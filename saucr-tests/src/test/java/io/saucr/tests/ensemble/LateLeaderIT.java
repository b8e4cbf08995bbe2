package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import java.time.LocalTime;
import java.util.List;
import net.bytebuddy.implementation.MethodCall;
import net.bytebuddy.implementation.SuperMethodCall;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/**
 * A reconfiguration removes the leader, and names the next one without an election. That one is
 * late, as in a garbage collection.
 */
class LateLeaderIT {
    private static final int VOTERS = 3;
    private static final int ATTEMPTS = 3;

    /** Longer than five attempts to reach the leader, shorter than a follower goes on with them. */
    private static final long LATE_MILLIS = 400;

    @Test
    void aFollowerGoesOnUntilTheLeaderThatNobodyElectedIsReady() throws Exception {
        Distribution late =
                BuiltDistribution.changed(
                        "late-leader",
                        "org.apache.zookeeper.server.quorum.SaucrQuorumPeer",
                        "makeLeader",
                        MethodCall.invoke(Thread.class.getMethod("sleep", long.class))
                                .with(LATE_MILLIS)
                                .andThen(SuperMethodCall.INSTANCE));
        // On a busy machine the leader may not be ready before the follower looks for another one.
        boolean shown = false;
        for (int attempt = 1; attempt <= ATTEMPTS && !shown; attempt++) {
            shown = goesOn("late-leader-" + attempt, late);
        }
        assertThat(shown).as("the suggested server leads, and nobody was elected").isTrue();
    }

    private static boolean goesOn(String name, Distribution late) throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe(name, VOTERS)
                                .set("reconfigEnabled", "true")
                                .set("standaloneEnabled", "false")
                                .set("skipACL", "yes")
                                .distribution(1, late)
                                .distribution(2, late)
                                .distribution(3, late))) {
            int removed = ensemble.awaitFast();
            List<Integer> followers = ensemble.followers();
            try (AckedWrites writes =
                    new AckedWrites(
                            ensemble.connect(followers.toArray(Integer[]::new)), "/late", 8)) {
                writes.awaitMore(100);
                LocalTime before = SaucrEnsemble.now();
                try (Client admin = ensemble.connectFor(30_000, removed)) {
                    admin.reconfigure(null, Integer.toString(removed), null, -1, new Stat());
                }
                int next = suggested(ensemble, followers, before);
                int other = followers.get(0) == next ? followers.get(1) : followers.get(0);
                SaucrEnsemble.await(
                        "a follower that goes on",
                        () ->
                                !ensemble.log(
                                                other,
                                                before,
                                                "Server " + next + " does not lead yet")
                                        .isEmpty());
                writes.awaitMore(100);
                writes.stop();
                for (int id : followers) {
                    try (Client reader = ensemble.connect(id)) {
                        writes.assertAllIn(reader);
                    }
                }
                return ensemble.role(next).equals("leader")
                        && ensemble.log(other, before, "New election").isEmpty();
            }
        }
    }

    /** Whom the servers name that heard of the change; they agree. */
    private static int suggested(SaucrEnsemble ensemble, List<Integer> servers, LocalTime from) {
        String words = "Suggested leader: ";
        int[] found = new int[1];
        SaucrEnsemble.await(
                "a suggested leader",
                () -> {
                    for (int id : servers) {
                        for (SaucrEnsemble.LogLine line : ensemble.log(id, from, words)) {
                            found[0] = Integer.parseInt(line.text().split(words)[1].strip());
                        }
                    }
                    return found[0] != 0;
                });
        return found[0];
    }
}
