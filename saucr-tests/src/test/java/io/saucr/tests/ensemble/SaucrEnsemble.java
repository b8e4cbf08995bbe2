package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.MalformedMarkerException;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.FourLetterWord;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.ServerAddress;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.Signal;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.awaitility.Awaitility;

/**
 * A running ensemble of the built distribution, with what tests ask about it: who leads, in which
 * mode, what the markers on disk say. Used by one test thread; closing it kills the servers.
 */
final class SaucrEnsemble implements AutoCloseable {
    /** For conditions that are reached in seconds on an idle machine. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    /**
     * So long a server may take to answer a four-letter word on a busy machine. A test that asks
     * once must not take a late answer for none. A server that does not listen refuses at once.
     */
    private static final Duration ANSWER = Duration.ofSeconds(20);

    private static final int SESSION_MILLIS = 10_000;
    private static final int PAGE_BYTES = 4096;
    private static final int MOST_POWER_CUTS = 10;
    private static final DateTimeFormatter LOG_TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");
    private static final int LOG_TIME_LENGTH = 12;

    private final Ensemble ensemble;
    private final TreeSet<Integer> paused = new TreeSet<>();

    private SaucrEnsemble(Ensemble ensemble) {
        this.ensemble = ensemble;
    }

    /** One line of a server's log. */
    record LogLine(LocalTime time, String text) {}

    /** An ensemble with SAUCR on, to be changed and started. Its folder has this name. */
    static Ensemble.Builder describe(String name, int voters) throws IOException {
        return Ensemble.of(BuiltDistribution.servers(), folder(name))
                .voters(voters)
                .set("saucr.enabled", "true")
                // A busy machine stands still for seconds. Connections of processes that die end
                // at once.
                .set("syncLimit", "20");
    }

    /**
     * The same for tests in which no server falls silent: however busy the machine is, none is
     * taken for lost.
     */
    static Ensemble.Builder describePatient(String name, int voters) throws IOException {
        return describe(name, voters)
                .set("syncLimit", "80")
                .set("saucr.missedHeartbeatsBeforeElection", "1000");
    }

    /**
     * The same, with flushes so rare that writes in fast mode stay in memory only, however busy the
     * machine is.
     */
    static Ensemble.Builder describeUnforced(String name, int voters) throws IOException {
        return describe(name, voters)
                .set("saucr.heartbeatInterval", "2s")
                .set("saucr.fastModeConfirmations", "1")
                .set("saucr.backgroundFlushInterval", "1h")
                .set("saucr.idleFlush", "1h");
    }

    /** An empty folder for an ensemble of this name. */
    static Path folder(String name) throws IOException {
        Path folder = BuiltDistribution.target().resolve("ensembles").resolve(name);
        BuiltDistribution.deleteTree(folder);
        return folder;
    }

    /** Prepares the folders of all servers and starts none. */
    static SaucrEnsemble prepare(Ensemble.Builder builder) throws IOException {
        return new SaucrEnsemble(builder.build());
    }

    /** Starts all servers and waits until every one of them serves. */
    static SaucrEnsemble start(Ensemble.Builder builder) throws Exception {
        SaucrEnsemble started = prepare(builder);
        try {
            started.ensemble.start();
            started.ensemble.awaitServing(PATIENCE);
            return started;
        } catch (Exception | Error e) {
            started.close();
            throw e;
        }
    }

    ServerProcess server(int id) {
        return ensemble.server(id);
    }

    FsyncShim shim(int id) {
        return ensemble.shim(id).orElseThrow();
    }

    String connectString() {
        return ensemble.connectString();
    }

    // ---- Who is there ----

    /** Servers whose process runs and is not paused. */
    List<Integer> running() {
        return ensemble.servers().stream()
                .filter(ServerProcess::isAlive)
                .map(ServerProcess::id)
                .filter(id -> !paused.contains(id))
                .toList();
    }

    /** Waits until one of the running servers leads. */
    int leader() {
        int[] found = new int[1];
        await(
                "a leader",
                () -> {
                    found[0] =
                            running().stream()
                                    .filter(id -> role(id).equals("leader"))
                                    .findFirst()
                                    .orElse(0);
                    return found[0] != 0;
                });
        return found[0];
    }

    /** The running servers that follow now, lowest id first. */
    List<Integer> followers() {
        return running().stream().filter(id -> role(id).equals("follower")).toList();
    }

    /** Waits until all running servers serve clients. */
    void awaitServing() {
        await(
                "serving",
                () -> {
                    List<String> roles = running().stream().map(this::role).toList();
                    return !roles.contains("") && roles.contains("leader");
                });
    }

    // ---- What they say ----

    /**
     * What a failed test says of each server: its role and mode, or that it does not answer. The
     * stacks of its threads are in its log then.
     */
    List<String> diagnose() throws IOException, InterruptedException {
        List<String> said = new ArrayList<>();
        for (ServerProcess server : ensemble.servers()) {
            if (!server.isAlive()) {
                said.add(server + " is down");
            } else if (paused.contains(server.id())) {
                said.add(server + " is paused");
            } else {
                Map<String, String> metrics = server.mntr();
                said.add(
                        "%s: role '%s', mode %s, recovery %s, %s outstanding requests"
                                .formatted(
                                        server,
                                        server.role(),
                                        metrics.get("zk_saucr_mode"),
                                        metrics.get("zk_saucr_recovery_state"),
                                        metrics.get("zk_outstanding_requests")));
                server.threads();
            }
        }
        return said;
    }

    /** The answer to a four-letter word; empty if nothing listens, or not in time. */
    String ask(int id, String word) {
        ServerAddress address = server(id).address();
        try {
            return FourLetterWord.ask(address.clientHost(), address.clientPort(), word, ANSWER);
        } catch (IOException e) {
            return "";
        }
    }

    /** leader, follower, observer or standalone; empty if it serves no client now. */
    String role(int id) {
        return line(id, "Mode: ");
    }

    /** The last zxid that it has applied, as it writes it; empty if it serves no client now. */
    String lastZxid(int id) {
        return line(id, "Zxid: ");
    }

    /** The rest of the line of {@code srvr} that begins with these words. */
    private String line(int id, String beginning) {
        return ask(id, "srvr")
                .lines()
                .filter(line -> line.startsWith(beginning))
                .map(line -> line.substring(beginning.length()).strip())
                .findFirst()
                .orElse("");
    }

    /** The answer to {@code mntr}; empty if nothing listens, or not in time. */
    Map<String, String> mntr(int id) {
        return FourLetterWord.table(ask(id, "mntr"));
    }

    /** A metric of {@code mntr}; -1 while the server does not tell. */
    long metric(int id, String name) {
        return number(mntr(id), name);
    }

    private static long number(Map<String, String> metrics, String name) {
        // With Prometheus as the provider, mntr writes decimal fractions.
        return new BigDecimal(metrics.getOrDefault(name, "-1")).longValueExact();
    }

    boolean fast(int leader) {
        return metric(leader, "zk_saucr_mode") == 1;
    }

    /** Waits until whoever leads is in fast mode. Returns the leader. */
    int awaitFast() {
        int[] found = new int[1];
        await(
                "fast mode",
                () -> {
                    for (int id : running()) {
                        Map<String, String> metrics = mntr(id);
                        if ("leader".equals(metrics.get("zk_server_state"))
                                && number(metrics, "zk_saucr_mode") == 1) {
                            found[0] = id;
                        }
                    }
                    return found[0] != 0;
                });
        return found[0];
    }

    void awaitSlow(int leader) {
        await("slow mode", () -> metric(leader, "zk_saucr_mode") == 0);
    }

    /** Waits until a crash of all servers would lose nothing (R13's idle marker). */
    void awaitOnDisk(List<Integer> ids) {
        await(
                "everything on disk",
                () -> ids.stream().allMatch(id -> metric(id, "zk_saucr_on_disk") == 1));
    }

    /**
     * Waits until a crash of this server would be one in fast mode (R12). Clients must write
     * meanwhile: if a busy machine made the ensemble slow for a moment, everything is on disk until
     * the next fast write.
     */
    void awaitMemoryAlone(int id) {
        await("entries in memory alone", () -> markers(id).crashedInFastMode());
    }

    /** The markers as they are on the server's disk now. */
    Markers markers(int id) throws IOException {
        Path logs = server(id).dataDirectory().resolve("version-2");
        try {
            long fastSwitch = 0;
            try {
                fastSwitch =
                        MarkerFile.decodeFastSwitch(
                                Files.readAllBytes(logs.resolve("saucr.fastSwitch")));
            } catch (NoSuchFileException e) {
                fastSwitch = 0;
            }
            MarkerFile.LatestOnDisk latest =
                    new MarkerFile.LatestOnDisk(0, LleMap.empty(), View.FIRST);
            try {
                latest =
                        MarkerFile.decodeLatestOnDisk(
                                Files.readAllBytes(logs.resolve("saucr.latestOnDisk")));
            } catch (NoSuchFileException e) {
                // No marker was written yet.
            }
            return new Markers(fastSwitch, latest.zxid(), latest.lleMap(), latest.view());
        } catch (MalformedMarkerException e) {
            throw new IOException("server " + id + ": " + e.getMessage(), e);
        }
    }

    /** The identity of the log folder on the server's disk now. */
    LogIdentity identity(int id) throws IOException {
        Path file = server(id).dataDirectory().resolve("version-2/saucr.identity");
        try {
            return MarkerFile.decodeIdentity(Files.readAllBytes(file));
        } catch (MalformedMarkerException e) {
            throw new IOException("server " + id + ": " + e.getMessage(), e);
        }
    }

    /** The lines of the server's log that were written at or after a time and contain the words. */
    List<LogLine> log(int id, LocalTime from, String words) throws IOException {
        return log(id, line -> line.text().contains(words) && !line.time().isBefore(from));
    }

    private List<LogLine> log(int id, Predicate<LogLine> wanted) throws IOException {
        List<LogLine> found = new ArrayList<>();
        for (String line : Files.readAllLines(server(id).logFile())) {
            if (line.length() > LOG_TIME_LENGTH && line.charAt(2) == ':' && line.charAt(8) == '.') {
                LocalTime time = LocalTime.parse(line.substring(0, LOG_TIME_LENGTH), LOG_TIME);
                LogLine parsed = new LogLine(time, line.substring(LOG_TIME_LENGTH + 1));
                if (wanted.test(parsed)) {
                    found.add(parsed);
                }
            }
        }
        return found;
    }

    /** The time as servers write it into their logs: whole milliseconds, rounded down. */
    static LocalTime now() {
        return LocalTime.parse(LocalTime.now(ZoneId.systemDefault()).format(LOG_TIME), LOG_TIME);
    }

    // ---- What happens to them ----

    /**
     * SIGKILL, one after the other; each process has ended when this returns. Their machines run
     * on: what they had written is in the page cache.
     */
    void kill(Integer... ids) {
        for (int id : ids) {
            server(id).kill();
        }
    }

    /**
     * SIGTERM, one after the other, as an operator stops them; each has ended when this returns.
     */
    void terminate(Integer... ids) throws IOException {
        for (int id : ids) {
            assertThat(server(id).terminate(PATIENCE)).as("end of server %d", id).isTrue();
        }
    }

    /** Waits until a server has ended by itself, with the exit status of a failure. */
    void awaitFailure(int id) {
        await("the end of server " + id, () -> !server(id).isAlive());
        assertThat(server(id).exitStatus().orElseThrow()).isNotZero();
    }

    /** SIGKILL for all of them at one instant, so that none sees another one end. */
    void killAtOneInstant(Integer... ids) throws IOException {
        Signal.STOP.send(Arrays.stream(ids).map(id -> server(id).pid()).toList());
        kill(ids);
    }

    /**
     * A power cut of all of them at one instant. Their disks keep what was forced, and at the next
     * start the machine has another boot id. The servers need shims with journals.
     */
    void losePower(Integer... ids) throws IOException {
        killAtOneInstant(ids);
        for (int id : ids) {
            shim(id).losePower(false);
        }
    }

    /**
     * Takes a server's power while it has writes in memory alone, so that it has to recover. A busy
     * machine may make the ensemble slow in the last moment: then nothing is lost, and the server
     * comes back and loses its power once more.
     *
     * @return when the power went that took writes along
     */
    LocalTime losePowerInFastMode(int id) throws Exception {
        for (int tried = 0; tried < MOST_POWER_CUTS; tried++) {
            awaitFast();
            Integer[] others =
                    running().stream().filter(other -> other != id).toArray(Integer[]::new);
            try (Client client = connect(others)) {
                await(
                        "entries in memory alone",
                        () -> {
                            try {
                                client.setData("/", new byte[0], -1);
                            } catch (KeeperException.ConnectionLossException e) {
                                return false; // It connects again.
                            }
                            return markers(id).crashedInFastMode();
                        });
            }
            LocalTime cut = now();
            losePower(id);
            if (markers(id).crashedInFastMode()) {
                return cut;
            }
            restart(id);
            awaitServing();
        }
        throw new AssertionError(
                "Server " + id + " had everything on its disk at " + MOST_POWER_CUTS + " deaths");
    }

    /** Clients write until every server has writes in memory alone; then all processes die. */
    AckedWrites writeAndDie() throws Exception {
        AckedWrites writes =
                new AckedWrites(connect(awaitFast()), "/writes-" + System.nanoTime(), 16);
        try (writes) {
            writes.awaitMore(500);
            for (int id : all()) {
                awaitMemoryAlone(id);
            }
            killAtOneInstant(all().toArray(Integer[]::new));
        }
        return writes;
    }

    /** Pins all running servers to slow mode until they end, by SIGPWR. */
    void pinSlow() throws IOException {
        Signal.PWR.send(running().stream().map(id -> server(id).pid()).toList());
        for (int id : running()) {
            await("the pin", () -> metric(id, "zk_saucr_pinned_slow") == 1);
        }
    }

    /** Cuts the padding, and that many bytes before it, from a dead server's newest log. */
    void cutLog(int id, int bytes) throws IOException {
        Path newest = newestLog(id);
        try (FileChannel channel = FileChannel.open(newest, StandardOpenOption.WRITE)) {
            channel.truncate(endOf(newest) - bytes);
        }
    }

    /** Zeros a page that begins that many bytes before the end of a dead server's newest log. */
    void zeroPageOfLog(int id, int beforeEnd) throws IOException {
        Path newest = newestLog(id);
        int page = (endOf(newest) - beforeEnd) / PAGE_BYTES * PAGE_BYTES;
        try (FileChannel channel = FileChannel.open(newest, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(PAGE_BYTES), page);
        }
    }

    private Path newestLog(int id) throws IOException {
        return logFiles(id).stream()
                .max(Comparator.comparingLong(SaucrEnsemble::zxidOf))
                .orElseThrow();
    }

    /** A server's log files, in any order. */
    List<Path> logFiles(int id) throws IOException {
        return files(id, "log.");
    }

    /** A server's snapshots, the oldest first. */
    List<Path> snapshots(int id) throws IOException {
        return files(id, "snapshot.").stream()
                .sorted(Comparator.comparingLong(SaucrEnsemble::zxidOf))
                .toList();
    }

    private List<Path> files(int id, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(server(id).dataDirectory().resolve("version-2"))) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix)).toList();
        }
    }

    /** Where the last entry ends: the file is padded with zeros behind it. */
    private static int endOf(Path log) throws IOException {
        byte[] content = Files.readAllBytes(log);
        int end = content.length;
        while (content[end - 1] == 0) {
            end--;
        }
        return end;
    }

    /** The zxid that a log file or a snapshot is named after. */
    static long zxidOf(Path file) {
        String name = file.getFileName().toString();
        return Long.parseLong(name.substring(name.indexOf('.') + 1), 16);
    }

    void restart(Integer... ids) throws IOException {
        for (int id : ids) {
            server(id).start();
        }
    }

    void pause(Integer... ids) throws IOException {
        for (int id : ids) {
            paused.add(id);
            server(id).pause();
        }
    }

    void resume(Integer... ids) throws IOException {
        for (int id : ids) {
            server(id).resume();
            paused.remove(id);
        }
    }

    // ---- Clients ----

    /** A connected client of the given servers, or of all if none is given. */
    Client connect(Integer... ids) throws IOException, InterruptedException {
        return connectFor(SESSION_MILLIS, ids);
    }

    /** The same with another session timeout. */
    Client connectFor(int sessionMillis, Integer... ids) throws IOException, InterruptedException {
        String addresses =
                ids.length == 0
                        ? connectString()
                        : Arrays.stream(ids)
                                .map(id -> server(id).address().client())
                                .collect(Collectors.joining(","));
        return Client.connected(addresses, sessionMillis);
    }

    /** All ids from 1 to n. */
    List<Integer> all() {
        return IntStream.rangeClosed(1, ensemble.size()).boxed().toList();
    }

    /** Waits until the condition holds, which is asked more and more rarely. */
    static void await(String what, Callable<Boolean> condition) {
        long start = System.nanoTime();
        Awaitility.await(what)
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(
                        (polls, last) ->
                                Deadline.pauseAfter(Duration.ofNanos(System.nanoTime() - start)))
                .until(condition);
    }

    @Override
    public void close() {
        ensemble.close();
    }
}
