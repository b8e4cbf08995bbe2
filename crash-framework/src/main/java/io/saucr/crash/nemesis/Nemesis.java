package io.saucr.crash.nemesis;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.history.HistoryRecorder;
import io.saucr.crash.process.Ensemble;
import io.saucr.crash.process.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * Breaks servers and mends them again, one fault at a time, and notes both in the history. Used by
 * one thread; waits no longer than until the end of the run.
 */
final class Nemesis {
    private static final Duration MOST_DELAY = Duration.ofMillis(100);

    /** Between servers that go one after the other: enough for the others to notice. */
    private static final int ONE_BY_ONE_MILLIS = 500;

    private final NemesisPlan plan;
    private final Ensemble ensemble;
    private final FaultBackend backend;
    private final HistoryRecorder recorder;
    private final Random random;
    private final long end;

    /**
     * @param end of {@link System#nanoTime} after which no fault begins
     */
    Nemesis(
            NemesisPlan plan,
            Ensemble ensemble,
            FaultBackend backend,
            HistoryRecorder recorder,
            long end) {
        this.plan = plan;
        this.ensemble = ensemble;
        this.backend = backend;
        this.recorder = recorder;
        this.random = new Random(plan.seed());
        this.end = end;
    }

    /** Fault after fault until the end, each after all servers serve; leaves everything mended. */
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
            }
            if (!awaitServing(Duration.ofNanos(Math.max(0, end - System.nanoTime())))) {
                return;
            }
            hold(500, 3000);
        }
    }

    /**
     * @return whether every server serves, one of them as leader
     */
    boolean awaitServing(Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            List<String> roles = ensemble.servers().stream().map(ServerProcess::role).toList();
            if (!roles.contains("") && roles.contains("leader")) {
                return true;
            }
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(50);
        }
    }

    /** Drawn from the seed, the same number of times for every fault of a kind. */
    private void hold(int leastMillis, int mostMillis) throws InterruptedException {
        int millis = leastMillis + random.nextInt(mostMillis - leastMillis + 1);
        long left = (end - System.nanoTime()) / 1_000_000;
        Thread.sleep(Math.max(0, Math.min(millis, left)));
    }

    /** In random order, the leader as likely as not among the first. */
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
        return (plan.servers() - 1) / 2;
    }

    private void partition() throws IOException, InterruptedException {
        List<Integer> ids = shuffled();
        List<Integer> few = ids.subList(0, 1 + random.nextInt(plan.servers() / 2));
        separate(few);
        hold(500, 9000);
        heal();
    }

    private void separate(List<Integer> few) throws IOException {
        Set<Integer> others = new TreeSet<>();
        ensemble.servers().forEach(server -> others.add(server.id()));
        others.removeAll(few);
        recorder.nemesis("partition", few);
        backend.partition(List.of(new TreeSet<>(few), others));
    }

    private void heal() throws IOException {
        backend.heal();
        recorder.nemesis("heal", List.of());
    }

    private void pause() throws IOException, InterruptedException {
        int count = 1 + random.nextInt(random.nextBoolean() ? minority() : plan.servers());
        List<Integer> ids = shuffled().subList(0, count);
        recorder.nemesis("pause", ids);
        for (int id : ids) {
            ensemble.server(id).pause();
        }
        hold(100, 7000);
        for (int id : ids) {
            ensemble.server(id).resume();
        }
        recorder.nemesis("resume", ids);
    }

    private void crash(FaultKind kind) throws IOException, InterruptedException {
        List<Integer> ids = shuffled();
        int minority = 1 + random.nextInt(minority());
        switch (random.nextInt(3)) {
            case 0 -> crashAtOnce(kind, ids.subList(0, minority));
            case 1 -> crashAtOnce(kind, ids.subList(0, plan.servers() / 2 + 1));
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
        recorder.nemesis(kind.toString(), ids);
        List<ServerProcess> servers = ids.stream().map(ensemble::server).toList();
        if (kind == FaultKind.POWER_CUT) {
            backend.powerCut(servers);
        } else {
            servers.forEach(ServerProcess::kill);
        }
    }

    private void restart() throws IOException {
        List<Integer> ids = new ArrayList<>();
        for (ServerProcess server : ensemble.servers()) {
            if (!server.isAlive()) {
                ids.add(server.id());
                server.start();
            }
        }
        recorder.nemesis("start", ids);
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
        recorder.nemesis("slow-disk", ids);
        for (int id : ids) {
            backend.shim(id)
                    .delay(Duration.ofMillis(random.nextInt((int) MOST_DELAY.toMillis() + 1)));
        }
        hold(500, 6000);
        for (int id : ids) {
            backend.shim(id).delay(Duration.ZERO);
        }
        recorder.nemesis("fast-disk", ids);
    }
}
