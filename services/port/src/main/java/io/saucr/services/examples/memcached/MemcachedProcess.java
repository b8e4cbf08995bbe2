package io.saucr.services.examples.memcached;

import com.thimbleware.jmemcached.Cache;
import com.thimbleware.jmemcached.CacheImpl;
import com.thimbleware.jmemcached.LocalCacheElement;
import com.thimbleware.jmemcached.MemCacheDaemon;
import com.thimbleware.jmemcached.storage.hash.ConcurrentLinkedHashMap;
import io.saucr.services.Services;
import io.saucr.services.examples.Survives;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The original, the port's two processes, and the comparison of both under kills. */
public final class MemcachedProcess {

    private static final long MOST_BYTES = 32 << 20;
    private static final int MOST_ITEMS = 1_000_000;
    private static final String USAGE =
            "arguments: original PORT | serve PROTECTION PLACE FOLDER | listen PLACE FOLDER PORT"
                    + " | compare STEPS KILLS\n"
                    + "  PROTECTION  local, or standby with the same line for each member\n"
                    + "  PLACE       as 127.0.0.1:2181/memcached\n"
                    + "  FOLDER      of this process alone\n"
                    + "  PORT        of 127.0.0.1, where memcached's clients connect\n"
                    + "  STEPS       that each of "
                    + TicketOffice.BUYERS
                    + " buyers makes, from 10\n"
                    + "  KILLS       of the original's process and of the services', from 1";

    private MemcachedProcess() {}

    /** Serves until it is killed, or compares. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments.length + " " + (arguments.length == 0 ? "" : arguments[0])) {
            case "2 original" ->
                    listen(
                            new CacheImpl(
                                    ConcurrentLinkedHashMap.create(
                                            ConcurrentLinkedHashMap.EvictionPolicy.FIFO,
                                            MOST_ITEMS,
                                            MOST_BYTES)),
                            arguments[1]);
            case "4 serve" ->
                    Survives.serve(
                            arguments[1],
                            arguments[2],
                            Path.of(arguments[3]),
                            state -> new CacheService(state, MOST_BYTES));
            case "4 listen" ->
                    listen(
                            new ServedCache(
                                    Services.at(arguments[1])
                                            .client(
                                                    "memcached-" + arguments[3],
                                                    Path.of(arguments[2]))),
                            arguments[3]);
            case "3 compare" ->
                    System.exit(
                            compare(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]))
                                    ? 0
                                    : 1);
            default -> {
                System.err.println(USAGE);
                System.exit(2);
            }
        }
    }

    private static void listen(Cache<LocalCacheElement> cache, String port) {
        MemCacheDaemon<LocalCacheElement> daemon = new MemCacheDaemon<>(cache);
        daemon.setAddr(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port)));
        daemon.start();
    }

    private static boolean compare(int steps, int kills) throws Exception {
        Path work = Files.createTempDirectory("saucr-memcached");
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        out.println("Files and logs: " + work);
        return new Comparison(work, steps, kills).run(out);
    }
}
