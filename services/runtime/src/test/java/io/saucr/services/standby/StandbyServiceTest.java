package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.metrics.ServiceMetrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandbyServiceTest {

    public record Put(String key, long value) {}

    public record Was(long value) {}

    public record Get(String key) {}

    public record Now(long value) {}

    public static final class Numbers implements Service {

        private final MapState<String, Long> numbers;

        Numbers(State state) {
            numbers = state.map("numbers", String.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        long was = numbers.getOrDefault(put.key(), 0L);
                        numbers.put(put.key(), put.value());
                        turn.reply(new Was(was));
                    });
            on.query(Get.class, (get, turn) -> new Now(numbers.getOrDefault(get.key(), 0L)));
        }
    }

    @TempDir Path work;

    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Services place(String folder) {
        return Services.at(server.connect() + "/apps/numbers")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    @Test
    void aMemberAloneServesAndSaysSo() throws Exception {
        try (RunningService one = place("one").run(Numbers::new, Protection.standby());
                Client client = place("client").client()) {
            assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            assertThat(client.ask(new Put("a", 2), Was.class).get()).isEqualTo(new Was(1));
            assertThat(client.ask(new Get("a"), Now.class).get()).isEqualTo(new Now(2));
            assertThat(one.status().member().role()).isEqualTo("primary");
            assertThat(one.status().member().copies()).isEqualTo("alone");
        }
    }

    /** On a busy machine the standby may take over before it is asked to: either may go on. */
    @Test
    void aStandbyGoesOnWhereThePrimaryWas() throws Exception {
        List<RunningService> members = new ArrayList<>();
        members.add(place("one").run(Numbers::new, Protection.standby()));
        try (Client client = place("client").client("asker")) {
            assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            members.add(place("two").run(Numbers::new, Protection.standby()));
            await().until(
                            () -> {
                                client.ask(new Put("b", 1), Was.class).get();
                                return primaries(members, "forced").size() == 1;
                            });
            RunningService primary = primaries(members, "forced").get(0);
            assertThat(client.ask(new Put("a", 2), Was.class).get()).isEqualTo(new Was(1));
            members.remove(primary);
            primary.close();
            assertThat(client.ask(new Put("a", 3), Was.class).get()).isEqualTo(new Was(2));
            assertThat(client.ask(new Get("a"), Now.class).get()).isEqualTo(new Now(3));
            RunningService other = members.get(0);
            assertThat(other.status().member().role()).isEqualTo("primary");
            assertThat(other.status().member().epoch()).isGreaterThan(1);
        } finally {
            members.forEach(RunningService::close);
        }
    }

    private static List<RunningService> primaries(List<RunningService> members, String copies) {
        return members.stream()
                .filter(it -> it.status().member().role().equals("primary"))
                .filter(it -> it.status().member().copies().equals(copies))
                .toList();
    }

    @Test
    void whoComesLateGetsABaseAndGoesOn() throws Exception {
        try (Client client = place("client").client("asker")) {
            RunningService one =
                    place("one").foldBytes(2048).run(Numbers::new, Protection.standby());
            for (long i = 1; i <= 300; i++) {
                assertThat(client.ask(new Put("k" + i % 7, i), Was.class).get()).isNotNull();
            }
            await().until(() -> Files.exists(work.resolve("one/bases")) && bases("one") == 2);
            try (RunningService two =
                    place("two").foldBytes(2048).run(Numbers::new, Protection.standby())) {
                await().until(
                                () ->
                                        one.status().member().copies().equals("forced")
                                                || client.ask(new Put("more", 1), Was.class).get()
                                                        == null);
                one.close();
                for (long i = 294; i <= 300; i++) {
                    assertThat(client.ask(new Get("k" + i % 7), Now.class).get())
                            .isEqualTo(new Now(i));
                }
                assertThat(two.status().member().role()).isEqualTo("primary");
            }
        }
    }

    private long bases(String folder) throws IOException {
        try (Stream<Path> files = Files.list(work.resolve(folder).resolve("bases"))) {
            return files.filter(it -> !it.toString().endsWith(".tmp")).count();
        }
    }

    @Test
    void aMemberThatRestartsGoesOnAlone() throws Exception {
        try (Client client = place("client").client("asker")) {
            try (RunningService one = place("one").run(Numbers::new, Protection.standby())) {
                assertThat(client.ask(new Put("a", 7), Was.class).get()).isEqualTo(new Was(0));
                assertThat(one.status().member().epoch()).isEqualTo(1);
            }
            try (RunningService one = place("one").run(Numbers::new, Protection.standby())) {
                assertThat(client.ask(new Put("a", 8), Was.class).get()).isEqualTo(new Was(7));
                assertThat(one.status().member().epoch()).isEqualTo(2);
            }
        }
    }

    @Test
    void officeIsHandedToWhoIsReadyOnly() throws Exception {
        try (RunningService one = place("one").run(Numbers::new, Protection.standby())) {
            await().until(() -> one.status().member().role().equals("primary"));
            await().untilAsserted(
                            () ->
                                    assertThatThrownBy(() -> one.handOver(Optional.empty()))
                                            .isInstanceOf(IllegalArgumentException.class)
                                            .hasMessageContaining("no member is ready"));
            assertThatThrownBy(() -> one.handOver(Optional.of("00000000000000aa")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("00000000000000aa is not ready");
            try (Client client = place("client").client()) {
                assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            }
        }
    }

    @Test
    void aFolderOfAnotherServiceIsRefused() throws Exception {
        place("one").run(Numbers::new, Protection.standby()).close();
        Services elsewhere =
                Services.at(server.connect() + "/other/numbers")
                        .folder(work.resolve("one"))
                        .listen(new Address("127.0.0.1", 0));
        assertThatThrownBy(() -> elsewhere.run(Numbers::new, Protection.standby()))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("the head is missing")
                .hasMessageContaining("Nothing is created anew");
    }

    @Test
    void oneNameIsOfOneProtection() throws Exception {
        place("one").run(Numbers::new, Protection.standby()).close();
        assertThatThrownBy(() -> place("two").run(Numbers::new, Protection.local()))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("Protection.standby()");
        Services local =
                Services.at(server.connect() + "/apps/local")
                        .folder(work.resolve("local"))
                        .listen(new Address("127.0.0.1", 0));
        local.run(Numbers::new, Protection.local()).close();
        assertThatThrownBy(
                        () ->
                                local.folder(work.resolve("member"))
                                        .run(Numbers::new, Protection.standby()))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("Protection.local()");
    }

    @Test
    void fastTakesAStandbyForTheDiskWhileItIsThere() throws Exception {
        try (Client client = place("client").client("asker")) {
            RunningService one = place("one").run(Numbers::new, Protection.standby().fast());
            assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            assertThat(one.status().member().copies()).isEqualTo("alone");
            try (RunningService two = place("two").run(Numbers::new, Protection.standby().fast())) {
                await().until(() -> one.status().member().followers().size() == 1);
                await().until(
                                () -> {
                                    client.ask(new Put("b", 1), Was.class).get();
                                    return one.status().member().copies().equals("memory");
                                });
                assertThat(client.ask(new Put("a", 2), Was.class).get()).isEqualTo(new Was(1));
                one.close();
                assertThat(client.ask(new Put("a", 3), Was.class).get()).isEqualTo(new Was(2));
                assertThat(two.status().member().copies()).isEqualTo("alone");
            }
        }
    }

    /** C7: told before it is final; what waits for that is told by the next checkpoint. */
    @Test
    void asynchronousRepliesDoNotWaitAndAHandoverLosesNone() throws Exception {
        Protection.Standby slow = Protection.standby().every(Duration.ofSeconds(10));
        RunningService one = place("one").run(Numbers::new, slow);
        try (Client client = place("client").client();
                RunningService two = place("two").run(Numbers::new, slow)) {
            await().until(() -> one.status().member().followers().size() == 1);
            assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            assertThat(client.ask(new Put("a", 2), Was.class).get()).isEqualTo(new Was(1));
            assertThat(client.ask(new Get("a"), Now.class).get()).isEqualTo(new Now(2));
            assertThat(one.status().finalTurn()).isLessThan(one.status().turn());
            one.close();
            assertThat(client.ask(new Get("a"), Now.class).get()).isEqualTo(new Now(2));
            assertThat(two.status().member().role()).isEqualTo("primary");
            assertThat(client.lostReplies()).isZero();
        }
    }

    @Test
    void whatIsNoTimeBetweenCheckpointsIsRefused() {
        Protection.Standby standby = Protection.standby();
        for (long millis : new long[] {0, -1, 10_001}) {
            assertThatThrownBy(() -> standby.every(Duration.ofMillis(millis)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("every is from 1 ms to 10000 ms");
        }
        assertThatThrownBy(() -> standby.lease(Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("call every(...) first");
        Protection.Standby each = standby.every(Duration.ofMillis(200)).fast().strict();
        assertThatThrownBy(() -> each.lease(Duration.ofMillis(399)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a lease is from 400 ms to 60000 ms");
        assertThat(each.leaseMillis()).isEqualTo(1_000);
        assertThat(each.every(Duration.ofSeconds(3)).leaseMillis()).isEqualTo(6_000);
        assertThat(each.lease(Duration.ofSeconds(2)).leaseMillis()).isEqualTo(2_000);
        assertThat(standby.leaseMillis()).isZero();
    }

    /** Copies what it is given into something that can be changed. */
    record Open(List<String> list) {
        Open {
            list = new ArrayList<>(list);
        }
    }

    record Keep(String key) {}

    record Spoil() {}

    /**
     * Remembers a value beside its state, and changes it in a turn that does not look at the state.
     */
    static final class Leaks implements Service {

        private final MapState<String, Open> opens;
        private final List<Open> leaked = new ArrayList<>();

        Leaks(State state) {
            opens = state.map("opens", String.class, Open.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Keep.class,
                    (keep, turn) -> {
                        opens.put(keep.key(), new Open(List.of("a")));
                        leaked.add(opens.get(keep.key()));
                        turn.reply(new Was(1));
                    });
            on.message(
                    Spoil.class,
                    (spoil, turn) -> {
                        leaked.get(0).list().add("b");
                        turn.reply(new Was(2));
                    });
        }
    }

    /** C12: the first turn behind each checkpoint compares the whole state. */
    @Test
    void aValueChangedInPlaceIsFoundByTheNextCheckpointInTests() throws Exception {
        try (RunningService one =
                        place("one").checkingValues().run(Leaks::new, Protection.standby());
                Client client = place("client").client()) {
            assertThat(client.ask(new Keep("k"), Was.class).get()).isEqualTo(new Was(1));
            assertThat(client.ask(new Keep("other"), Was.class).get()).isEqualTo(new Was(1));
            assertThat(client.ask(new Spoil(), Was.class).get()).isEqualTo(new Was(2));
            assertThatThrownBy(() -> client.ask(new Keep("more"), Was.class).get())
                    .hasMessageContaining("a value of map opens, key k, was changed in place");
            assertThat(one.status().member().role()).isEqualTo("primary");
        }
    }

    @Test
    void withoutTheCheckNobodyLooks() throws Exception {
        try (RunningService one = place("one").run(Leaks::new, Protection.standby());
                Client client = place("client").client()) {
            assertThat(client.ask(new Keep("k"), Was.class).get()).isEqualTo(new Was(1));
            assertThat(client.ask(new Spoil(), Was.class).get()).isEqualTo(new Was(2));
            assertThat(client.ask(new Keep("more"), Was.class).get()).isEqualTo(new Was(1));
            assertThat(one.status().member().role()).isEqualTo("primary");
        }
    }

    /** Has a field that no state remembers. */
    static final class Forgets implements Service {

        private long count;

        @Override
        public void handlers(Handlers on) {
            on.message(Put.class, (put, turn) -> count++);
        }
    }

    @Test
    void whatIsNotAllowedIsThrownBeforeAnythingIsMade() {
        assertThatThrownBy(() -> place("one").run(it -> new Forgets(), Protection.standby()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("count");
        assertThat(work.resolve("one")).doesNotExist();
        assertThatThrownBy(
                        () ->
                                Services.without("numbers", Map.of())
                                        .folder(work.resolve("one"))
                                        .run(Numbers::new, Protection.standby()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("needs an ensemble");
        assertThatThrownBy(() -> Protection.standby().copies(0))
                .hasMessageContaining("copies are from 1 to 9, not 0");
        assertThatThrownBy(() -> Protection.standby().copies(1).fast())
                .hasMessageContaining("there are 2 copies or more, not 1");
    }

    private static double gauge(SimpleMeterRegistry registry, String name) {
        return registry.get("saucr.services.member." + name).gauge().value();
    }

    @Test
    void metricsSayWhoIsInOfficeAndWhoCouldBe() throws Exception {
        SimpleMeterRegistry first = new SimpleMeterRegistry();
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        try (RunningService one = place("one").run(Numbers::new, Protection.standby());
                ServiceMetrics ofOne = new ServiceMetrics(one, Duration.ofMillis(20));
                Client client = place("client").client("asker")) {
            ofOne.bindTo(first);
            assertThat(client.ask(new Put("a", 1), Was.class).get()).isEqualTo(new Was(0));
            await().until(() -> gauge(first, "primary") == 1 && gauge(first, "alone") == 1);
            try (RunningService two = place("two").run(Numbers::new, Protection.standby());
                    ServiceMetrics ofTwo = new ServiceMetrics(two, Duration.ofMillis(20))) {
                ofTwo.bindTo(second);
                await().until(() -> gauge(first, "followers") == 1);
                assertThat(client.ask(new Put("a", 2), Was.class).get()).isEqualTo(new Was(1));
                await().until(() -> gauge(first, "alone") == 0);
                await().until(() -> gauge(second, "ready") == 1 && gauge(second, "behind") == 0);
                assertThat(gauge(second, "primary")).isZero();
                assertThat(gauge(second, "epoch")).isEqualTo(1);
                assertThat(gauge(second, "segment")).isPositive();
            }
        }
    }
}
