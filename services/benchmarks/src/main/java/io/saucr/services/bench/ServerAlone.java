package io.saucr.services.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        int port = TableCluster.freePorts(1).get(0);
        Path configuration = folder.resolve("zoo.cfg");
        Files.writeString(
                configuration,
                """
                clientPort=%s
                clientPortAddress=127.0.0.1
                dataDir=%s
                admin.enableServer=false
                """
                        .formatted(port, folder.resolve("data")));
        Path said = folder.resolve("server.log");
        process =
                new ProcessBuilder(
                                TalkingProcess.command(
                                        List.of("-Xms256m", "-Xmx512m"),
                                        ZooKeeperServerMain.class.getName(),
                                        configuration.toString()))
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
