package io.saucr.ensemble;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An ensemble of servers on this machine, kept in a state folder: {@code ensemble.properties},
 * {@code dist} and {@code servers/ID}. Each command of the command line makes its own object from
 * that folder; those that change something do so {@link #exclusively}.
 */
public final class LocalEnsemble {
    private static final String SIZE = "size";
    private static final String PORT_BASE = "portBase";
    private static final Duration STOP_LIMIT = Duration.ofSeconds(90);
    private static final int LOG_LINES_SHOWN = 8;

    private final Path state;
    private final int portBase;
    private final UnpackedDistribution distribution;
    private final List<LocalServer> servers;

    private LocalEnsemble(Path state, int size, int portBase) {
        this.state = state;
        this.portBase = portBase;
        this.distribution = UnpackedDistribution.unpackedIn(state);
        this.servers =
                IntStream.rangeClosed(1, size)
                        .mapToObj(
                                id ->
                                        new LocalServer(
                                                id,
                                                state.resolve("servers/" + id),
                                                distribution.folder(),
                                                Ports.of(id, portBase)))
                        .toList();
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
            return Optional.of(
                    new LocalEnsemble(
                            state,
                            Integer.parseInt(properties.getProperty(SIZE)),
                            Integer.parseInt(properties.getProperty(PORT_BASE))));
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
     * @param extra lines for every zoo.cfg that are added to the usual ones or replace them
     */
    public static LocalEnsemble setUp(
            Path root, Path state, int size, int portBase, Map<String, String> extra) {
        LocalEnsemble ensemble = new LocalEnsemble(state, size, portBase);
        ensemble.requireFreePorts();
        UnpackedDistribution.unpack(root, state);
        try {
            for (LocalServer server : ensemble.servers) {
                server.writeConfiguration(ensemble.servers, extra);
            }
            Properties properties = new Properties();
            properties.setProperty(SIZE, Integer.toString(size));
            properties.setProperty(PORT_BASE, Integer.toString(portBase));
            try (Writer writer = Files.newBufferedWriter(propertiesFile(state))) {
                properties.store(writer, "The local ensemble of ./saucr up");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ensemble;
    }

    /**
     * Runs a change while no other command changes the ensemble.
     *
     * @throws EnsembleException at once if another command does
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
            throw new UncheckedIOException(e);
        }
    }

    public int size() {
        return servers.size();
    }

    public int portBase() {
        return portBase;
    }

    public List<LocalServer> servers() {
        return servers;
    }

    public UnpackedDistribution distribution() {
        return distribution;
    }

    /** Host and port of every server, for clients. */
    public String connectString() {
        return servers.stream().map(LocalServer::address).collect(Collectors.joining(","));
    }

    public List<LocalServer> running() {
        return servers.stream().filter(LocalServer::isRunning).toList();
    }

    /**
     * @throws EnsembleException when there is no such server, with the ones that there are
     */
    public LocalServer server(int id) {
        return servers.stream()
                .filter(server -> server.id() == id)
                .findFirst()
                .orElseThrow(
                        () ->
                                new EnsembleException(
                                        "there is no server "
                                                + id
                                                + "; the servers are "
                                                + LocalServer.ids(servers)));
    }

    /** The bare majority: so many servers must run for the ensemble to serve. */
    public int majority() {
        return Majority.of(servers.size());
    }

    public List<ServerReport> reports() {
        return ServerReport.of(servers);
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
     * @throws EnsembleException naming the first one that did not come up, with the end of its log
     */
    public void start(List<LocalServer> chosen) {
        Map<LocalServer, Process> scripts = new LinkedHashMap<>();
        try {
            for (LocalServer server : chosen) {
                scripts.put(server, server.launch());
            }
            List<LocalServer> failed = new ArrayList<>();
            for (Map.Entry<LocalServer, Process> script : scripts.entrySet()) {
                if (script.getValue().waitFor() != 0) {
                    failed.add(script.getKey());
                }
            }
            if (!failed.isEmpty()) {
                LocalServer server = failed.get(0);
                throw new EnsembleException(
                        "server "
                                + server.id()
                                + " does not start:\n"
                                + server.launchOutput().indent(4).stripTrailing());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted while servers start", e);
        }
    }

    /**
     * Waits until each of the servers follows or leads.
     *
     * @throws EnsembleException when one of them ends meanwhile, with the end of its log, or when
     *     the time is over
     */
    public void awaitServing(List<LocalServer> chosen, Duration limit) {
        Deadline deadline = Deadline.in(limit);
        while (true) {
            for (LocalServer server : chosen) {
                if (!server.isRunning()) {
                    throw new EnsembleException(
                            "server "
                                    + server.id()
                                    + " has ended. The last lines of its log:\n"
                                    + String.join("\n", server.lastLogLines(LOG_LINES_SHOWN))
                                            .indent(4)
                                            .stripTrailing());
                }
            }
            if (chosen.stream().map(ServerReport::brief).allMatch(ServerReport::serves)) {
                return;
            }
            deadline.requireTimeLeft(
                    () ->
                            "not every server serves after "
                                    + limit.toSeconds()
                                    + " s:\n"
                                    + Table.ofServers(chosen, ServerReport.of(chosen)));
            deadline.pause();
        }
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
        return servers.stream()
                .map(ServerReport::brief)
                .filter(ServerReport::leads)
                .map(ServerReport::mode)
                .findFirst();
    }

    /** The server that leads at this moment. */
    public Optional<LocalServer> leader() {
        return servers.stream().filter(server -> ServerReport.brief(server).leads()).findFirst();
    }

    /**
     * Stops every running server as an operator would. One whose script reports an error is left
     * running and named.
     */
    public void stop() {
        Map<LocalServer, Process> scripts = new LinkedHashMap<>();
        List<Integer> failed = new ArrayList<>();
        try {
            for (LocalServer server : servers) {
                if (Files.exists(server.pidFile())) {
                    scripts.put(server, server.stop());
                }
            }
            for (Map.Entry<LocalServer, Process> script : scripts.entrySet()) {
                boolean ended = script.getValue().waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
                if (!ended || script.getValue().exitValue() != 0) {
                    failed.add(script.getKey().id());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted while servers stop", e);
        }
        if (!failed.isEmpty()) {
            throw new EnsembleException(
                    "servers that do not stop: " + failed + "; ./saucr kill ends them");
        }
    }

    /** Removes the servers' folders with all data, and what describes the ensemble. */
    public void wipe() {
        try {
            UnpackedDistribution.removeTree(state.resolve("servers"));
            Files.deleteIfExists(propertiesFile(state));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends every server at once and removes the pid files; for an ensemble that never served. */
    public void killAll() {
        servers.parallelStream().forEach(LocalServer::kill);
        try {
            for (LocalServer server : servers) {
                Files.deleteIfExists(server.pidFile());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void requireFreePorts() {
        List<String> taken = new ArrayList<>();
        for (LocalServer server : servers) {
            server.ports()
                    .byPurpose()
                    .forEach(
                            (purpose, port) -> {
                                if (!isFree(port)) {
                                    taken.add(
                                            port
                                                    + " ("
                                                    + purpose
                                                    + " of server "
                                                    + server.id()
                                                    + ")");
                                }
                            });
        }
        if (!taken.isEmpty()) {
            throw new EnsembleException(
                    "another program uses port "
                            + String.join(", ", taken)
                            + ".\nEnd it, or choose other ports: ./saucr up --port-base "
                            + freeBase());
        }
    }

    /** The first round number from which this ensemble's ports are all free. */
    private int freeBase() {
        for (int base = 12_000; base < 60_000; base += 1000) {
            boolean free = true;
            for (LocalServer server : servers) {
                for (int port : Ports.of(server.id(), base).byPurpose().values()) {
                    free = free && isFree(port);
                }
            }
            if (free) {
                return base;
            }
        }
        return 12_000;
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }

    private static Path propertiesFile(Path state) {
        return state.resolve("ensemble.properties");
    }
}
