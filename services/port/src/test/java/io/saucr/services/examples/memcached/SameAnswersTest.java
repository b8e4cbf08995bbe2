package io.saucr.services.examples.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import com.thimbleware.jmemcached.Cache;
import com.thimbleware.jmemcached.CacheImpl;
import com.thimbleware.jmemcached.LocalCacheElement;
import com.thimbleware.jmemcached.MemCacheDaemon;
import com.thimbleware.jmemcached.storage.hash.ConcurrentLinkedHashMap;
import com.thimbleware.jmemcached.storage.hash.ConcurrentLinkedHashMap.EvictionPolicy;
import io.saucr.services.Address;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.examples.memcached.TicketOffice.MemcachedConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same commands at the original and at the port, of one client: the same answers. */
class SameAnswersTest {

    private static final int COMMANDS = 1_500;
    private static final int ANSWER_MILLIS = 60_000;
    private static final List<String> KEYS = List.of("a", "b", "c");

    /** None, one that has passed, one that will not come soon. */
    private static final List<String> EXPIRES = List.of("0", "0", "0", "2592001", "2591999");

    @TempDir private Path folder;

    private final List<MemCacheDaemon<LocalCacheElement>> daemons = new ArrayList<>();
    private RunningService service;
    private MemcachedConnection original;
    private MemcachedConnection port;

    @BeforeEach
    void start() throws Exception {
        service =
                Services.without("cache", Map.of())
                        .folder(folder.resolve("service"))
                        .listen(new Address("127.0.0.1", 0))
                        .segmentBytes(4 << 20)
                        .run(state -> new CacheService(state, 1 << 20), Protection.local());
        original =
                connect(
                        new CacheImpl(
                                ConcurrentLinkedHashMap.create(
                                        EvictionPolicy.FIFO, 1_000, 1 << 20)));
        port =
                connect(
                        new ServedCache(
                                Services.without("cache", Map.of("cache", service.address()))
                                        .client("listener", folder.resolve("listener"))));
    }

    @AfterEach
    void stop() {
        original.close();
        port.close();
        daemons.forEach(MemCacheDaemon::stop);
        service.close();
    }

    private MemcachedConnection connect(Cache<LocalCacheElement> cache) throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        MemCacheDaemon<LocalCacheElement> daemon = new MemCacheDaemon<>(cache);
        daemon.setAddr(new InetSocketAddress(InetAddress.getLoopbackAddress(), free));
        daemon.start();
        daemons.add(daemon);
        return new MemcachedConnection(free, ANSWER_MILLIS);
    }

    private static String command(Random random) {
        String key = KEYS.get(random.nextInt(KEYS.size()));
        String[] stores = {"set", "add", "replace", "append", "prepend", "cas"};
        String[] numbers = {"incr ", "decr "};
        switch (random.nextInt(8)) {
            case 0, 1, 2:
                String how = stores[random.nextInt(stores.length)];
                String value =
                        random.nextInt(4) == 0
                                ? "x".repeat(random.nextInt(3))
                                : Integer.toString(random.nextInt(200) - 20);
                return how
                        + " "
                        + key
                        + " "
                        + random.nextInt(3)
                        + " "
                        + EXPIRES.get(random.nextInt(EXPIRES.size()))
                        + " "
                        + value.length()
                        + (how.equals("cas") ? " " + random.nextInt(5) : "")
                        + "\r\n"
                        + value;
            case 3:
                return numbers[random.nextInt(numbers.length)] + key + " " + random.nextInt(50);
            case 4:
                return "delete " + key + (random.nextInt(5) == 0 ? " 1000000" : "");
            case 5:
                return "get " + key;
            case 6:
                return "gets a b none " + key;
            default:
                return random.nextInt(10) == 0 ? "flush_all" : "get b c";
        }
    }

    @Test
    void theyAnswerTheSame() throws Exception {
        Random random = new Random(1);
        for (int i = 0; i < COMMANDS; i++) {
            String command = command(random);
            assertThat(port.command(command))
                    .as("%s (%d)", command, i)
                    .isEqualTo(original.command(command));
        }
        assertThat(port.command("version")).isEqualTo(original.command("version"));
        assertThat(port.command("stats")).contains("STAT cur_items ").endsWith("\nEND");
    }
}
