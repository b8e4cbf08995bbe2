package io.saucr.services.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.ZooKeeperServerMain;

/**
 * One ZooKeeper server in a process of its own, with its presets: each batch of writes is forced.
 * It listens on this machine only.
 */
final class ServerAlone implements AutoCloseable {

    private static final int STARTING_SECONDS = 60;

    private final Process process;
    private final String connect;

    /**
     * Starts it, and waits until it serves.
     *
     * @param folder empty, for its log and data
     */
    ServerAlone(Path folder) throws IOException, InterruptedException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path configuration = folder.resolve("zoo.cfg");
        Files.writeString(
                configuration,
                "clientPort="
                        + port
                        + "\nclientPortAddress=127.0.0.1\ndataDir="
                        + folder.resolve("data")
                        + "\nadmin.enableServer=false\n");
        Path said = folder.resolve("server.log");
        process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xms256m",
                                "-Xmx512m",
                                "-XX:+UseSerialGC",
                                "-Dlogback.configurationFile=io/saucr/bench/logback.xml",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ZooKeeperServerMain.class.getName(),
                                configuration.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
        connect = "127.0.0.1:" + port;
        CountDownLatch serves = new CountDownLatch(1);
        boolean started = false;
        ZooKeeper client =
                new ZooKeeper(
                        connect,
                        (int) TimeUnit.SECONDS.toMillis(STARTING_SECONDS),
                        event -> {
                            if (event.getState() == KeeperState.SyncConnected) {
                                serves.countDown();
                            }
                        });
        try {
            for (int second = 0; second < STARTING_SECONDS && process.isAlive(); second++) {
                if (serves.await(1, TimeUnit.SECONDS)) {
                    started = true;
                    return;
                }
            }
            throw new IOException("the ZooKeeper server did not start:\n" + Files.readString(said));
        } finally {
            client.close();
            if (!started) {
                process.destroyForcibly();
            }
        }
    }

    String connect() {
        return connect;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
