package io.saucr.services.examples.memcached;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.examples.memcached.CacheService.Ask;
import io.saucr.services.examples.memcached.CacheService.Change;
import io.saucr.services.examples.memcached.CacheService.Delete;
import io.saucr.services.examples.memcached.CacheService.Done;
import io.saucr.services.examples.memcached.CacheService.Found;
import io.saucr.services.examples.memcached.CacheService.Get;
import io.saucr.services.examples.memcached.CacheService.Held;
import io.saucr.services.examples.memcached.CacheService.How;
import io.saucr.services.examples.memcached.CacheService.Item;
import io.saucr.services.examples.memcached.CacheService.Outcome;
import io.saucr.services.examples.memcached.CacheService.Store;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The service alone, on the test kit: crashes anywhere, time, and what it refuses. */
class CacheServiceTest {

    private static final long MOST_BYTES = 2_000_000;

    private static TestService service(TestWorld world) {
        return world.service("cache", state -> new CacheService(state, MOST_BYTES));
    }

    private static Bytes bytes(String text) {
        return Bytes.of(text.getBytes(US_ASCII));
    }

    private static Store store(How how, String key, Bytes value, long expire) {
        return new Store(how, bytes(key), new Item(0, (int) expire, value, 0, 0), 0);
    }

    private static CompletableFuture<Done> ask(Client client, Object command) {
        return client.ask(command, Done.class);
    }

    private static Outcome outcome(TestWorld world, Client client, Object command) {
        return world.await(ask(client, command)).outcome();
    }

    private static String value(TestService cache, String key) {
        return cache.query(new Get(bytes(key)), Found.class)
                .item()
                .map(it -> new String(it.data().toArray(), US_ASCII))
                .orElse(null);
    }

    private static Held held(TestService cache) {
        return cache.query(new Ask(), Held.class);
    }

    @Test
    void eachCommandHappensOnceWhereverItCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        5,
                        world -> {
                            TestService cache = service(world);
                            Client client = world.client("listener", "cache");
                            List<CompletableFuture<Done>> done =
                                    List.of(
                                            ask(client, store(How.ADD, "seats", bytes("10"), 0)),
                                            ask(client, new Change(bytes("seats"), -1)),
                                            ask(client, new Change(bytes("seats"), -1)),
                                            ask(client, store(How.SET, "list", bytes("a"), 0)),
                                            ask(client, store(How.APPEND, "list", bytes("b"), 0)),
                                            ask(client, store(How.PREPEND, "list", bytes("c"), 0)),
                                            ask(client, store(How.ADD, "list", bytes("d"), 0)),
                                            ask(client, new Delete(bytes("none"), 0)));
                            world.run();
                            assertThat(done)
                                    .extracting(each -> each.join().outcome())
                                    .containsExactly(
                                            Outcome.STORED,
                                            Outcome.STORED,
                                            Outcome.STORED,
                                            Outcome.STORED,
                                            Outcome.STORED,
                                            Outcome.STORED,
                                            Outcome.NOT_STORED,
                                            Outcome.NOT_FOUND);
                            assertThat(done.get(2).join().value()).isEqualTo(8);
                            assertThat(value(cache, "seats")).isEqualTo("8");
                            assertThat(value(cache, "list")).isEqualTo("cab");
                            assertThat(held(cache)).isEqualTo(new Held(2, 4, MOST_BYTES));
                        });
        assertThat(crashes).isGreaterThan(30);
    }

    @Test
    void aDelayedDeletionOutlivesACrash() {
        TestWorld world = new TestWorld(1);
        TestService cache = service(world);
        Client client = world.client("listener", "cache");
        for (String key : List.of("kept", "replaced")) {
            assertThat(outcome(world, client, store(How.SET, key, bytes("abc"), 0)))
                    .isEqualTo(Outcome.STORED);
            assertThat(outcome(world, client, new Delete(bytes(key), 60)))
                    .isEqualTo(Outcome.NOT_FOUND);
            assertThat(value(cache, key)).isNull();
            assertThat(outcome(world, client, store(How.APPEND, key, bytes("x"), 0)))
                    .isEqualTo(Outcome.NOT_FOUND);
            assertThat(outcome(world, client, store(How.ADD, key, bytes("x"), 0)))
                    .isEqualTo(Outcome.NOT_STORED);
        }
        assertThat(outcome(world, client, store(How.SET, "replaced", bytes("new"), 0)))
                .isEqualTo(Outcome.STORED);
        cache.crash();
        cache.start();
        world.advance(Duration.ofSeconds(61));
        world.run();
        assertThat(outcome(world, client, store(How.ADD, "kept", bytes("again"), 0)))
                .isEqualTo(Outcome.STORED);
        assertThat(value(cache, "replaced")).isEqualTo("new");
    }

    @Test
    void whatExpiredGoesByItself() {
        TestWorld world = new TestWorld(2);
        TestService cache = service(world);
        Client client = world.client("listener", "cache");
        long soon = world.now().getEpochSecond() + 10;
        assertThat(outcome(world, client, store(How.SET, "short", bytes("1"), soon)))
                .isEqualTo(Outcome.STORED);
        assertThat(outcome(world, client, store(How.SET, "long", bytes("22"), soon + 100_000)))
                .isEqualTo(Outcome.STORED);
        assertThat(value(cache, "short")).isEqualTo("1");
        world.advance(Duration.ofMinutes(2));
        world.run();
        assertThat(value(cache, "short")).isNull();
        assertThat(outcome(world, client, new Change(bytes("short"), 1)))
                .isEqualTo(Outcome.NOT_FOUND);
        assertThat(held(cache)).isEqualTo(new Held(1, 2, MOST_BYTES));
    }

    @Test
    void whatDoesNotFitIsNotStored() {
        TestWorld world = new TestWorld(3);
        TestService cache = service(world);
        Client client = world.client("listener", "cache");
        Bytes most = Bytes.of(new byte[CacheService.LARGEST_VALUE]);
        for (String key : List.of("one", "two")) {
            assertThat(outcome(world, client, store(How.SET, key, most, 0)))
                    .isEqualTo(Outcome.STORED);
        }
        assertThat(outcome(world, client, store(How.APPEND, "one", bytes("x"), 0)))
                .isEqualTo(Outcome.NOT_STORED);
        assertThat(outcome(world, client, store(How.SET, "three", bytes("x"), 0)))
                .isEqualTo(Outcome.NOT_STORED);
        assertThat(outcome(world, client, store(How.REPLACE, "one", bytes("x"), 0)))
                .isEqualTo(Outcome.STORED);
        assertThat(outcome(world, client, store(How.SET, "three", bytes("x"), 0)))
                .isEqualTo(Outcome.STORED);
        assertThat(held(cache)).isEqualTo(new Held(3, CacheService.LARGEST_VALUE + 2, MOST_BYTES));
        assertThatThrownBy(() -> new Get(bytes("k".repeat(251)))).hasMessageContaining("251");
        assertThatThrownBy(() -> new Delete(bytes("k".repeat(251)), 0))
                .hasMessageContaining("at most 250 bytes, not 251");
    }

    @Test
    void aMistakeIsAnsweredAndNotPutAside() {
        TestWorld world = new TestWorld(4);
        TestService cache = service(world);
        Client client = world.client("listener", "cache");
        for (String text : List.of("", "red", "+1", "-", "2147483648", "99999999999")) {
            assertThat(outcome(world, client, store(How.SET, "key", bytes(text), 0)))
                    .isEqualTo(Outcome.STORED);
            assertThat(outcome(world, client, new Change(bytes("key"), 1)))
                    .as(text)
                    .isEqualTo(Outcome.NO_NUMBER);
        }
        assertThat(cache.parked()).isEmpty();
    }
}
