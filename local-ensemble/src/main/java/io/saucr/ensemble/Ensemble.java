package io.saucr.ensemble;

import io.saucr.core.config.HostPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * An ensemble of server processes on this machine, numbered from 1. Closing it kills them; so does
 * the end of this JVM, unless they are started {@linkplain Builder#byScripts by scripts}. The
 * folder with data and logs is left to the caller.
 *
 * <p>Thread-safe as its servers are.
 */
public final class Ensemble implements AutoCloseable {
    /**
     * Small and quick to start; not for measurements. Much of what runs at a start runs a few
     * hundred times and never again, and compiling it costs more than running it. At each start
     * ZooKeeper makes the JVM's own TLS context, which reads more than a hundred public
     * certificates, and Logback has the JVM search for an XML parser; both are spared. A server
     * that speaks TLS names a trust store of its own.
     */
    public static final List<String> SMALL_JVM =
            List.of(
                    "-Xmx160m",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:CompileThresholdScaling=5",
                    "-XX:+UseSerialGC",
                    "-Xshare:auto",
                    "-XX:-UsePerfData",
                    "-Djavax.net.ssl.trustStore=NONE",
                    "-Djavax.xml.parsers.SAXParserFactory="
                            + "com.sun.org.apache.xerces.internal.jaxp.SAXParserFactoryImpl");

    private final Hosting hosting;
    private final List<ServerProcess> servers;

    /** Whether clients use TLS. */
    private final boolean secure;

    private final Thread hook = new Thread(this::killAll, "kill servers");

    private Ensemble(
            Hosting hosting, List<ServerProcess> servers, boolean secure, boolean endsWithJvm) {
        this.hosting = hosting;
        this.servers = List.copyOf(servers);
        this.secure = secure;
        if (endsWithJvm) {
            Runtime.getRuntime().addShutdownHook(hook);
        }
    }

    /** Describes an ensemble that does not exist yet; used by one thread. */
    public static final class Builder {
        private final Distribution distribution;
        private final Map<Integer, Distribution> others = new LinkedHashMap<>();
        private final Path work;
        private final Map<String, String> settings = new LinkedHashMap<>();
        private List<String> jvmFlags = SMALL_JVM;
        private boolean classArchive = true;
        private int voters = 3;
        private int observers;
        private LoopbackHosting.Disk disk = LoopbackHosting.Disk.PLAIN;
        private Hosting hosting;
        private Encryption encryption = Encryption.NONE;
        private Path scripts;
        private String folderName = "server-";

        private Builder(Distribution distribution, Path work) {
            this.distribution = distribution;
            this.work = work;
            settings.put("tickTime", "500");
            settings.put("initLimit", "20");
            settings.put("syncLimit", "8");
            settings.put("maxClientCnxns", "0");
            settings.put("admin.enableServer", "false");
            settings.put("4lw.commands.whitelist", "*");
        }

        public Builder voters(int number) {
            this.voters = number;
            return this;
        }

        /** Observers come after the voters in number. */
        public Builder observers(int number) {
            this.observers = number;
            return this;
        }

        /**
         * A key of every server's {@code zoo.cfg}; replaces what this class would write there.
         * Preset: tickTime 500, initLimit 20, syncLimit 8, no AdminServer (set {@code
         * admin.enableServer}; its port is chosen).
         */
        public Builder set(String key, String value) {
            settings.put(key, value);
            return this;
        }

        /** Server {@code id} runs another distribution than the rest: a mixed ensemble. */
        public Builder distribution(int id, Distribution other) {
            others.put(id, other);
            return this;
        }

        /**
         * All flags of the servers' JVMs, instead of {@link #SMALL_JVM} and an archive of the
         * distribution's classes that makes them start faster.
         */
        public Builder jvm(List<String> flags) {
            this.jvmFlags = List.copyOf(flags);
            classArchive = false;
            return this;
        }

        /** One more flag for the servers' JVMs. */
        public Builder jvmFlag(String flag) {
            List<String> flags = new ArrayList<>(jvmFlags);
            flags.add(flag);
            this.jvmFlags = flags;
            return this;
        }

        /** What stands between the servers and their folders on loopback. */
        public Builder disk(LoopbackHosting.Disk kind) {
            this.disk = kind;
            return this;
        }

        /** Another host than loopback; the ensemble closes it. */
        public Builder hosting(Hosting other) {
            this.hosting = other;
            return this;
        }

        /**
         * What is encrypted. With {@link Encryption.Tls#ALL} servers listen on {@link
         * Hosting#securePort} as well, and {@link Ensemble#connectString} names those ports.
         */
        public Builder encryption(Encryption chosen) {
            this.encryption = chosen;
            chosen.settings().forEach(this::set);
            return this;
        }

        /** What the servers' folders are called, before the number; default: {@code server-}. */
        Builder folderName(String beginning) {
            this.folderName = beginning;
            return this;
        }

        /**
         * The servers are started and stopped by the {@code zkServer.sh} of this unpacked
         * distribution, and outlive this JVM. Flags of their JVMs and the host's command prefix do
         * not count.
         */
        Builder byScripts(Path unpacked) {
            this.scripts = unpacked;
            return this;
        }

        /** Makes folders and configurations; starts nothing. */
        public Ensemble build() throws IOException {
            Ensemble ensemble = describe();
            for (ServerProcess server : ensemble.servers) {
                server.writeFiles();
            }
            return ensemble;
        }

        /** An ensemble that was built before, with its files as they are now. */
        Ensemble existing() throws IOException {
            return describe();
        }

        private Ensemble describe() throws IOException {
            int count = voters + observers;
            Files.createDirectories(work);
            Path folder = work.toRealPath();
            Hosting host = hosting != null ? hosting : new LoopbackHosting(folder, count, disk);
            List<String> lines = new ArrayList<>();
            for (int id = 1; id <= count; id++) {
                String role = id > voters ? ":observer" : "";
                lines.add("server." + id + "=" + host.address(id).peer() + role);
            }
            List<ServerProcess> servers = new ArrayList<>();
            for (int id = 1; id <= count; id++) {
                ServerAddress address = host.address(id);
                Map<String, String> keys = new LinkedHashMap<>(settings);
                keys.putIfAbsent("clientPort", Integer.toString(address.clientPort()));
                keys.putIfAbsent("clientPortAddress", address.clientHost());
                keys.putIfAbsent("admin.serverPort", Integer.toString(address.adminPort()));
                if (encryption.ofClients()) {
                    keys.put("secureClientPort", Integer.toString(host.securePort(id)));
                    keys.put("secureClientPortAddress", address.clientHost());
                }
                if (id > voters) {
                    keys.put("peerType", "observer");
                }
                Path home = folder.resolve(folderName + id);
                servers.add(
                        new ServerProcess(
                                home,
                                address,
                                host.dataDirectory(id),
                                lines,
                                keys,
                                launcher(id, home, host)));
            }
            return new Ensemble(host, servers, encryption.ofClients(), scripts == null);
        }

        private Launcher launcher(int id, Path home, Hosting host) {
            if (scripts != null) {
                return new ScriptLauncher(id, home, host, scripts);
            }
            Distribution own = others.getOrDefault(id, distribution);
            List<String> flags = new ArrayList<>(jvmFlags);
            if (classArchive) {
                flags.addAll(ClassArchive.flags(own));
            }
            return new ChildLauncher(id, home, host, own, flags);
        }
    }

    /**
     * @param work the servers' folders go into it, named {@code server-ID}
     */
    public static Builder of(Distribution distribution, Path work) {
        return new Builder(distribution, work);
    }

    public int size() {
        return servers.size();
    }

    public List<ServerProcess> servers() {
        return servers;
    }

    /**
     * @param id from 1
     */
    public ServerProcess server(int id) {
        return servers.get(id - 1);
    }

    /** The shim of server {@code id}, if the ensemble runs on loopback with shims. */
    public Optional<FsyncShim> shim(int id) {
        return hosting instanceof LoopbackHosting loopback ? loopback.shim(id) : Optional.empty();
    }

    /**
     * {@link LoopbackHosting#reboot}.
     *
     * @throws IllegalStateException if the ensemble runs elsewhere
     */
    public void reboot(int id) {
        if (!(hosting instanceof LoopbackHosting loopback)) {
            throw new IllegalStateException("the machines are not on loopback");
        }
        loopback.reboot(id);
    }

    /** The client addresses of all servers, for a ZooKeeper client. */
    public String connectString() {
        return servers.stream().map(server -> client(server.id())).collect(Collectors.joining(","));
    }

    /** Where clients connect to server {@code id}, with TLS if they use it. */
    public String client(int id) {
        ServerAddress address = server(id).address();
        return secure
                ? new HostPort(address.clientHost(), hosting.securePort(id)).toString()
                : address.client();
    }

    /** Starts every server that does not run; returns at once. */
    public void start() throws IOException {
        for (ServerProcess server : servers) {
            if (!server.isAlive()) {
                server.start();
            }
        }
    }

    /** Those that run, in the order of their numbers. */
    List<ServerProcess> running() {
        return servers.stream().filter(ServerProcess::isAlive).toList();
    }

    /** The server that answers as leader, if one does. */
    public OptionalInt leader() {
        for (ServerProcess server : servers) {
            if (server.isAlive() && server.role().equals("leader")) {
                return OptionalInt.of(server.id());
            }
        }
        return OptionalInt.empty();
    }

    /**
     * Waits until a server answers as leader: on a busy machine its answer may be late.
     *
     * @throws EnsembleException if none does in time
     */
    public int awaitLeader(Duration timeout) {
        Deadline deadline = Deadline.in(timeout);
        OptionalInt leader = leader();
        while (leader.isEmpty()) {
            deadline.requireTimeLeft(
                    () -> "no server answers as leader after %s s".formatted(timeout.toSeconds()));
            deadline.pause();
            leader = leader();
        }
        return leader.getAsInt();
    }

    /**
     * Waits until each running server serves clients, one of them as leader.
     *
     * @throws EnsembleException with the servers' state and the end of a log if they do not in
     *     time, or if one of them has ended
     */
    public void awaitServing(Duration timeout) {
        List<ServerProcess> running = running();
        awaitRoles(running, timeout, roles -> !roles.contains("") && roles.contains("leader"));
    }

    /**
     * Waits until each of these servers serves clients.
     *
     * @throws EnsembleException as {@link #awaitServing(Duration)}
     */
    void awaitServing(List<ServerProcess> chosen, Duration timeout) {
        awaitRoles(chosen, timeout, roles -> !roles.contains(""));
    }

    private static void awaitRoles(
            List<ServerProcess> chosen, Duration timeout, Predicate<List<String>> enough) {
        Deadline deadline = Deadline.in(timeout);
        while (true) {
            List<String> roles = chosen.stream().map(ServerProcess::role).toList();
            if (enough.test(roles)) {
                return;
            }
            for (ServerProcess server : chosen) {
                if (!server.isAlive()) {
                    throw new EnsembleException(
                            server
                                    + " has ended"
                                    + (server.exitStatus().isPresent()
                                            ? ", status " + server.exitStatus().getAsInt()
                                            : "")
                                    + ". The last lines of its log:\n"
                                    + server.quoteLog());
                }
            }
            deadline.requireTimeLeft(
                    () -> {
                        ServerProcess silent = chosen.get(Math.max(0, roles.indexOf("")));
                        return ("not every server serves after %s s:\n%s\nThe last lines of"
                                        + " the log of %s:\n%s")
                                .formatted(
                                        timeout.toSeconds(),
                                        Table.ofServers(chosen, ServerReport.of(chosen)),
                                        silent,
                                        silent.quoteLog());
                    });
            deadline.pause();
        }
    }

    /**
     * Asks all servers at once to end in good order, and waits.
     *
     * @return those that still run when the time is over, and those whose script failed
     */
    List<ServerProcess> terminate(Duration timeout) throws IOException {
        Deadline deadline = Deadline.in(timeout);
        for (ServerProcess server : servers) {
            server.beginToTerminate();
        }
        return servers.stream().filter(server -> !server.await(deadline.left())).toList();
    }

    /** SIGKILL for all of them. */
    public void killAll() {
        servers.forEach(ServerProcess::kill);
    }

    @Override
    public void close() {
        killAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook); // or nothing, if there is none
        } catch (IllegalStateException e) {
            // The JVM is shutting down and runs the hook itself.
        }
        try {
            hosting.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the servers' host could not be cleaned up", e);
        }
    }
}
