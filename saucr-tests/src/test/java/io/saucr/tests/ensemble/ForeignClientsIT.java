package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Curator and kazoo, clients that nobody here wrote, while the ensemble loses a server and its
 * leader.
 */
class ForeignClientsIT {
    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("foreign-clients", 5)
                                .set("saucr.idleFlush", "100ms"));
        ensemble.awaitFast();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private static CuratorFramework curator() throws InterruptedException {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(
                        ensemble.connectString(),
                        10_000,
                        10_000,
                        new ExponentialBackoffRetry(100, 20));
        curator.start();
        assertThat(
                        curator.blockUntilConnected(
                                (int) SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return curator;
    }

    @Test
    void curatorLocksExcludeEachOtherWhileTheLeaderDies() throws Exception {
        int rounds = 40;
        List<String> trace = Collections.synchronizedList(new ArrayList<>());
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<Future<?>> holders = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                String name = "holder-" + i;
                holders.add(
                        threads.submit(
                                () -> {
                                    try (CuratorFramework curator = curator()) {
                                        InterProcessMutex mutex =
                                                new InterProcessMutex(curator, "/curator/lock");
                                        for (int round = 0; round < rounds; round++) {
                                            mutex.acquire();
                                            trace.add("in " + name);
                                            trace.add("out " + name);
                                            mutex.release();
                                        }
                                    }
                                    return null;
                                }));
            }
            SaucrEnsemble.await("locks taken", () -> trace.size() > 20);
            int dead = ensemble.leader();
            ensemble.kill(dead);
            for (Future<?> holder : holders) {
                holder.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
            assertThat(trace).hasSize(3 * 2 * rounds);
            for (int i = 0; i < trace.size(); i += 2) {
                assertThat(trace.get(i)).startsWith("in ");
                assertThat(trace.get(i + 1)).isEqualTo(trace.get(i).replace("in ", "out "));
            }
            ensemble.restart(dead);
            ensemble.awaitServing();
            ensemble.awaitFast();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void curatorLeaderLatchPassesOnAndTheCacheFollows() throws Exception {
        try (CuratorFramework one = curator();
                CuratorFramework two = curator();
                CuratorCache cache = CuratorCache.build(two, "/curator/cached")) {
            LeaderLatch first = new LeaderLatch(one, "/curator/latch", "first");
            first.start();
            first.await();
            try (LeaderLatch second = new LeaderLatch(two, "/curator/latch", "second")) {
                second.start();
                assertThat(second.hasLeadership()).isFalse();
                first.close();
                second.await();
                assertThat(second.hasLeadership()).isTrue();
            }
            cache.start();
            byte[] data = "cached".getBytes(StandardCharsets.UTF_8);
            int follower = ensemble.followers().get(0);
            ensemble.awaitOnDisk(ensemble.all());
            ensemble.kill(follower);
            for (int i = 0; i < 50; i++) {
                one.create()
                        .orSetData()
                        .creatingParentsIfNeeded()
                        .forPath("/curator/cached/" + i, data);
            }
            SaucrEnsemble.await(
                    "the cache",
                    () ->
                            cache.stream()
                                            .filter(
                                                    node ->
                                                            node.getPath()
                                                                    .startsWith("/curator/cached/"))
                                            .filter(
                                                    node ->
                                                            new String(
                                                                            node.getData(),
                                                                            StandardCharsets.UTF_8)
                                                                    .equals("cached"))
                                            .count()
                                    == 50);
            DistributedAtomicLong counter =
                    new DistributedAtomicLong(one, "/curator/counter", new RetryNTimes(10, 10));
            for (int i = 0; i < 20; i++) {
                assertThat(counter.increment().succeeded()).isTrue();
            }
            assertThat(counter.get().postValue()).isEqualTo(20);
            ensemble.restart(follower);
            ensemble.awaitServing();
        }
    }

    @Test
    void kazooNodesTransactionsWatchesLocksAndQueues() throws Exception {
        Path sources = Path.of("src/test/python").toAbsolutePath();
        Path packages = BuiltDistribution.target().resolve("python");
        if (!Files.isDirectory(packages.resolve("kazoo"))) {
            python(
                    Map.of(),
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--target",
                    packages.toString(),
                    "-r",
                    sources.resolve("requirements.txt").toString());
        }
        String output =
                python(
                        Map.of("PYTHONPATH", packages.toString()),
                        sources.resolve("kazoo_client.py").toString(),
                        ensemble.connectString());
        assertThat(output).contains("kazoo: all is well");
    }

    private static String python(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("python3"));
        command.addAll(List.of(arguments));
        File log = BuiltDistribution.target().resolve("python.log").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
        builder.environment().putAll(environment);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new AssertionError(
                    "python3 cannot be run; kazoo is tested with it: install python3 and"
                            + " python3-pip",
                    e);
        }
        boolean ended = process.waitFor(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        String output = Files.readString(log.toPath());
        assertThat(ended && process.exitValue() == 0)
                .as(
                        "%s (if pip is missing, install python3-pip):%n%s",
                        String.join(" ", command), output)
                .isTrue();
        return output;
    }
}
