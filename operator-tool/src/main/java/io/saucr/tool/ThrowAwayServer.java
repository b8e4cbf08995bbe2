package io.saucr.tool;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * A standalone server of this distribution that loads a data folder, reachable on the loopback
 * address alone. Its process is killed when this is closed, and when this process exits.
 */
final class ThrowAwayServer implements Closeable {
    private static final String HOST = "127.0.0.1";
    private static final int LINES = 15;

    private final Path folder;
    private final Process process;
    private final AtExit killer;
    private final Connection connection;

    /**
     * Starts it.
     *
     * @param folder for its configuration and output; its data is in the folder {@code data} of it
     */
    ThrowAwayServer(Path folder) throws IOException {
        this.folder = folder;
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path configuration =
                Files.writeString(
                        folder.resolve("zoo.cfg"),
                        """
                        dataDir=%s
                        clientPort=%d
                        clientPortAddress=%s
                        admin.enableServer=false
                        4lw.commands.whitelist=srvr,mntr
                        """
                                .formatted(folder.resolve("data"), port, HOST));
        process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                QuorumPeerMain.class.getName(),
                                configuration.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(output().toFile())
                        .start();
        killer = new AtExit("kill the server", process::destroyForcibly);
        connection =
                new Connection(
                        List.of(new Endpoint(HOST, port, false, Optional.empty())),
                        Optional.empty(),
                        new ZKClientConfig(),
                        null,
                        null,
                        false,
                        Optional.empty());
    }

    private Path output() {
        return folder.resolve("server.log");
    }

    /**
     * Waits until it has loaded its data and serves.
     *
     * @return what it says in {@code mntr}
     * @throws FailureException with the end of its output, if it exits or takes too long
     */
    Map<String, String> await(Duration patience) throws IOException, InterruptedException {
        Deadline end = Deadline.in(patience);
        Endpoint endpoint = connection.endpoints().get(0);
        while (process.isAlive() && !end.hasPassed()) {
            try {
                // A server answers mntr while it loads, too.
                FourLetterWord.srvr(endpoint, connection, Deadline.in(connection.patience()));
                return FourLetterWord.mntr(
                        endpoint, connection, Deadline.in(connection.patience()));
            } catch (EndpointException e) {
                // It loads still, or it has exited.
                process.waitFor(100, TimeUnit.MILLISECONDS);
            }
        }
        List<String> lines = Files.readAllLines(output());
        throw new FailureException(
                "the server that was to load the restored data %s:%n%s"
                        .formatted(
                                process.isAlive()
                                        ? "does not serve after " + Durations.readable(patience)
                                        : "exited",
                                String.join(
                                        System.lineSeparator(),
                                        lines.subList(
                                                Math.max(0, lines.size() - LINES), lines.size()))));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        killer.close();
    }
}
