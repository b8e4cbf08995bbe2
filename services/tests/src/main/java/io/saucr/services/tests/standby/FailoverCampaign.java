package io.saucr.services.tests.standby;

import io.saucr.history.HistoryRecorder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Members of a service as processes, whose primary is killed, stopped and asked to hand over, again
 * and again, while clients write, swap and read. How long each time until the next answer; at the
 * end the clients' history has to be linearizable; of an asynchronous service each write that was
 * answered has to be there, or announced as lost to who was told of it, and losses bounded.
 */
@Command(
        name = "saucr-services-failover",
        mixinStandardHelpOptions = true,
        description =
                "Takes the primary of a service with standbys away, again and again, and measures how"
                        + " long clients wait; ends with 1 after a violation.")
public final class FailoverCampaign implements Callable<Integer> {

    private static final int TICK_MILLIS = 500;
    private static final int WITH_EACH_REGISTER = 4;

    /** Who looks on hears so often how far it is. */
    private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** How the primary goes. */
    enum Way {
        KILL,
        /** Stopped until its successor has served; then it wakes. */
        FREEZE,
        HANDOVER,
        /** All members at once; then all start again. */
        KILL_ALL
    }

    @Option(names = "--members", description = "of the service; preset: ${DEFAULT-VALUE}")
    private int members = 3;

    @Option(names = "--clients", description = "preset: ${DEFAULT-VALUE}")
    private int clients = 4;

    @Option(names = "--failovers", description = "of each way; preset: ${DEFAULT-VALUE}")
    private int failovers = 100;

    @Option(
            names = "--ways",
            split = ",",
            description = "some of ${COMPLETION-CANDIDATES}; preset: all")
    private List<Way> ways = List.of(Way.values());

    @Option(names = "--fast", description = "with Protection.standby().fast()")
    private boolean fast;

    @Option(
            names = "--async",
            description =
                    "with Protection.standby().every(...) of so many ms: losses are announced and of"
                            + " one lease, instead of a linearizable history")
    private long async;

    @Mixin private Filling filling;

    @Option(names = "--seed", description = "preset: ${DEFAULT-VALUE}")
    private long seed = 1;

    @Option(
            names = "--out",
            description = "new folder for folders, logs and history",
            required = true)
    private Path out;

    @Spec private CommandLine.Model.CommandSpec spec;

    private String place;
    private Outcome<Way> outcome;
    private long leaseMillis;
    private long frozenNanos;
    private long longestFrozenMillis;
    private final HistoryRecorder recorder = new HistoryRecorder();
    private final List<MemberProcess> all = new ArrayList<>();

    /** Ends with 1 if there was a violation, with 2 after wrong usage. */
    public static void main(String[] args) {
        System.exit(
                new CommandLine(new FailoverCampaign())
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .execute(args));
    }

    @Override
    public Integer call() throws Exception {
        if (members < 2 || clients < 1 || failovers < 1 || async < 0) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "--members is 2 or more, --clients and --failovers are 1 or more, --async is 0"
                            + " or more");
        }
        filling.check(spec.commandLine());
        try {
            leaseMillis = StandbyProgram.protection(2, fast, async, Optional.empty()).leaseMillis();
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--async: " + e.getMessage(), e);
        }
        if (Files.exists(out)) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), out + " is there already: name a new folder with --out");
        }
        outcome =
                new Outcome<>(
                        out,
                        Map.of(
                                "members", members,
                                "clients", clients,
                                "fast", fast,
                                "async", async,
                                "entries", filling.entries(),
                                "entryBytes", filling.bytes(),
                                "jvm", filling.jvm(),
                                "seed", seed));
        Path data = Files.createDirectories(out.resolve("zookeeper"));
        NIOServerCnxnFactory ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 500);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        place = "127.0.0.1:" + ensemble.getLocalPort() + "/registers";
        boolean whole;
        try (RegisterClients asking = new RegisterClients(place, recorder)) {
            Ledger ledger = new Ledger(place, asking::tell);
            for (int i = 0; i < members; i++) {
                all.add(
                        new MemberProcess(
                                place, out.resolve("member-" + i), 2, fast, async, filling.jvm()));
            }
            filling.fill(place);
            if (async > 0) {
                try (ledger) {
                    ledger.begin(clients);
                    run(asking, ledger::answered);
                    boolean bounded = outcome.isBounded(ledger, leaseMillis + longestFrozenMillis);
                    return bounded && filling.isThere(place) ? 0 : 1;
                }
            }
            asking.begin(clients, seed);
            run(asking, asking::answered);
            whole = filling.isThere(place);
        } finally {
            all.forEach(MemberProcess::close);
            ensemble.shutdown();
        }
        outcome.print();
        return outcome.isLinearizable(recorder.history()) && whole ? 0 : 1;
    }

    private void run(RegisterClients asking, LongSupplier answered) throws Exception {
        Random random = new Random(seed);
        List<Way> order = new ArrayList<>();
        ways.forEach(it -> order.addAll(Collections.nCopies(failovers, it)));
        Collections.shuffle(order, random);
        int done = 0;
        long told = System.nanoTime();
        for (Way way : order) {
            if (async == 0 && done % WITH_EACH_REGISTER == 0) {
                asking.nextRegisters();
            }
            awaitReady();
            // Else no turn is ever made final by an asynchronous service.
            Thread.sleep(random.nextInt(100) + 3 * async);
            outcome.waited(way, strike(way, asking));
            asking.check();
            if (++done % 20 == 0 || System.nanoTime() - told > TELL_NANOS) {
                told = System.nanoTime();
                System.out.println(
                        done
                                + " of "
                                + order.size()
                                + " failovers, "
                                + answered.getAsLong()
                                + " calls");
                outcome.print();
            }
        }
    }

    /**
     * The primary and as many standbys as there are other members, each with all segments, on its
     * disk and in its state.
     */
    private void awaitReady() throws Exception {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(filling.patienceSeconds());
        while (!isReady()) {
            if (System.nanoTime() > until) {
                throw new IllegalStateException(
                        "no primary with all standbys after "
                                + filling.patienceSeconds()
                                + " s; see the logs in "
                                + out);
            }
            Thread.sleep(20);
        }
    }

    private boolean isReady() throws IOException {
        return Statuses.areReady(statuses(), members - 1);
    }

    private Map<MemberProcess, Map<String, String>> statuses() throws IOException {
        Map<MemberProcess, Map<String, String>> statuses = new HashMap<>();
        for (MemberProcess each : all) {
            statuses.put(each, each.status());
        }
        return statuses;
    }

    private MemberProcess primary() throws IOException {
        return Statuses.inOffice(statuses())
                .orElseThrow(() -> new IllegalStateException("no member is primary"));
    }

    private double strike(Way way, RegisterClients asking) throws Exception {
        MemberProcess primary = primary();
        int index = all.indexOf(primary);
        List<Integer> whom = List.of(index);
        CompletableFuture<Double> next;
        switch (way) {
            case KILL -> {
                recorder.nemesis("kill", whom, () -> kill(List.of(primary)));
                next = asking.nextAnswer();
            }
            case FREEZE -> {
                frozenNanos = System.nanoTime();
                recorder.nemesis("freeze", whom, () -> freeze(primary, true));
                next = asking.nextAnswer();
            }
            case HANDOVER -> {
                next = asking.nextAnswer();
                recorder.nemesis("handover", whom, primary::handOver);
            }
            case KILL_ALL -> {
                recorder.nemesis("kill", indexes(), () -> kill(all));
                next = asking.nextAnswer();
                for (MemberProcess each : all) {
                    each.start();
                }
            }
            default -> throw new IllegalStateException("no way " + way);
        }
        double waited = next.get(filling.patienceSeconds(), TimeUnit.SECONDS);
        switch (way) {
            case KILL -> primary.start();
            case FREEZE -> {
                recorder.nemesis("thaw", whom, () -> freeze(primary, false));
                long frozenMillis = (System.nanoTime() - frozenNanos) / 1_000_000;
                longestFrozenMillis = Math.max(longestFrozenMillis, frozenMillis);
            }
            default -> {}
        }
        return waited;
    }

    private List<Integer> indexes() {
        List<Integer> indexes = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            indexes.add(i);
        }
        return indexes;
    }

    private static void kill(List<MemberProcess> whom) throws IOException {
        try {
            for (MemberProcess each : whom) {
                each.kill();
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static void freeze(MemberProcess whom, boolean frozen) throws IOException {
        try {
            whom.freeze(frozen);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
