package io.saucr.services.examples.auction;

import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * An auction house and a bank, two processes that are killed by SIGKILL again and again while
 * traders offer and bid. At the end it counts: was each item sold once, is any cent missing or too
 * many? The same is done with the same services in a plain at-least-once form.
 */
public final class AuctionDemo {

    private static final int TRADERS = 4;
    private static final int HEAP_MEGABYTES = 128;
    private static final Duration LEAST_BETWEEN_KILLS = Duration.ofSeconds(1);
    private static final Duration LONGEST_SETTLING = Duration.ofMinutes(2);
    private static final int POLL_MILLIS = 200;

    /** A process that was killed needs some seconds where the machine is busy. */
    private static final int STANDSTILL_POLLS = 50;

    private final Path work;
    private final PrintWriter out;
    private final Random random;

    /**
     * What came out.
     *
     * @param kills of processes
     * @param offered calls of sellers
     * @param progress of the house
     * @param books of the bank
     * @param depositedCents that there must be
     */
    public record Result(
            int kills,
            int offered,
            AuctionHouse.Progress progress,
            Bank.Books books,
            long depositedCents) {

        /** What must not be; empty where all is well. */
        public List<String> violations() {
            List<String> found = new ArrayList<>();
            if (progress.twice() > 0) {
                found.add(progress.twice() + " items were sold or refused more than once");
            }
            if (books.twice() > 0) {
                found.add(books.twice() + " items were paid more than once");
            }
            if (books.cents() != depositedCents) {
                found.add(
                        "the accounts hold %s cents, and %s were brought"
                                .formatted(books.cents(), depositedCents));
            }
            if (progress.offered() != offered) {
                found.add(
                        offered + " items were offered, and the house knows " + progress.offered());
            }
            if (progress.open() > 0) {
                found.add(progress.open() + " items are neither sold nor refused");
            }
            if (books.paid() != progress.sold()) {
                found.add(books.paid() + " items were paid, and " + progress.sold() + " were sold");
            }
            if (books.below() > 0) {
                found.add(books.below() + " accounts hold less than nothing");
            }
            return found;
        }

        @Override
        public String toString() {
            return String.format(
                    "%d kills, %,d items offered, %,d sold, %,d not; %,d of %,d cents there",
                    kills,
                    offered,
                    progress.sold(),
                    progress.refused(),
                    books.cents(),
                    depositedCents);
        }
    }

    /**
     * A demo.
     *
     * @param work an empty folder
     * @param out hears how it goes
     * @param seed of when is killed
     */
    public AuctionDemo(Path work, PrintWriter out, long seed) {
        this.work = work;
        this.out = out;
        this.random = new Random(seed);
    }

    /** With services of this library. */
    public Result durable(Duration time) throws Exception {
        NIOServerCnxnFactory ensemble = ensemble(work.resolve("zookeeper"));
        String place = "127.0.0.1:" + ensemble.getLocalPort() + "/auction";
        List<Client> clients = new ArrayList<>();
        String folder = work.resolve("services").toString();
        try (Killed house =
                        new Killed(
                                AuctionProcess.HOUSE,
                                work.resolve("log/house.log"),
                                HEAP_MEGABYTES,
                                AuctionProcess.class,
                                AuctionProcess.HOUSE,
                                place,
                                folder);
                Killed bank =
                        new Killed(
                                AuctionProcess.BANK,
                                work.resolve("log/bank.log"),
                                HEAP_MEGABYTES,
                                AuctionProcess.class,
                                AuctionProcess.BANK,
                                place,
                                folder)) {
            Services atHouse = Services.at(place + "/" + AuctionProcess.HOUSE);
            Services atBank = Services.at(place + "/" + AuctionProcess.BANK);
            Function<Integer, Market.Post> houses =
                    trader -> client(atHouse, "trader" + trader + "-of-house", clients)::send;
            Function<Integer, Market.Post> banks =
                    trader -> client(atBank, "trader" + trader + "-of-bank", clients)::send;
            Client asksHouse = atHouse.client();
            Client asksBank = atBank.client();
            clients.add(asksHouse);
            clients.add(asksBank);
            return run(
                    time,
                    List.of(house, bank),
                    houses,
                    banks,
                    () ->
                            asksHouse
                                    .ask(new AuctionHouse.Ask(), AuctionHouse.Progress.class)
                                    .orTimeout(5, TimeUnit.SECONDS)
                                    .join(),
                    () ->
                            asksBank.ask(new Bank.Ask(), Bank.Books.class)
                                    .orTimeout(5, TimeUnit.SECONDS)
                                    .join());
        } finally {
            clients.forEach(Client::close);
            ensemble.shutdown();
        }
    }

    private Client client(Services at, String name, List<Client> clients) {
        try {
            Client client = at.client(name, work.resolve("clients").resolve(name));
            synchronized (clients) {
                clients.add(client);
            }
            return client;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static NIOServerCnxnFactory ensemble(Path data)
            throws IOException, InterruptedException {
        Files.createDirectories(data);
        NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        factory.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
        return factory;
    }

    /** With the same services, at least once. */
    public Result plain(Duration time) throws Exception {
        String housePort = Integer.toString(freePort());
        String bankPort = Integer.toString(freePort());
        String folder = work.resolve("plain").toString();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Killed house =
                        new Killed(
                                AuctionProcess.HOUSE,
                                work.resolve("log/plain-house.log"),
                                HEAP_MEGABYTES,
                                PlainService.class,
                                AuctionProcess.HOUSE,
                                folder,
                                housePort,
                                bankPort);
                Killed bank =
                        new Killed(
                                AuctionProcess.BANK,
                                work.resolve("log/plain-bank.log"),
                                HEAP_MEGABYTES,
                                PlainService.class,
                                AuctionProcess.BANK,
                                folder,
                                housePort,
                                bankPort)) {
            PlainPost toHouse = new PlainPost(Integer.parseInt(housePort), threads);
            PlainPost toBank = new PlainPost(Integer.parseInt(bankPort), threads);
            return run(
                    time,
                    List.of(house, bank),
                    trader -> toHouse,
                    trader -> toBank,
                    () -> toHouse.ask(new AuctionHouse.Ask(), AuctionHouse.Progress.class),
                    () -> toBank.ask(new Bank.Ask(), Bank.Books.class));
        } finally {
            threads.shutdownNow();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Result run(
            Duration time,
            List<Killed> processes,
            Function<Integer, Market.Post> houses,
            Function<Integer, Market.Post> banks,
            Supplier<AuctionHouse.Progress> progress,
            Supplier<Bank.Books> books)
            throws Exception {
        Market market = new Market();
        ExecutorService traders = Executors.newFixedThreadPool(TRADERS);
        try {
            List<Future<?>> depositing = new ArrayList<>();
            for (int trader = 0; trader < TRADERS; trader++) {
                int number = trader;
                depositing.add(
                        traders.submit(
                                () -> market.deposit("trader" + number, banks.apply(number))));
            }
            await(depositing);
            long end = System.nanoTime() + time.toNanos();
            List<Future<?>> trading = new ArrayList<>();
            for (int trader = 0; trader < TRADERS; trader++) {
                int number = trader;
                trading.add(
                        traders.submit(
                                () ->
                                        market.trade(
                                                "trader" + number,
                                                TRADERS,
                                                houses.apply(number),
                                                () -> System.nanoTime() < end)));
            }
            int kills = kill(processes, end, market);
            await(trading);
            AuctionHouse.Progress settled = settle(progress, market);
            if (market.failed() > 0) {
                throw new IllegalStateException(market.failed() + " calls failed");
            }
            return new Result(
                    kills, market.offered(), settled, books.get(), market.depositedCents());
        } finally {
            traders.shutdownNow();
        }
    }

    private static void await(List<Future<?>> all) throws Exception {
        for (Future<?> each : all) {
            Object unused = each.get(LONGEST_SETTLING.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private int kill(List<Killed> processes, long end, Market market)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        int kills = 0;
        while (true) {
            long pause = LEAST_BETWEEN_KILLS.toMillis() + random.nextInt(1_500);
            if (System.nanoTime() + pause * 1_000_000 >= end) {
                Thread.sleep(Math.max(0, (end - System.nanoTime()) / 1_000_000));
                return kills;
            }
            Thread.sleep(pause);
            Killed next = processes.get(random.nextInt(processes.size()));
            next.killAndStart();
            kills++;
            out.printf(
                    "%3d s: the %s was killed; %,d items offered so far%n",
                    (System.nanoTime() - begun) / 1_000_000_000, next.name(), market.offered());
            out.flush();
        }
    }

    /** All items decided, or nothing moves any more. */
    private static AuctionHouse.Progress settle(
            Supplier<AuctionHouse.Progress> progress, Market market) throws InterruptedException {
        long end = System.nanoTime() + LONGEST_SETTLING.toNanos();
        AuctionHouse.Progress last = null;
        int same = 0;
        while (System.nanoTime() < end && same < STANDSTILL_POLLS) {
            AuctionHouse.Progress now;
            try {
                now = progress.get();
            } catch (RuntimeException e) {
                // It starts again, or is not found yet.
                Thread.sleep(POLL_MILLIS);
                continue;
            }
            if (now.offered() >= market.offered() && now.open() == 0) {
                return now;
            }
            same = now.equals(last) ? same + 1 : 0;
            last = now;
            Thread.sleep(POLL_MILLIS);
        }
        if (last == null) {
            throw new IllegalStateException("the house did not answer for " + LONGEST_SETTLING);
        }
        return last;
    }
}
