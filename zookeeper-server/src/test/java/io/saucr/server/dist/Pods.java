package io.saucr.server.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The pods of the chart as processes of this machine, each with a loopback address of its own: the
 * image's entry point with the command, the variables and the configuration of a rendered
 * StatefulSet, but for folders and addresses. Used by one thread; {@link #ask} by any.
 */
final class Pods implements AutoCloseable {
    static final int MOST = 5;

    private final Path home;
    private final Path folder;
    private final String values;
    private final String network;
    private final Map<String, Integer> ports = new TreeMap<>();
    private final Map<Integer, Process> running = new TreeMap<>();
    private final boolean tls;

    /**
     * @param home of the distribution
     * @param folder for everything that the pods write
     * @param values of the chart, such as three
     */
    Pods(Path home, Path folder, String values) throws Exception {
        this.home = home;
        this.folder = folder;
        this.values = values;
        ThreadLocalRandom random = ThreadLocalRandom.current();
        network = "127." + random.nextInt(10, 250) + "." + random.nextInt(10, 250) + ".1";
        for (String port : new String[] {"2888", "3888", "2181", "2281", "8080"}) {
            int free;
            do {
                free = Scripts.freePort();
            } while (ports.containsValue(free));
            ports.put(port, free);
        }
        tls =
                ManifestsTest.variables(values, "StatefulSet zookeeper")
                        .containsKey("POD_TLS_SECRET");
    }

    /** The address of a server. */
    String host(int id) {
        return network + (id - 1);
    }

    int port(String usual) {
        return ports.get(usual);
    }

    /** All ports for clients, as a client's connect string. */
    String clients(int servers) {
        return String.join(
                ",",
                IntStream.rangeClosed(1, servers)
                        .mapToObj(id -> host(id) + ":" + port(tls ? "2281" : "2181"))
                        .toList());
    }

    Path data(int id) {
        return folder.resolve("data-" + id);
    }

    /** What the process of a pod, or of a command, has written. */
    Path output(String name) {
        return folder.resolve(name).resolve("output.txt");
    }

    /** The folder that is a Secret's in the cluster. */
    Path tlsSecret() {
        return folder.resolve("tls-secret");
    }

    private EntryPoint container(String name, String object) throws Exception {
        EntryPoint entry = new EntryPoint(home, folder.resolve(name));
        Map<String, String> variables = ManifestsTest.variables(values, object);
        // As in the manifest, but for what is this machine's.
        variables.forEach(entry::set);
        String member =
                variables
                        .get("POD_MEMBER")
                        .replace("zookeeper-{ordinal}.zookeeper-servers", network + "{ordinal}")
                        .replace(":2888:3888", ":" + port("2888") + ":" + port("3888"));
        Path password = folder.resolve("password");
        if (!Files.exists(password)) {
            Files.writeString(password, "a:password,\n");
        }
        return entry.set("POD_MEMBER", member)
                .set("POD_ADMIN_PORT", "" + port("8080"))
                .set("POD_CLIENT_PORT", "" + port(variables.get("POD_CLIENT_PORT")))
                .set("POD_TLS_SECRET", tls ? tlsSecret().toString() : "")
                .set("POD_TLS", Files.createDirectories(folder.resolve(name + "-tls")).toString())
                .set("POD_TLS_INTERVAL", "1")
                .set("POD_PASSWORD_FILE", password.toString())
                .set("POD_PATIENCE", "180")
                .set("ZK_SERVER_HEAP", "128")
                .set("SERVER_JVMFLAGS", "-XX:TieredStopAtLevel=1 -Xshare:auto");
    }

    private EntryPoint pod(int id) throws Exception {
        String name = "pod-" + id;
        EntryPoint entry = container(name, "StatefulSet zookeeper");
        Path config = Files.createDirectories(folder.resolve("config-" + id));
        Path data = Files.createDirectories(data(id));
        String text =
                ManifestsTest.configuration(values)
                                .replace("dataDir=/data", "dataDir=" + data)
                                .replace("dataLogDir=/datalog", "dataLogDir=" + data.resolve("log"))
                                .replace("quorumListenOnAllIPs=true", "quorumListenOnAllIPs=false")
                                .replace(
                                        "metricsProvider.httpPort=7000",
                                        "metricsProvider.httpPort=0")
                                .replace("=/tls/", "=" + folder.resolve(name + "-tls") + "/")
                                .replace(
                                        "\nclientPort=2181",
                                        "\nclientPort=%d\nclientPortAddress=%s"
                                                .formatted(port("2181"), host(id)))
                                .replace(
                                        "secureClientPort=2281",
                                        "secureClientPort=%d\nsecureClientPortAddress=%s"
                                                .formatted(port("2281"), host(id)))
                                .replace(
                                        "admin.serverPort=8080",
                                        "admin.serverPort=%d\nadmin.serverAddress=%s"
                                                .formatted(port("8080"), host(id)))
                        // However busy the machine is.
                        + "saucr.heartbeatInterval=2s\nsaucr.fastModeConfirmations=1\n";
        Files.writeString(config.resolve("zoo.cfg"), text);
        return entry.set("HOSTNAME", "zookeeper-" + (id - 1))
                .set("POD_CONFIG", config.toString())
                .set("POD_DATA", data.toString())
                .set("ZOO_CONF_DIR", data.resolve("conf").toString())
                .set("ZOOCFGDIR", data.resolve("conf").toString());
    }

    /** Starts the container of a pod. */
    void start(int id) throws Exception {
        Process process =
                pod(id).start(
                                ManifestsTest.command(values, "StatefulSet zookeeper")
                                        .toArray(String[]::new));
        assertThat(running.put(id, process)).as("pod of server " + id).isNull();
    }

    /** As a container dies that is out of memory; the volume stays. */
    void kill(int id) {
        end(running.remove(id));
    }

    /** As a pod is deleted in order. Java exits with 143 after SIGTERM. */
    void stop(int id) throws InterruptedException {
        Process process = running.remove(id);
        process.destroy();
        assertThat(process.waitFor(Scripts.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(143);
    }

    void loseVolume(int id) throws IOException {
        delete(data(id));
    }

    private static void delete(Path tree) throws IOException {
        Files.walkFileTree(
                tree,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Files.delete(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path folder, IOException e)
                            throws IOException {
                        Files.delete(folder);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    /** Starts pod.sh as a Job of the chart does. */
    Process job(String name, String command, int size) throws Exception {
        return container(name, "StatefulSet zookeeper")
                .start("pod.sh", command, Integer.toString(size));
    }

    /** Runs pod.sh as with {@code kubectl exec} in the container of a server. */
    Scripts.Result exec(int id, String... command) throws Exception {
        String name = "exec-" + id;
        EntryPoint entry = pod(id);
        Files.createDirectories(folder.resolve(name));
        entry.writeTo(folder.resolve(name));
        return Scripts.await(entry.start(command), entry.output(), Duration.ofMinutes(4));
    }

    /** Waits for a Job. */
    Scripts.Result await(Process job, String name) throws Exception {
        return Scripts.await(job, output(name), Duration.ofMinutes(4));
    }

    /** Kills a process and what it has started. */
    static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    /** The status of an answer of the AdminServer; 0 if there is none. */
    int ask(int id, String path) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection)
                            URI.create("http://" + host(id) + ":" + port("8080") + path)
                                    .toURL()
                                    .openConnection();
            connection.setReadTimeout(5000);
            try {
                return connection.getResponseCode();
            } finally {
                connection.disconnect();
            }
        } catch (IOException nothing) {
            return 0;
        }
    }

    /** Mode as {@code srvr} has it: leader, follower, observer; empty if it does not serve. */
    String role(int id) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(id), port("2181")), 1000);
            socket.setSoTimeout(5000);
            socket.getOutputStream().write("srvr".getBytes(UTF_8));
            return new String(socket.getInputStream().readAllBytes(), UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("Mode: "))
                    .map(line -> line.substring("Mode: ".length()))
                    .findFirst()
                    .orElse("");
        } catch (IOException nothing) {
            return "";
        }
    }

    @Override
    public void close() {
        running.values().forEach(Pods::end);
    }
}
