package io.saucr.server.tool;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;

/**
 * {@code zkServer.sh class-archive}: an ensemble of three in this JVM and a client of it, for a
 * moment, so that the JVM, which archives at its end what classes it has loaded, has loaded those
 * of a leader and of a follower. It listens on the loopback address alone, at ports that are free.
 */
public final class ClassArchiveRun {
    private static final int SERVERS = 3;
    private static final int WRITES = 200;
    private static final long START_LIMIT_MILLIS = 60_000;
    private static final int SESSION_TIMEOUT_MILLIS = 30_000;
    private static final String LOOPBACK = InetAddress.getLoopbackAddress().getHostAddress();

    private ClassArchiveRun() {}

    /** Argument: an empty folder. Exit codes: 0 done, 1 the ensemble did not serve. */
    public static void main(String[] args) {
        try {
            run(Path.of(args[0]));
            // A server's threads do not end by themselves.
            System.exit(0);
        } catch (Exception e) {
            e.printStackTrace();
            // Without an archive: one of half a start would be worth little.
            Runtime.getRuntime().halt(1);
        }
    }

    private static void run(Path folder) throws Exception {
        List<Integer> ports = freePorts(3 * SERVERS);
        List<ZooKeeperServerEmbedded> servers = new ArrayList<>();
        for (int id = 1; id <= SERVERS; id++) {
            Path home = Files.createDirectories(folder.resolve(Integer.toString(id)));
            Files.writeString(
                    Files.createDirectories(home.resolve("data")).resolve("myid"), id + "\n");
            servers.add(
                    ZooKeeperServerEmbedded.builder()
                            .baseDir(home)
                            .configuration(configuration(home, id, ports))
                            .exitHandler(ExitHandler.LOG_ONLY)
                            .build());
        }
        ExecutorService starters = Executors.newFixedThreadPool(SERVERS);
        List<Future<?>> starts = new ArrayList<>();
        for (ZooKeeperServerEmbedded server : servers) {
            starts.add(
                    starters.submit(
                            () -> {
                                server.start(START_LIMIT_MILLIS);
                                return null;
                            }));
        }
        for (Future<?> start : starts) {
            start.get(START_LIMIT_MILLIS, TimeUnit.MILLISECONDS);
        }
        for (int id = 1; id <= SERVERS; id++) {
            use(ports.get(id - 1));
        }
    }

    private static Properties configuration(Path home, int id, List<Integer> ports) {
        Properties keys = new Properties();
        keys.setProperty("tickTime", "2000");
        keys.setProperty("initLimit", "10");
        keys.setProperty("syncLimit", "5");
        keys.setProperty("dataDir", home.resolve("data").toString());
        keys.setProperty("clientPort", ports.get(id - 1).toString());
        keys.setProperty("clientPortAddress", LOOPBACK);
        keys.setProperty("admin.serverAddress", LOOPBACK);
        keys.setProperty("admin.serverPort", "0");
        keys.setProperty("saucr.enabled", "true");
        for (int other = 1; other <= SERVERS; other++) {
            keys.setProperty(
                    "server." + other,
                    LOOPBACK
                            + ":"
                            + ports.get(SERVERS + other - 1)
                            + ":"
                            + ports.get(2 * SERVERS + other - 1));
        }
        return keys;
    }

    private static void use(int port) throws Exception {
        String server = LOOPBACK + ":" + port;
        CountDownLatch serves = new CountDownLatch(1);
        Watcher watcher =
                event -> {
                    if (event.getState() == KeeperState.SyncConnected) {
                        serves.countDown();
                    }
                };
        ZooKeeper client = new ZooKeeper(server, SESSION_TIMEOUT_MILLIS, watcher);
        try {
            if (!serves.await(START_LIMIT_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new IOException(
                        server + " does not serve after " + START_LIMIT_MILLIS + " ms");
            }
            String node =
                    client.create("/node", new byte[1], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            for (int i = 0; i < WRITES; i++) {
                client.setData(node, new byte[1], -1);
            }
            client.getData(node, true, null);
            client.getChildren("/", true);
            client.delete(node, -1);
            FourLetterWordMain.send4LetterWord(LOOPBACK, port, "srvr");
        } finally {
            client.close();
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        try {
            while (ports.size() < count) {
                ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                sockets.add(socket);
                ports.add(socket.getLocalPort());
            }
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
        return ports;
    }
}
