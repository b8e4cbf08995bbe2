package io.saucr.services.tests.standby;

import io.saucr.ensemble.Deadline;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
public final class FailoverCampaign extends StandbyCampaign<FailoverCampaign.Way> {

    private static final int TICK_MILLIS = 500;

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

    @Option(names = "--failovers", description = "of each way; preset: ${DEFAULT-VALUE}")
    private int failovers = 100;

    @Option(
            names = "--ways",
            split = ",",
            description = "some of ${COMPLETION-CANDIDATES}; preset: all")
    private List<Way> ways = List.of(Way.values());

    private final List<MemberProcess> all = new ArrayList<>();

    /** Ends with 1 if there was a violation, with 2 after wrong usage. */
    public static void main(String[] args) {
        System.exit(execute(new FailoverCampaign(), args));
    }

    @Override
    public Integer call() throws Exception {
        require(members >= 2 && failovers >= 1, "--members is 2 or more, --failovers is 1 or more");
        checkUsage();
        Map<String, Object> settings = settings();
        settings.put("members", members);
        outcome = new Outcome<>(out, settings);
        Path data = Files.createDirectories(out.resolve("zookeeper"));
        NIOServerCnxnFactory ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 500);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        String place = "127.0.0.1:" + ensemble.getLocalPort() + "/registers";
        boolean kept;
        try {
            for (int i = 0; i < members; i++) {
                all.add(
                        new MemberProcess(
                                place, out.resolve("member-" + i), 2, fast, async, filling.jvm()));
            }
            kept = isKept(place, this::run);
        } finally {
            all.forEach(MemberProcess::close);
            ensemble.shutdown();
        }
        if (async == 0) {
            outcome.print();
        }
        return verdict(kept);
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
                System.out.printf(
                        "%d of %d failovers, %d calls%n", done, order.size(), answered.getAsLong());
                outcome.print();
            }
        }
    }

    /**
     * The primary and as many standbys as there are other members, each with all segments, on its
     * disk and in its state.
     */
    private void awaitReady() throws Exception {
        Deadline.await(
                Duration.ofSeconds(filling.patienceSeconds()),
                20,
                this::isReady,
                () ->
                        "no primary with all standbys after %s s; see the logs in %s"
                                .formatted(filling.patienceSeconds(), out));
    }

    private boolean isReady() {
        return Statuses.areReady(statuses(), members - 1);
    }

    private Map<MemberProcess, Map<String, String>> statuses() {
        return all.stream().collect(Collectors.toMap(each -> each, MemberProcess::status));
    }

    private MemberProcess primary() {
        return Statuses.inOffice(statuses())
                .orElseThrow(() -> new IllegalStateException("no member is primary"));
    }

    private double strike(Way way, RegisterClients asking) throws Exception {
        MemberProcess primary = primary();
        int index = all.indexOf(primary);
        List<Integer> whom = List.of(index);
        CompletableFuture<Double> next;
        long began = System.nanoTime();
        switch (way) {
            case KILL -> {
                recorder.nemesis("kill", whom, primary::kill);
                next = asking.nextAnswer();
            }
            case FREEZE -> {
                recorder.nemesis("freeze", whom, () -> primary.freeze(true));
                next = asking.nextAnswer();
            }
            case HANDOVER -> {
                next = asking.nextAnswer();
                recorder.nemesis("handover", whom, primary::handOver);
            }
            case KILL_ALL -> {
                recorder.nemesis("kill", indexes(), () -> all.forEach(MemberProcess::kill));
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
                recorder.nemesis("thaw", whom, () -> primary.freeze(false));
                stoodStill(began);
            }
            default -> {}
        }
        return waited;
    }

    private List<Integer> indexes() {
        return IntStream.range(0, all.size()).boxed().toList();
    }
}
