package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * The program of a JVM that has our jar in the place of Apache's and uses curator-test as any user
 * would: servers in its own process, SAUCR off and on. Ends with status 0 if all is well.
 */
final class CuratorTestServers {
    static final String SWITCH = "zookeeper.saucr.enabled";
    static final String END = "curator-test: all is well";

    private static final int SERVERS = 3;
    private static final int WRITES = 50;
    private static final int SESSION_MILLIS = 30_000;
    private static final int RETRY_MILLIS = 50;

    private CuratorTestServers() {}

    public static void main(String[] args) {
        try {
            assertThat(
                            QuorumPeerMain.class
                                    .getProtectionDomain()
                                    .getCodeSource()
                                    .getLocation()
                                    .getPath())
                    .contains("saucr-zookeeper-server");
            oneServer();
            cluster(false);
            System.setProperty(SWITCH, "true");
            cluster(true);
            assertThatThrownBy(CuratorTestServers::oneServer)
                    .hasStackTraceContaining("saucr.enabled=true needs");
            System.out.println(END);
            Runtime.getRuntime().halt(0);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void oneServer() throws Exception {
        try (TestingServer server = new TestingServer();
                CuratorFramework client = client(server.getConnectString())) {
            write(client, "/before");
            server.restart();
            write(client, "/after");
            assertComplete(client, "/before", "/after");
        }
    }

    private static void cluster(boolean situationAware) throws Exception {
        try (TestingCluster cluster = new TestingCluster(servers())) {
            cluster.start();
            for (TestingZooKeeperServer server : cluster.getServers()) {
                assertThat(server.getLocalPort()).isEqualTo(server.getInstanceSpec().getPort());
            }
            try (CuratorFramework client = client(cluster.getConnectString())) {
                write(client, "/all");
                assertThat(beans()).hasSize(situationAware ? SERVERS : 0);
                if (situationAware) {
                    SaucrEnsemble.await("fast mode", CuratorTestServers::someoneCommitsFast);
                }
                write(client, "/fast");
                InstanceSpec victim =
                        cluster.findConnectionInstance(client.getZookeeperClient().getZooKeeper());
                assertThat(cluster.killServer(victim)).isTrue();
                write(client, "/two");
                awaitBeans(situationAware ? SERVERS - 1 : 0);
                assertThat(cluster.restartServer(victim)).isTrue();
                write(client, "/again");
                awaitBeans(situationAware ? SERVERS : 0);
                assertComplete(client, "/all", "/fast", "/two", "/again");
                try (CuratorFramework other =
                        client(victim.getHostname() + ":" + victim.getPort())) {
                    write(other, "/back");
                    assertComplete(other, "/all", "/fast", "/two", "/again", "/back");
                }
            }
        }
        awaitBeans(0);
        SaucrEnsemble.await(
                "no thread of a server that has stopped",
                () ->
                        Thread.getAllStackTraces().keySet().stream()
                                .noneMatch(thread -> thread.getName().startsWith("Saucr")));
    }

    /** Curator draws one free port after the other, and sometimes one of them twice. */
    private static List<InstanceSpec> servers() {
        while (true) {
            List<InstanceSpec> servers =
                    Stream.generate(InstanceSpec::newInstanceSpec).limit(SERVERS).toList();
            long ports =
                    servers.stream()
                            .flatMapToInt(
                                    each ->
                                            IntStream.of(
                                                    each.getPort(),
                                                    each.getQuorumPort(),
                                                    each.getElectionPort()))
                            .distinct()
                            .count();
            if (ports == 3 * SERVERS) {
                return servers;
            }
        }
    }

    private static CuratorFramework client(String addresses) {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(
                        addresses,
                        SESSION_MILLIS,
                        (int) SaucrEnsemble.PATIENCE.toMillis(),
                        new RetryForever(RETRY_MILLIS));
        client.start();
        return client;
    }

    private static void write(CuratorFramework client, String parent) throws Exception {
        for (int i = 0; i < WRITES; i++) {
            client.create()
                    .orSetData()
                    .creatingParentsIfNeeded()
                    .forPath(parent + "/" + i, parent.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** The client has written through its server, so that server is not behind. */
    private static void assertComplete(CuratorFramework client, String... parents)
            throws Exception {
        for (String parent : parents) {
            assertThat(client.getChildren().forPath(parent)).as(parent).hasSize(WRITES);
        }
    }

    /**
     * Waits for that number of beans. A server that stops, in a process that goes on, must leave
     * none behind.
     */
    private static void awaitBeans(int count) {
        SaucrEnsemble.await("beans: " + count, () -> beans().size() == count);
    }

    /** The beans of the servers with SAUCR in this process. */
    private static Set<ObjectName> beans() throws JMException {
        return ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("org.apache.ZooKeeperService:name0=Saucr_id*"), null);
    }

    private static boolean someoneCommitsFast() throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName bean : beans()) {
            if ((Long) server.getAttribute(bean, "FastCommits") > 0) {
                return true;
            }
        }
        return false;
    }
}
