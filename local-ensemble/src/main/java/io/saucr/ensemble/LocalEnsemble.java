package io.saucr.ensemble;

import io.saucr.core.config.ZooCfg;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The ensemble of {@code ./saucr up}, kept in a state folder: {@code ensemble.properties}, {@code
 * dist} and {@code servers/ID}. Each command of the command line makes its own object from that
 * folder; those that change something do so {@link #exclusively}.
 */
public final class LocalEnsemble {
    /** Value of a port base that stands for 2181, 2881, 3881, 8081 and following. */
    public static final int USUAL_PORTS = 0;

    private static final String SIZE = "size";
    private static final String PORT_BASE = "portBase";
    private static final Duration STOP_LIMIT = Duration.ofSeconds(90);

    private final Path state;
    private final LocalHosting hosting;
    private final Ensemble ensemble;

    private LocalEnsemble(Path state, LocalHosting hosting, Ensemble ensemble) {
        this.state = state;
        this.hosting = hosting;
        this.ensemble = ensemble;
    }

    /** The ensemble that the state folder holds, running or not. */
    public static Optional<LocalEnsemble> in(Path state) {
        Path file = propertiesFile(state);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
            int size = Integer.parseInt(properties.getProperty(SIZE));
            int portBase = Integer.parseInt(properties.getProperty(PORT_BASE));
            LocalHosting hosting = new LocalHosting(servers(state), portBase);
            return Optional.of(
                    new LocalEnsemble(state, hosting, describe(state, size, hosting).existing()));
        } catch (NumberFormatException e) {
            throw new EnsembleException(
                    file + " is damaged; stop what runs and remove the folder " + state, e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Sets up an ensemble that is not running: distribution, configuration, folders. Data of an
     * earlier one of the same size stays.
     *
     * @param root the project's root folder
     * @param portBase {@link #USUAL_PORTS} or 1024 to 65000
     * @param extra lines for every zoo.cfg that are added to the usual ones or replace them
     */
    public static LocalEnsemble setUp(
            Path root, Path state, int size, int portBase, Map<String, String> extra) {
        Ports.requireFree(size, portBase);
        try {
            Path tarball =
                    Distribution.tarball(root)
                            .orElseThrow(
                                    () ->
                                            new EnsembleException(
                                                    "there is no distribution in "
                                                            + root.resolve(
                                                                    "zookeeper-server/target")
                                                            + "; build it with ./saucr up"));
            Distribution.unpack(tarball, distribution(state));
            LocalHosting hosting = new LocalHosting(servers(state), portBase);
            Ensemble.Builder builder = describe(state, size, hosting);
            extra.forEach(builder::set);
            Ensemble ensemble = builder.build();
            Properties properties = new Properties();
            properties.setProperty(SIZE, Integer.toString(size));
            properties.setProperty(PORT_BASE, Integer.toString(portBase));
            try (Writer writer = Files.newBufferedWriter(propertiesFile(state))) {
                properties.store(writer, "The local ensemble of ./saucr up");
            }
            return new LocalEnsemble(state, hosting, ensemble);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A port base from which the ports of so many servers are all free at this moment. */
    public static int freePortBase(int servers) {
        return Ports.freeBase(servers);
    }

    private static Path servers(Path state) {
        return state.toAbsolutePath().resolve("servers");
    }

    private static Ensemble.Builder describe(Path state, int size, LocalHosting hosting) {
        return Ensemble.of(null, servers(state))
                .voters(size)
                .hosting(hosting)
                .folderName("")
                .byScripts(distribution(state).toAbsolutePath())
                .set("maxClientCnxns", "60")
                .set("initLimit", "10")
                .set("syncLimit", "4")
                .set("admin.enableServer", "true")
                .set("admin.serverAddress", "127.0.0.1")
                .set("saucr.adminServers", adminServers(size, hosting))
                .set("saucr.enabled", "true");
    }

    /** On one machine each has a port of its own, which the others cannot guess. */
    private static String adminServers(int size, LocalHosting hosting) {
        return IntStream.rangeClosed(1, size)
                .mapToObj(hosting::address)
                .map(each -> each.id() + "=" + each.admin())
                .collect(Collectors.joining(","));
    }

    /**
     * This machine, on ports that a user knows by heart or chose. Between a server and its disk is
     * a shim, if this machine can build it: {@code ./saucr demo} makes forces take longer.
     */
    private static final class LocalHosting implements Hosting {
        private final Path servers;
        private final int portBase;
        private final Map<Integer, Optional<FsyncShim>> shims = new ConcurrentHashMap<>();

        LocalHosting(Path servers, int portBase) {
            this.servers = servers;
            this.portBase = portBase;
        }

        @Override
        public ServerAddress address(int id) {
            return Ports.of(id, portBase);
        }

        @Override
        public Path dataDirectory(int id) {
            return servers.resolve(Integer.toString(id)).resolve("data");
        }

        @Override
        public List<String> commandPrefix(int id) {
            return List.of();
        }

        @Override
        public Map<String, String> environment(int id) {
            return shim(id).map(FsyncShim::environment).orElse(Map.of());
        }

        /** Empty where this machine cannot build it. */
        Optional<FsyncShim> shim(int id) {
            return shims.computeIfAbsent(id, this::makeShim);
        }

        private Optional<FsyncShim> makeShim(int id) {
            if (!FsyncShim.available()) {
                return Optional.empty();
            }
            Path folder = servers.resolve(Integer.toString(id)).resolve("shim");
            try {
                return Optional.of(FsyncShim.create(dataDirectory(id), folder, false));
            } catch (IOException e) {
                return Optional.empty(); // A compiler that does not work is as good as none.
            }
        }

        @Override
        public String bootId(int id) {
            throw new UnsupportedOperationException("the kernel's own");
        }

        @Override
        public void beforeStart(int id) {}

        @Override
        public void close() {}
    }

    /**
     * Runs a change while no other command changes the ensemble.
     *
     * @throws EnsembleException at once if another command does, or if the state folder cannot be
     *     made or written
     */
    public static <T> T exclusively(Path state, Supplier<T> change) {
        try {
            Files.createDirectories(state);
            try (FileChannel channel =
                    FileChannel.open(
                            state.resolve("lock"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE)) {
                FileLock lock = channel.tryLock();
                if (lock == null) {
                    throw new EnsembleException(
                            "another ./saucr command is changing the ensemble in "
                                    + state
                                    + "; wait until it has ended");
                }
                return change.get();
            }
        } catch (IOException e) {
            throw new EnsembleException(
                    ("the state folder %s cannot be made or written (%s); SAUCR_STATE"
                                    + " names another one")
                            .formatted(state, reason(state, e)),
                    e);
        }
    }

    /** The system's, which some of these exceptions tell by their class only. */
    private static String reason(Path state, IOException failure) {
        if (Files.exists(state) && !Files.isDirectory(state)) {
            return "it is no folder";
        }
        return failure instanceof FileSystemException system && system.getReason() != null
                ? system.getReason()
                : failure.toString();
    }

    public int size() {
        return ensemble.size();
    }

    public List<ServerProcess> servers() {
        return ensemble.servers();
    }

    /** A script of the servers' distribution, such as {@code zkCli.sh}. */
    public Path script(String name) {
        return distribution(state).resolve("bin").resolve(name);
    }

    /** Host and port of every server, for clients. */
    public String connectString() {
        return ensemble.connectString();
    }

    public List<ServerProcess> running() {
        return ensemble.running();
    }

    /**
     * The status page of the first server that runs, as its {@code zoo.cfg} has it; empty if it has
     * none.
     */
    public Optional<String> statusPage() {
        for (ServerProcess server : running()) {
            try {
                ZooCfg cfg = ZooCfg.read(server.configurationFile());
                return cfg.value("saucr.enabled").equals("true")
                        ? cfg.admin().map(commands -> commands + "/saucr/ui")
                        : Optional.empty();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return Optional.empty();
    }

    /**
     * @throws EnsembleException when there is no such server, with the ones that there are
     */
    public ServerProcess server(int id) {
        if (id < 1 || id > size()) {
            throw new EnsembleException(
                    "there is no server %s; the servers are %s"
                            .formatted(id, servers().stream().map(ServerProcess::id).toList()));
        }
        return ensemble.server(id);
    }

    /** The bare majority: so many servers must run for the ensemble to serve. */
    public int majority() {
        return Majority.of(size());
    }

    public List<ServerReport> reports() {
        return ServerReport.of(servers());
    }

    /** True when a leader serves and a majority follows or leads. */
    public static boolean serves(List<ServerReport> reports) {
        long serving = reports.stream().filter(ServerReport::serves).count();
        return reports.stream().anyMatch(ServerReport::leads)
                && serving >= Majority.of(reports.size());
    }

    /**
     * Starts servers through their scripts, all at once, and waits for the scripts.
     *
     * @throws EnsembleException naming the first one that did not come up, with what its script
     *     said
     */
    public void start(List<ServerProcess> chosen) {
        try {
            for (ServerProcess server : chosen) {
                server.start();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        EnsembleException first = null;
        for (ServerProcess server : chosen) {
            try {
                server.awaitStarted();
            } catch (EnsembleException e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /**
     * Waits until each of the servers follows or leads.
     *
     * @throws EnsembleException when one of them ends meanwhile, with the end of its log, or when
     *     the time is over
     */
    public void awaitServing(List<ServerProcess> chosen, Duration limit) {
        ensemble.awaitServing(chosen, limit);
    }

    /**
     * Waits until the leader reports fast mode. Returns false when the time is over, and at once
     * when the servers do not report a mode.
     */
    public boolean awaitFast(Duration limit) {
        Deadline deadline = Deadline.in(limit);
        while (!deadline.hasPassed()) {
            Optional<String> mode = leadersMode();
            if (mode.equals(Optional.of(ServerReport.FAST))) {
                return true;
            }
            if (mode.equals(Optional.of(ServerReport.UNKNOWN))) {
                return false;
            }
            deadline.pause();
        }
        return false;
    }

    /** The mode that the leader reports; unknown without a leader. */
    public String mode() {
        return leadersMode().orElse(ServerReport.UNKNOWN);
    }

    /** Empty without a leader. */
    private Optional<String> leadersMode() {
        return servers().stream()
                .map(ServerReport::brief)
                .filter(ServerReport::leads)
                .map(ServerReport::mode)
                .findFirst();
    }

    /** Whether {@link #delayForces} has an effect: all servers run, and run behind their shims. */
    public boolean canDelayForces() {
        return servers().stream().allMatch(this::runsBehindShim);
    }

    private boolean runsBehindShim(ServerProcess server) {
        OptionalLong pid = server.runningPid();
        Optional<FsyncShim> shim = hosting.shim(server.id());
        return pid.isPresent() && shim.isPresent() && shim.get().isLoadedBy(pid.getAsLong());
    }

    /** From now on every force of every server's disk takes at least this long. */
    public void delayForces(Duration least) {
        for (ServerProcess server : servers()) {
            hosting.shim(server.id()).ifPresent(shim -> shim.delay(least));
        }
    }

    /** Slow mode, by the order of an operator, if the server leads. */
    public void pin(ServerProcess leader, String reason) {
        order(leader, "pin", reason);
    }

    /** Takes {@link #pin} back. */
    public void unpin(ServerProcess leader, String reason) {
        order(leader, "unpin", reason);
    }

    private static void order(ServerProcess server, String verb, String reason) {
        try {
            server.order(verb, reason);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted during the order " + verb, e);
        }
    }

    /** The server that leads at this moment. */
    public Optional<ServerProcess> leader() {
        return ensemble.leader().stream().mapToObj(ensemble::server).findFirst();
    }

    /**
     * Stops every running server as an operator would.
     *
     * @throws EnsembleException naming those that still run
     */
    public void stop() {
        try {
            List<ServerProcess> left = ensemble.terminate(STOP_LIMIT);
            if (!left.isEmpty()) {
                throw new EnsembleException(
                        "servers that do not stop: "
                                + left.stream().map(ServerProcess::id).toList()
                                + "; ./saucr kill ends them");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes the servers' folders with all data, and what describes the ensemble. */
    public void wipe() {
        try {
            Folders.remove(servers(state));
            Files.deleteIfExists(propertiesFile(state));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends every server at once; for an ensemble that never served. */
    public void killAll() {
        ensemble.killAll();
    }

    private static Path distribution(Path state) {
        return state.resolve("dist");
    }

    private static Path propertiesFile(Path state) {
        return state.resolve("ensemble.properties");
    }
}
