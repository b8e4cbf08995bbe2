package io.saucr.suites;

import io.saucr.ensemble.ClientSession;
import io.saucr.ensemble.FourLetterWord;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * A TCP proxy in the place of a server that a test starts: it forwards connections to the ensemble
 * that all tests share. All connections lead to one server as long as it serves, so that clients
 * see each other's writes at once, as on a single server. Thread-safe.
 */
public final class EnsembleProxy implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int ATTEMPTS_TO_EMPTY = 20;

    /** With the password of ZooKeeper's own example, {@code test}, which the suites use, too. */
    static final String SUPER_USER = "super:test";

    private final String connectString;
    private final List<InetSocketAddress> servers;
    private volatile int port; // 0 until the system has chosen one
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile int current;
    private volatile ServerSocket listener; // null while it is closed
    private Thread acceptor; // has the port until it ends

    public EnsembleProxy(String connectString, int port) {
        this.connectString = connectString;
        this.servers =
                new ConnectStringParser(connectString)
                        .getServerAddresses().stream()
                                .map(a -> new InetSocketAddress(a.getHostString(), a.getPort()))
                                .toList();
        this.port = port;
    }

    /**
     * The program behind a script that a test takes for a server.
     *
     * @param args the port, and the server's data folder: the tree is emptied when that is new
     */
    public static void main(String[] args) throws Exception {
        EnsembleProxy proxy =
                new EnsembleProxy(
                        TestServers.ofEnvironment().connectString(), Integer.parseInt(args[0]));
        Path mark = Path.of(args[1]).resolve("emptied");
        if (!Files.exists(mark)) {
            proxy.emptyTree();
            Files.writeString(mark, "");
        }
        proxy.open();
        Thread.currentThread().join();
    }

    /** Accepts clients until it is closed; may be opened again then. */
    public void open() throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        listener = socket;
        port = socket.getLocalPort();
        acceptor =
                start(
                        "proxy " + socket.getLocalPort(),
                        () -> {
                            while (!socket.isClosed()) {
                                serve(socket.accept());
                            }
                        });
    }

    /**
     * The port. If the given one was 0, the system chooses one when the proxy is opened, which
     * stays the proxy's when it is opened again.
     */
    public int port() {
        return port;
    }

    private void serve(Socket client) {
        open.add(client);
        start(
                "client of the proxy",
                () -> {
                    try (client;
                            Socket server = connect()) {
                        open.add(server);
                        start("server to client", () -> copy(server, client));
                        copy(client, server);
                        open.remove(server);
                    } finally {
                        open.remove(client);
                    }
                });
    }

    private Socket connect() throws IOException {
        for (int i = 0; i < servers.size(); i++) {
            int index = (current + i) % servers.size();
            Socket socket = new Socket();
            try {
                socket.connect(servers.get(index), (int) PATIENCE.toMillis());
                if (serves(servers.get(index))) {
                    current = index;
                    return socket;
                }
                socket.close();
            } catch (IOException e) {
                socket.close();
            }
        }
        throw new IOException("no server of " + connectString + " serves");
    }

    /** A server that starts or looks for a leader accepts connections, and closes them. */
    private static boolean serves(InetSocketAddress server) throws IOException {
        return FourLetterWord.ask(server.getHostString(), server.getPort(), "srvr", PATIENCE)
                .contains("Mode: ");
    }

    /** Until one of the two is closed; then both are. */
    private static void copy(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            in.transferTo(out);
        }
    }

    /** A connection that is closed ends in an exception, which is no news. */
    private static Thread start(String name, IoTask task) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                task.run();
                            } catch (IOException e) {
                                return;
                            }
                        },
                        name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private interface IoTask {
        void run() throws IOException;
    }

    /** Removes all that earlier tests left. */
    public void emptyTree() throws IOException, InterruptedException, KeeperException {
        try (ClientSession client = ClientSession.connected(connectString, Duration.ofMinutes(1))) {
            client.addAuthInfo("digest", SUPER_USER.getBytes(StandardCharsets.UTF_8));
            for (int attempt = 1; !emptied(client); attempt++) {
                if (attempt == ATTEMPTS_TO_EMPTY) {
                    throw new IOException("the tree fills while it is emptied: a test still runs");
                }
            }
        }
    }

    /**
     * Whether all could be removed: clients of an earlier test may still write, and servers exit.
     */
    private static boolean emptied(ZooKeeper client) throws InterruptedException {
        try {
            for (String child : client.getChildren("/", false)) {
                if (!child.equals("zookeeper")) {
                    ZKUtil.deleteRecursive(client, "/" + child);
                }
            }
            return client.getChildren("/", false).size() == 1;
        } catch (KeeperException e) {
            Thread.sleep(500);
            return false;
        }
    }

    /** Closes all connections, as a server that exits does. */
    @Override
    public void close() throws IOException {
        if (listener != null) {
            listener.close();
            listener = null;
            try {
                acceptor.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        List<Socket> sockets = new ArrayList<>(open);
        open.removeAll(sockets);
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
