package io.saucr.tool;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A real server for clients, which stands for two endpoints with {@link AdminAnswers} each. */
final class ClientServer implements AutoCloseable {
    private final ServerCnxnFactory clients;

    /**
     * @param folder for its data
     */
    ClientServer(Path folder) throws IOException, InterruptedException {
        clients =
                ServerCnxnFactory.createFactory(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        clients.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), 1000));
    }

    /** Runs a command on the two endpoints. */
    Run run(AdminAnswers first, AdminAnswers second, Stream<String> command) {
        String client = "127.0.0.1:" + clients.getLocalPort();
        return Run.of(
                Stream.concat(
                                command,
                                Stream.of(
                                        "--endpoints=" + client + "," + client,
                                        "--admin=" + first.address() + "," + second.address()))
                        .toArray(String[]::new));
    }

    @Override
    public void close() {
        clients.shutdown();
    }
}
