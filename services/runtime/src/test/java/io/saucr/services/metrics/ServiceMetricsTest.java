package io.saucr.services.metrics;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.saucr.services.Bank;
import io.saucr.services.Client;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.core.Limits;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a running service's metrics say, and that the page of the documents says the same. */
class ServiceMetricsTest {

    private static final Path PAGE = Path.of("../../docs/services/metrics.md");

    @TempDir private Path temp;

    private static double gauge(SimpleMeterRegistry registry, String name, String... tags) {
        return registry.get("saucr.services." + name).tags(tags).gauge().value();
    }

    @Test
    void whatHappensIsCounted() throws Exception {
        Limits once = new Limits(256, 1, true, 0, 0, 1_024, 3_600_000);
        Services place =
                Services.without("north", Map.of())
                        .folder(temp.resolve("north"))
                        .segmentBytes(1 << 20)
                        .limits(once);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        RunningService bank =
                place.run(
                        state -> new Bank(state, new ArrayList<>(), Set.of()), Protection.local());
        try (ServiceMetrics metrics = new ServiceMetrics(bank, Duration.ofMillis(20))) {
            metrics.bindTo(registry);
            Services toBank = Services.without("north", Map.of("north", bank.address()));
            try (Client teller = toBank.client("teller", temp.resolve("teller"))) {
                ask(teller, new Bank.Open("ann", 100));
                ask(teller, new Bank.Transfer("t1", "ann", "south", "bob", 30));
                assertThat(teller.send(new Bank.Poison("hot")))
                        .failsWithin(30, TimeUnit.SECONDS)
                        .withThrowableThat()
                        .withMessageContaining("hot");
                await().until(() -> gauge(registry, "dead.letters") == 1);
                await().until(() -> gauge(registry, "outbox", "peer", "south") == 1);
                await().until(() -> gauge(registry, "outbox.age", "peer", "south") > 0);
                await().until(() -> gauge(registry, "outbox", "peer", "#clients") == 0);
                await().until(() -> gauge(registry, "nonfinal.turns") == 0);
            }
            assertThat(gauge(registry, "nonfinal.bytes")).isZero();
            assertThat(gauge(registry, "journal.bytes")).isPositive();
            assertThat(gauge(registry, "fsync.last")).isPositive();
            assertThat(gauge(registry, "stopped")).isZero();
            assertThat(gauge(registry, "outputs")).isZero();
            assertThat(registry.get("saucr.services.turn.failed").counter().count()).isEqualTo(1);
            assertThat(registry.get("saucr.services.turn.again").counter().count()).isZero();
            assertThat(registry.get("saucr.services.turn.run").timer().count())
                    .isGreaterThanOrEqualTo(3);
            assertThat(registry.get("saucr.services.turn.final").timer().count())
                    .isGreaterThanOrEqualTo(2);
            assertThat(registry.get("saucr.services.fsync").timer().count()).isPositive();
            assertThat(documented()).isEqualTo(registered(registry));
        }
        bank.close();
    }

    private RunningService bank() throws Exception {
        return Services.without("north", Map.of())
                .folder(temp.resolve("north"))
                .run(state -> new Bank(state, new ArrayList<>(), Set.of()), Protection.local());
    }

    private static Client teller(RunningService bank) throws Exception {
        return Services.without("north", Map.of("north", bank.address())).client("teller");
    }

    /** A partition that left, and a member that ended, must not be shown as one that hangs. */
    @Test
    void closedMetricsLeaveNothingInAnyRegistry() throws Exception {
        SimpleMeterRegistry first = new SimpleMeterRegistry();
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        Counter other = first.counter("other", "service", "north");
        try (RunningService bank = bank()) {
            try (ServiceMetrics metrics = new ServiceMetrics(bank, Duration.ofMillis(20));
                    Client teller = teller(bank)) {
                metrics.bindTo(first);
                metrics.bindTo(second);
                ask(teller, new Bank.Open("ann", 100));
                await().until(() -> first.find("saucr.services.outbox").gauge() != null);
                await().until(() -> second.find("saucr.services.outbox.age").gauge() != null);
            }
            assertThat(first.getMeters()).containsExactly(other);
            assertThat(second.getMeters()).isEmpty();
        }
    }

    /** As {@code release} and {@code take} of a partition do. */
    @Test
    void aServiceThatComesBackIsShownInTheSameRegistry() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        for (int start = 1; start <= 2; start++) {
            try (RunningService bank = bank();
                    ServiceMetrics metrics = new ServiceMetrics(bank, Duration.ofMillis(20));
                    Client teller = teller(bank)) {
                metrics.bindTo(registry);
                ask(teller, new Bank.Open("ann" + start, 100));
                await().until(() -> gauge(registry, "journal.bytes") > 0);
                assertThat(registry.get("saucr.services.turn.run").timer().count()).isPositive();
            }
        }
    }

    /** Its gauges would be those of the first, and go with them. */
    @Test
    void aRegistryShowsAServiceOnce() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (RunningService bank = bank()) {
            ServiceMetrics metrics = new ServiceMetrics(bank);
            metrics.bindTo(registry);
            assertThatThrownBy(() -> metrics.bindTo(registry))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("meters of the service north already");
            try (ServiceMetrics another = new ServiceMetrics(bank)) {
                assertThatThrownBy(() -> another.bindTo(registry))
                        .hasMessageContaining("close their ServiceMetrics first");
            }
            assertThat(registry.find("saucr.services.turn.run").timer()).isNotNull();
            metrics.close();
            assertThatThrownBy(() -> metrics.bindTo(registry)).hasMessageContaining("are closed");
            assertThat(registry.getMeters()).isEmpty();
        }
    }

    private static void ask(Client client, Object message) throws Exception {
        Bank.Done unused = client.ask(message, Bank.Done.class).get(30, TimeUnit.SECONDS);
    }

    /** Names and tags of the page's table. */
    private static Set<String> documented() throws Exception {
        Matcher row =
                Pattern.compile("(?m)^\\| `(saucr[a-z.]+)` \\| (\\w+)[^|]*\\| *(`peer`)? *\\|")
                        .matcher(Files.readString(PAGE));
        Set<String> rows = new TreeSet<>();
        while (row.find()) {
            rows.add(row.group(1) + " " + row.group(2) + (row.group(3) == null ? "" : " peer"));
        }
        return rows;
    }

    private static Set<String> registered(SimpleMeterRegistry registry) {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .map(ServiceMetricsTest::shown)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String shown(Meter.Id id) {
        List<String> tags = id.getTags().stream().map(Tag::getKey).sorted().toList();
        assertThat(tags).contains("service");
        assertThat(id.getDescription()).isNotBlank();
        return id.getName()
                + " "
                + id.getType().name().toLowerCase(java.util.Locale.ROOT)
                + (tags.contains("peer") ? " peer" : "");
    }

    @Test
    void noOtherPackageNeedsMicrometer() throws Exception {
        Path classes =
                Path.of(Services.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            List<String> users =
                    files.filter(it -> it.toString().endsWith(".class"))
                            .filter(ServiceMetricsTest::namesMicrometer)
                            .map(it -> classes.relativize(it).getParent().toString())
                            .distinct()
                            .toList();
            assertThat(users).containsExactly("io/saucr/services/metrics");
        }
    }

    private static boolean namesMicrometer(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1)
                    .contains("io/micrometer");
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
