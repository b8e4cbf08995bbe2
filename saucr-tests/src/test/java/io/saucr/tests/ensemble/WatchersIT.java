package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Notifications are sent in few writes, and none of them later than an answer that shows more. */
class WatchersIT {
    /** More than who applies a commit notifies itself. */
    private static final int WATCHERS = 40;

    private static final int CHANGES = 100;
    private static final int PIPELINED = 20;
    private static final int WRITES = 2_000;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        // Nothing here breaks: a machine under load must not look like it.
        ensemble = SaucrEnsemble.start(SaucrEnsemble.describePatient("watchers", 3));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** System calls that write, of a server. */
    private static long writeCalls(int id) throws IOException {
        Path counts = Path.of("/proc/" + ensemble.server(id).pid() + "/io");
        return Files.readAllLines(counts).stream()
                .filter(line -> line.startsWith("syscw: "))
                .mapToLong(line -> Long.parseLong(line.substring("syscw: ".length())))
                .sum();
    }

    @Test
    void aClientGetsAllNotificationsOfAMultiInOneWrite() throws Exception {
        int follower = ensemble.followers().get(0);
        List<Client> clients = new ArrayList<>();
        try (Client writer = ensemble.connect(ensemble.leader())) {
            List<Op> creates = new ArrayList<>();
            List<Op> changes = new ArrayList<>();
            creates.add(create("/multi"));
            for (int i = 0; i < CHANGES; i++) {
                creates.add(create("/multi/" + i));
                changes.add(Op.setData("/multi/" + i, new byte[] {1}, -1));
            }
            writer.multi(creates);
            AtomicInteger notified = new AtomicInteger();
            for (int i = 0; i < WATCHERS; i++) {
                Client client = ensemble.connect(follower);
                clients.add(client);
                client.sync("/multi", (code, path, context) -> {}, null);
                client.addWatch(
                        "/multi",
                        event -> {
                            if (event.getType() == EventType.NodeDataChanged) {
                                notified.incrementAndGet();
                            }
                        },
                        AddWatchMode.PERSISTENT_RECURSIVE);
            }
            long before = writeCalls(follower);
            writer.multi(changes);
            SaucrEnsemble.await("all notifications", () -> notified.get() == WATCHERS * CHANGES);
            // The rest are pings, acks and the log's.
            assertThat(writeCalls(follower) - before).isLessThan(WATCHERS * CHANGES / 4);
        } finally {
            for (Client client : clients) {
                client.close();
            }
        }
    }

    private static Op create(String path) {
        return Op.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** A session that reads what it watches, without waiting for answers. */
    private static final class Watching {
        private final Client client;
        private final Queue<String> wrong;
        private final Semaphore free = new Semaphore(PIPELINED);

        // Of the client's event thread.
        private int changes;
        private int newest;

        Watching(Client client, Queue<String> wrong) {
            this.client = client;
            this.wrong = wrong;
        }

        void watch() throws Exception {
            client.sync("/ordered", (code, path, context) -> {}, null);
            client.addWatch(
                    "/ordered",
                    event -> {
                        if (event.getType() == EventType.NodeDataChanged) {
                            changes++;
                        }
                    },
                    AddWatchMode.PERSISTENT_RECURSIVE);
        }

        void read() throws InterruptedException {
            free.acquire();
            client.getData(
                    "/ordered",
                    false,
                    (code, path, context, data, stat) -> answered(code, stat),
                    null);
        }

        private void answered(int code, Stat stat) {
            if (code != Code.OK.intValue()) {
                wrong.add("read: " + Code.get(code));
            } else {
                if (stat.getVersion() != changes) {
                    wrong.add("version " + stat.getVersion() + " after " + changes + " changes");
                }
                newest = stat.getVersion();
            }
            free.release();
        }

        /** Reads until it sees the last write. */
        void readToTheEnd() throws InterruptedException {
            while (true) {
                for (int i = 0; i < PIPELINED; i++) {
                    read();
                }
                assertThat(free.tryAcquire(PIPELINED, 2, TimeUnit.MINUTES)).isTrue();
                boolean done = newest == WRITES || !wrong.isEmpty();
                free.release(PIPELINED);
                if (done) {
                    return;
                }
            }
        }
    }

    /** Each change is notified before the first answer that shows it, and no later change. */
    @Test
    void noAnswerOvertakesANotification() throws Exception {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        List<Client> clients = new ArrayList<>();
        try (Client writer = ensemble.connect(ensemble.leader())) {
            writer.create("/ordered", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<Watching> sessions = new ArrayList<>();
            for (int i = 0; i < WATCHERS; i++) {
                Client client = ensemble.connect(1 + i % ensemble.all().size());
                clients.add(client);
                Watching session = new Watching(client, wrong);
                session.watch();
                sessions.add(session);
            }
            Semaphore outstanding = new Semaphore(PIPELINED);
            for (int i = 0; i < WRITES; i++) {
                outstanding.acquire();
                writer.setData(
                        "/ordered",
                        new byte[] {1},
                        -1,
                        (code, path, context, stat) -> outstanding.release(),
                        null);
                sessions.get(i % WATCHERS).read();
            }
            for (Watching session : sessions) {
                session.readToTheEnd();
            }
            assertThat(wrong).isEmpty();
        } finally {
            for (Client client : clients) {
                client.close();
            }
        }
    }
}
