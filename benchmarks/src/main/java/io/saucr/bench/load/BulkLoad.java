package io.saucr.bench.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * A bulk load: clients that keep a number of transactions outstanding, each a multi of several
 * updates of nodes chosen at random. One that fails is sent again. Immutable.
 *
 * @param multi updates of each transaction
 * @param outstanding transactions of all clients together that have no answer yet
 * @param transactions that have to succeed
 */
public record BulkLoad(int multi, int outstanding, long transactions) {
    private static final int RECORDS = 1000;
    private static final int VALUE_BYTES = 100;
    private static final int CLIENTS = 8;
    private static final long AFTER_ERROR_MILLIS = 20;

    /**
     * What came of it.
     *
     * @param seconds until the last answer
     * @param operations updates that have succeeded
     * @param longestGap seconds without any answer to a transaction that has succeeded
     */
    public record Outcome(double seconds, long operations, double longestGap) {}

    /** Creates the nodes. */
    public static void prepare(String address) throws Exception {
        new UpdateLoad(RECORDS, VALUE_BYTES).prepare(address);
    }

    /**
     * Runs it.
     *
     * @param addresses connect strings that the clients take turns with
     * @param patience after which it ends, whatever has been answered
     */
    public Outcome run(List<String> addresses, Duration patience) throws Exception {
        List<Client> clients = new ArrayList<>();
        try {
            int most = Math.min(CLIENTS, outstanding);
            for (int i = 0; i < most; i++) {
                int own = outstanding / most + (i < outstanding % most ? 1 : 0);
                clients.add(new Client(addresses.get(i % addresses.size()), own, i));
            }
            return run(clients, patience.toNanos());
        } finally {
            for (Client each : clients) {
                each.session.close();
            }
        }
    }

    private Outcome run(List<Client> clients, long patienceNanos) throws InterruptedException {
        long begin = System.nanoTime();
        Progress progress = new Progress(new AckRecord(begin), new AtomicLong(transactions));
        List<Thread> threads = new ArrayList<>();
        for (Client each : clients) {
            Thread thread =
                    new Thread(() -> each.send(progress, begin + patienceNanos), "bulk client");
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        for (Thread each : threads) {
            each.join();
        }
        AckRecord.Window window = progress.acks.window(System.nanoTime());
        return new Outcome(
                window.operations() == transactions
                        ? (progress.acks.lastNanos() - begin) / 1e9
                        : window.seconds(),
                window.operations() * multi,
                window.longestPause());
    }

    /**
     * Of all clients.
     *
     * @param left transactions that have to be sent, again perhaps
     */
    private record Progress(AckRecord acks, AtomicLong left) {}

    /** One client, used by one thread, and its answers by its session's. */
    private final class Client {
        private final String address;
        private final Semaphore free;
        private final SplittableRandom random;
        private volatile KeeperException.Code failed = KeeperException.Code.OK;
        private ZooKeeper session;

        Client(String address, int most, int number) throws Exception {
            this.address = address;
            this.free = new Semaphore(most);
            this.random = new SplittableRandom(number);
            this.session = UpdateLoad.connect(address);
        }

        /** Takes what is left, one transaction after the other, until all have succeeded. */
        void send(Progress progress, long end) {
            try {
                while (System.nanoTime() - end < 0 && progress.acks.operations() < transactions) {
                    goOnAfterFailure();
                    if (progress.left.getAndDecrement() <= 0) {
                        progress.left.incrementAndGet();
                        // Others' answers are waited for: some may have to be sent again.
                        TimeUnit.MILLISECONDS.sleep(AFTER_ERROR_MILLIS);
                    } else if (free.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                        sendOne(progress);
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void sendOne(Progress progress) {
            session.multi(
                    operations(random),
                    (code, path, context, results) -> {
                        if (code == KeeperException.Code.OK.intValue()) {
                            progress.acks.acknowledged(System.nanoTime());
                        } else {
                            failed = KeeperException.Code.get(code);
                            progress.left.incrementAndGet();
                        }
                        free.release();
                    },
                    null);
        }

        /** A session that has expired gets a successor. */
        private void goOnAfterFailure() throws InterruptedException {
            KeeperException.Code code = failed;
            if (code == KeeperException.Code.OK) {
                return;
            }
            failed = KeeperException.Code.OK;
            TimeUnit.MILLISECONDS.sleep(AFTER_ERROR_MILLIS);
            if (code == KeeperException.Code.SESSIONEXPIRED) {
                try {
                    ZooKeeper fresh = UpdateLoad.connect(address);
                    session.close();
                    session = fresh;
                } catch (InterruptedException e) {
                    throw e;
                } catch (Exception e) {
                    // The next transaction fails again.
                    failed = code;
                }
            }
        }
    }

    private List<Op> operations(SplittableRandom random) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        List<Op> operations = new ArrayList<>();
        for (int i = 0; i < multi; i++) {
            String path = "/update-" + VALUE_BYTES + "/record" + random.nextInt(RECORDS);
            operations.add(Op.setData(path, value, -1));
        }
        return operations;
    }
}
