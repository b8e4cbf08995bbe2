package io.saucr.crash.nemesis;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.nemesis.NemesisOutcome.Injected;
import io.saucr.crash.nemesis.NemesisOutcome.Refusal;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Explanation;
import io.saucr.ensemble.FsyncShim.WriteError;
import io.saucr.ensemble.LeaderMove;
import io.saucr.ensemble.Majority;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.Signal;
import io.saucr.history.HistoryRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Breaks servers and fixes them again, one fault at a time, and notes both in the history. Used by
 * one thread; waits no longer than until the end of the run.
 */
final class Nemesis {
    private static final Duration MOST_DELAY = Duration.ofMillis(100);

    /** Time between servers that end one after the other: enough for the others to notice. */
    private static final int ONE_BY_ONE_MILLIS = 500;

    private static final int MOST_REFUSED_WRITES = 3;

    private static final Duration MOST_UNTIL_KILLED = Duration.ofMillis(200);
    private static final int MOST_MILLIS_INTO_MOVE = 30;
    private static final Duration MOST_UNTIL_STOPPED = Duration.ofSeconds(10);

    /**
     * How often one server is started while all are waited for: one that refuses to start continues
     * refusing.
     */
    private static final int MOST_STARTS = 3;

    /** Longer than a start with an election takes; after that, the reason is asked for. */
    private static final Duration EXPLAIN_AFTER = Duration.ofSeconds(15);

    private final NemesisPlan plan;
    private final Ensemble ensemble;
    private final FaultBackend backend;
    private final HistoryRecorder recorder;
    private final Random random;
    private final boolean disksMayGoWithAll;
    private final long start;
    private final long end;

    /** Servers that this nemesis ended and has not started again. */
    private final Set<Integer> down = new TreeSet<>();

    private final List<Refusal> refusals = new ArrayList<>();
    private final List<Injected> injected = new ArrayList<>();

    /**
     * @param disksMayGoWithAll whether one may lose its disk while the others' processes are dead
     * @param start of {@link System#nanoTime} from which the times of faults and refusals count
     * @param end of {@link System#nanoTime} after which no fault begins
     */
    Nemesis(
            NemesisPlan plan,
            Ensemble ensemble,
            FaultBackend backend,
            HistoryRecorder recorder,
            boolean disksMayGoWithAll,
            long start,
            long end) {
        this.start = start;
        this.plan = plan;
        this.disksMayGoWithAll = disksMayGoWithAll;
        this.ensemble = ensemble;
        this.backend = backend;
        this.recorder = recorder;
        this.random = new Random(plan.seed());
        this.end = end;
    }

    /** Fault after fault until the end, each after all servers serve; leaves everything fixed. */
    void run() throws IOException, InterruptedException {
        hold(500, 2000);
        while (System.nanoTime() < end) {
            FaultKind kind = plan.kinds().get(random.nextInt(plan.kinds().size()));
            switch (kind) {
                case PARTITION -> partition();
                case PAUSE -> pause();
                case KILL -> crash(FaultKind.KILL);
                case POWER_CUT -> crash(FaultKind.POWER_CUT);
                case PARTITION_AND_POWER_CUT -> partitionAndPowerCut();
                case SLOW_DISK -> slowDisk();
                case ALL_PROCESSES -> allProcesses();
                case REFUSED_WRITE -> refusedWrite();
                case HUNG_DISK -> hungDisk();
                case LOST_LOG -> lose(FaultKind.LOST_LOG);
                case LOST_DISK -> lose(FaultKind.LOST_DISK);
                case STOP -> stopInGoodOrder();
                case MOVE_LEADER -> moveLeader();
            }
            if (!awaitServing(Duration.ofNanos(Math.max(0, end - System.nanoTime())))) {
                return;
            }
            hold(500, 3000);
        }
    }

    /**
     * Waits; starts servers again that end meanwhile, as a supervisor would, and asks those that
     * take long why.
     *
     * @return whether every server serves, one of them as leader
     */
    boolean awaitServing(Duration limit) throws IOException, InterruptedException {
        return awaitServing(Set.of(), limit);
    }

    /** As the method above, for all servers but some, which are left as they are. */
    private boolean awaitServing(Set<Integer> without, Duration limit)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        long explain = System.nanoTime() + EXPLAIN_AFTER.toNanos();
        Map<Integer, Integer> starts = new HashMap<>();
        List<ServerProcess> wanted =
                ensemble.servers().stream()
                        .filter(server -> !without.contains(server.id()))
                        .toList();
        while (true) {
            List<String> roles = wanted.stream().map(ServerProcess::role).toList();
            if (!roles.contains("") && roles.contains("leader")) {
                return true;
            }
            for (ServerProcess server : wanted) {
                if (!server.isAlive()
                        && starts.merge(server.id(), 1, Integer::sum) <= MOST_STARTS) {
                    refuses(server);
                    start(List.of(server));
                }
            }
            if (System.nanoTime() > explain) {
                explain = Long.MAX_VALUE;
                for (ServerProcess server : wanted) {
                    if (server.role().isEmpty()) {
                        refuses(server);
                    }
                }
            }
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(50);
        }
    }

    private void refuses(ServerProcess server) throws IOException, InterruptedException {
        refusals.add(new Refusal(millis(), server.id(), Explanation.of(server)));
    }

    private long millis() {
        return (System.nanoTime() - start) / 1_000_000;
    }

    /** Brings about a fault or its end, and writes it down. */
    private void inject(String fault, List<Integer> ids, HistoryRecorder.Deed deed)
            throws IOException {
        injected.add(new Injected(millis(), fault, ids));
        recorder.nemesis(fault, ids, deed);
    }

    /** What is done to one server. */
    private interface ServerDeed {
        void run(int id) throws IOException;
    }

    /** As {@link #inject}, on one server after the other. */
    private void injectOnEach(String fault, List<Integer> ids, ServerDeed deed) throws IOException {
        inject(
                fault,
                ids,
                () -> {
                    for (int id : ids) {
                        deed.run(id);
                    }
                });
    }

    /** Faults and their ends, in order. */
    List<Injected> injected() {
        return List.copyOf(injected);
    }

    /** Servers that did not serve although nothing of this nemesis' kept them from it. */
    List<Refusal> refusals() {
        return List.copyOf(refusals);
    }

    /**
     * Lets a fault last for a random time. Every fault of a kind draws as often, so that the seed
     * also decides the faults after it.
     */
    private void hold(int leastMillis, int mostMillis) throws InterruptedException {
        int millis = leastMillis + random.nextInt(mostMillis - leastMillis + 1);
        long left = (end - System.nanoTime()) / 1_000_000;
        Thread.sleep(Math.max(0, Math.min(millis, left)));
    }

    /** All servers in random order; in half of the cases the leader comes first. */
    private List<Integer> shuffled() {
        List<Integer> ids = new ArrayList<>();
        for (int id = 1; id <= plan.servers(); id++) {
            ids.add(id);
        }
        Collections.shuffle(ids, random);
        boolean favour = random.nextBoolean();
        OptionalInt leader = ensemble.leader();
        if (favour && leader.isPresent() && ids.remove((Integer) leader.getAsInt())) {
            ids.add(0, leader.getAsInt());
        }
        return ids;
    }

    private int minority() {
        return Majority.spares(plan.servers());
    }

    private void partition() throws IOException, InterruptedException {
        List<Integer> ids = shuffled();
        List<Integer> few = ids.subList(0, 1 + random.nextInt(Majority.of(plan.servers()) - 1));
        separate(few);
        hold(500, 9000);
        heal();
    }

    private void separate(List<Integer> few) throws IOException {
        Set<Integer> others = new TreeSet<>();
        ensemble.servers().forEach(server -> others.add(server.id()));
        others.removeAll(few);
        inject("partition", few, () -> backend.partition(List.of(new TreeSet<>(few), others)));
    }

    private void heal() throws IOException {
        inject("heal", List.of(), backend::heal);
    }

    private void pause() throws IOException, InterruptedException {
        int count = 1 + random.nextInt(random.nextBoolean() ? minority() : plan.servers());
        List<Integer> ids = shuffled().subList(0, count);
        injectOnEach("pause", ids, id -> ensemble.server(id).pause());
        hold(100, 7000);
        injectOnEach("resume", ids, id -> ensemble.server(id).resume());
    }

    private void crash(FaultKind kind) throws IOException, InterruptedException {
        List<Integer> ids = shuffled();
        int minority = 1 + random.nextInt(minority());
        switch (random.nextInt(3)) {
            case 0 -> crashAtOnce(kind, ids.subList(0, minority));
            case 1 -> crashAtOnce(kind, ids.subList(0, Majority.of(plan.servers())));
            default -> {
                for (int id : ids) {
                    crashAtOnce(kind, List.of(id));
                    Thread.sleep(ONE_BY_ONE_MILLIS);
                }
            }
        }
        hold(0, 4000);
        restart();
    }

    private void crashAtOnce(FaultKind kind, List<Integer> ids) throws IOException {
        List<ServerProcess> servers = ids.stream().map(ensemble::server).toList();
        down.addAll(ids);
        inject(
                kind.toString(),
                ids,
                () -> {
                    if (kind == FaultKind.POWER_CUT) {
                        backend.powerCut(servers);
                    } else {
                        servers.forEach(ServerProcess::kill);
                    }
                });
    }

    private void restart() throws IOException, InterruptedException {
        List<ServerProcess> dead =
                ensemble.servers().stream().filter(server -> !server.isAlive()).toList();
        for (ServerProcess server : dead) {
            if (!down.contains(server.id())) {
                refuses(server);
            }
        }
        start(dead);
    }

    private void start(List<ServerProcess> servers) throws IOException {
        inject(
                "start",
                servers.stream().map(ServerProcess::id).toList(),
                () -> {
                    for (ServerProcess server : servers) {
                        server.start();
                        down.remove(server.id());
                    }
                });
    }

    private void stopInGoodOrder() throws IOException, InterruptedException {
        List<Integer> ids = shuffled().subList(0, 1 + random.nextInt(minority()));
        boolean killed = random.nextBoolean();
        Duration patience =
                Duration.ofMillis(random.nextInt((int) MOST_UNTIL_KILLED.toMillis()))
                        .plus(killed ? Duration.ZERO : MOST_UNTIL_STOPPED);
        down.addAll(ids);
        injectOnEach(
                FaultKind.STOP.toString(),
                ids,
                id -> {
                    if (!ensemble.server(id).terminate(patience)) {
                        ensemble.server(id).kill();
                    }
                });
        hold(0, 4000);
        restart();
    }

    private void moveLeader() throws IOException, InterruptedException {
        List<Integer> ids = shuffled();
        int disturbance = random.nextInt(4);
        int millis = random.nextInt(MOST_MILLIS_INTO_MOVE);
        OptionalInt leads = ensemble.leader();
        if (leads.isEmpty()) {
            hold(0, 4000);
            return;
        }
        int leader = leads.getAsInt();
        int to = ids.stream().filter(id -> id != leader).findFirst().orElseThrow();
        AtomicReference<String> answer = new AtomicReference<>();
        Thread moving =
                new Thread(() -> answer.set(move(ensemble.server(leader), to)), "moves the leader");
        inject(FaultKind.MOVE_LEADER.toString(), List.of(leader, to), moving::start);
        Thread.sleep(millis);
        boolean paused = disturbance == 2;
        switch (disturbance) {
            case 0 -> crashAtOnce(FaultKind.KILL, List.of(leader));
            case 1 -> crashAtOnce(FaultKind.KILL, List.of(to));
            case 2 -> injectOnEach("pause", List.of(to), id -> ensemble.server(id).pause());
            default -> {}
        }
        moving.join();
        inject(answer.get(), List.of(leader, to), () -> {});
        hold(0, 4000);
        if (paused) {
            injectOnEach("resume", List.of(to), id -> ensemble.server(id).resume());
        }
        restart();
    }

    /** What came of it, as histories name it. */
    private static String move(ServerProcess leader, int to) {
        try {
            return LeaderMove.order(leader, to).isEmpty() ? "moved" : "not-moved";
        } catch (IOException e) {
            // It was killed in the middle.
            return "move-unanswered";
        }
    }

    private void partitionAndPowerCut() throws IOException, InterruptedException {
        List<Integer> ids = shuffled();
        // With one more server gone the others are still a majority.
        int cutOff = Math.max(1, minority() - 1);
        List<Integer> few = ids.subList(0, cutOff);
        separate(few);
        hold(200, 4000);
        boolean either = random.nextBoolean();
        crashAtOnce(
                FaultKind.POWER_CUT,
                List.of(either ? ids.get(0) : ids.get(cutOff + random.nextInt(2))));
        hold(200, 4000);
        if (random.nextBoolean()) {
            restart();
            heal();
        } else {
            heal();
            restart();
        }
    }

    private void slowDisk() throws IOException, InterruptedException {
        List<Integer> ids = shuffled().subList(0, 1 + random.nextInt(plan.servers()));
        injectOnEach(
                "slow-disk",
                ids,
                id -> {
                    int millis = random.nextInt((int) MOST_DELAY.toMillis() + 1);
                    backend.shim(id).delay(Duration.ofMillis(millis));
                });
        hold(500, 6000);
        injectOnEach("fast-disk", ids, id -> backend.shim(id).delay(Duration.ZERO));
    }

    /**
     * Kills all processes at one instant: none sees another one end, and none has time to write
     * anything down.
     */
    private void killAll() throws IOException {
        List<ServerProcess> running =
                ensemble.servers().stream().filter(ServerProcess::isAlive).toList();
        List<Integer> ids = running.stream().map(ServerProcess::id).toList();
        down.addAll(ids);
        inject(
                FaultKind.ALL_PROCESSES.toString(),
                ids,
                () -> {
                    Signal.KILL.send(running.stream().map(ServerProcess::pid).toList());
                    running.forEach(ServerProcess::kill);
                });
    }

    private void allProcesses() throws IOException, InterruptedException {
        killAll();
        hold(0, 2000);
        restart();
    }

    private void refusedWrite() throws IOException, InterruptedException {
        List<Integer> ids = shuffled().subList(0, 1 + random.nextInt(minority()));
        WriteError error = random.nextBoolean() ? WriteError.NO_SPACE : WriteError.IO;
        int writes = 1 + random.nextInt(MOST_REFUSED_WRITES);
        injectOnEach(
                FaultKind.REFUSED_WRITE.toString(),
                ids,
                id -> backend.shim(id).refuseWrites(writes, error));
        hold(500, 4000);
        injectOnEach("mended-disk", ids, id -> backend.shim(id).refuseWrites(0, error));
    }

    private void hungDisk() throws IOException, InterruptedException {
        int count = 1 + random.nextInt(random.nextBoolean() ? minority() : plan.servers());
        List<Integer> ids = shuffled().subList(0, count);
        injectOnEach(FaultKind.HUNG_DISK.toString(), ids, id -> backend.shim(id).hang(true));
        hold(1000, 8000);
        injectOnEach("mended-disk", ids, id -> backend.shim(id).hang(false));
    }

    private void lose(FaultKind kind) throws IOException, InterruptedException {
        int victim = shuffled().get(0);
        boolean all = random.nextBoolean() && disksMayGoWithAll;
        boolean folderStays = random.nextBoolean();
        boolean lost = true;
        if (all) {
            killAll();
        } else {
            boolean disk = kind == FaultKind.LOST_DISK;
            crashAtOnce(disk ? FaultKind.POWER_CUT : FaultKind.KILL, List.of(victim));
            // A server without this kind of memory must not vote until the others have a leader.
            Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
            lost = awaitServing(Set.of(victim), left);
        }
        if (lost) {
            Path disk = backend.dataDirectory(victim);
            Path folder = kind == FaultKind.LOST_LOG ? NemesisRunner.logs(disk) : disk;
            inject(
                    kind.toString(),
                    List.of(victim),
                    () -> {
                        backend.lose(victim, folder);
                        if (folderStays) {
                            Files.createDirectories(folder);
                        }
                    });
        }
        hold(0, 2000);
        restart();
    }
}
