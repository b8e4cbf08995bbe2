package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting.Disk;
import java.time.LocalTime;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.retry.RetryNTimes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Curator's recipes keep their promises while servers lose power, die and return, and the ensemble
 * goes from fast mode to slow and back. All of them are in use all the time, on one ensemble.
 * Sessions outlast the faults, so that no recipe can blame the end of a session; only the leader's
 * session ends, because the test ends it.
 */
@NeedsCompiler
class CuratorRecipesIT {
    private static final int VOTERS = 3;

    @Tag("long")
    @Test
    void recipesKeepTheirPromisesWhileTheLeaderDiesAndReturnsAndTheModeChanges() throws Exception {
        keepTheirPromises("curator-recipes", false);
    }

    @Tag("long")
    @Test
    void recipesKeepTheirPromisesWhileAFollowerAndTheLeaderDieAndReturn() throws Exception {
        keepTheirPromises("curator-recipes-twice", true);
    }

    private static void keepTheirPromises(String name, boolean ofAFollowerToo) throws Exception {
        try (SaucrEnsemble ensemble =
                        SaucrEnsemble.start(
                                SaucrEnsemble.describeUnforced(name, VOTERS)
                                        .set(
                                                "maxSessionTimeout",
                                                Integer.toString(CuratorClients.SESSION_MILLIS))
                                        .disk(Disk.SHIM_WITH_JOURNAL));
                CuratorClients clients = new CuratorClients(ensemble.connectString())) {
            ensemble.awaitFast();
            try (CuratorMutex mutex = new CuratorMutex(clients);
                    CuratorSemaphore semaphore = new CuratorSemaphore(clients);
                    CuratorReadWriteLock readWrite = new CuratorReadWriteLock(clients);
                    CuratorLeaderLatch latch = new CuratorLeaderLatch(clients);
                    CuratorCaches caches = new CuratorCaches(clients)) {
                List<CuratorRecipe> recipes = List.of(mutex, semaphore, readWrite, latch, caches);
                awaitProgress(recipes);
                if (ofAFollowerToo) {
                    fault(ensemble, clients, recipes, "a follower", ensemble.followers().get(0));
                }
                latch.endTheLeadersSession();
                fault(ensemble, clients, recipes, "the leader", ensemble.leader());
                awaitProgress(recipes);
                for (CuratorRecipe recipe : recipes) {
                    recipe.stop();
                }
                assertThat(clients.sessionsLost()).as("sessions lost").isEqualTo(1);
                System.out.println(
                        "Curator's recipes: "
                                + recipes.stream()
                                        .map(CuratorRecipe::summary)
                                        .collect(Collectors.joining(", ")));
            }
            anAtomicCounterCounts(clients.connectOne());
        }
    }

    private static void awaitProgress(List<CuratorRecipe> recipes) throws Exception {
        for (CuratorRecipe recipe : recipes) {
            recipe.awaitProgress();
        }
    }

    private static void anAtomicCounterCounts(CuratorFramework client) throws Exception {
        DistributedAtomicLong counter =
                new DistributedAtomicLong(client, "/atomic", new RetryNTimes(10, 10));
        for (int i = 0; i < 20; i++) {
            assertThat(counter.increment().succeeded()).isTrue();
        }
        assertThat(counter.get().postValue()).isEqualTo(20);
    }

    /**
     * One server loses power in fast mode; the others go on in slow mode; it returns, recovers, and
     * the mode is fast again. Clients wait at the barriers before it fails, pass while it is down,
     * and the last one leaves when it is back.
     */
    private static void fault(
            SaucrEnsemble ensemble,
            CuratorClients clients,
            List<CuratorRecipe> recipes,
            String whose,
            int victim)
            throws Exception {
        String what = "power cut of " + whose;
        ensemble.awaitFast();
        List<CuratorFramework> members = List.of();
        if (ensemble.leader() != victim) {
            members =
                    clients.connect(
                            ensemble.all().stream()
                                    .filter(id -> id != victim)
                                    .map(id -> ensemble.server(id).address().client())
                                    .collect(Collectors.joining(",")));
        }
        CuratorBarriers barriers =
                new CuratorBarriers(clients, "/barriers/" + victim, clients.connect(), members);
        LocalTime cut = ensemble.losePowerInFastMode(victim);
        int leader = ensemble.leader();
        assertThat(leader).as(what).isNotEqualTo(victim);
        ensemble.awaitServing();
        ensemble.awaitSlow(leader);
        barriers.fall();
        awaitProgress(recipes);
        assertThat(ensemble.fast(leader)).as("fast with a bare majority").isFalse();

        ensemble.restart(victim);
        ensemble.awaitServing();
        assertThat(ensemble.log(victim, cut, "Recovered through")).as(what).isNotEmpty();
        assertThat(ensemble.awaitFast()).as(what).isEqualTo(leader);
        barriers.leave();
    }
}
