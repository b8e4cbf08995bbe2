package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** What threads that handle whole batches must not break: the order of sessions, and each other. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class BatchesIT {
    private static final int SESSIONS = 64;
    private static final int ROUNDS = 60;

    /** Requests that a session sends before it has the answer to the first. */
    private static final int PIPELINED = 12;

    /** Together more than the sockets between two servers hold. */
    private static final int LARGE = 256;

    private static final byte[] LARGE_VALUE = new byte[128 * 1024];

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble = SaucrEnsemble.start(SaucrEnsemble.describe("batches", 5));
        ensemble.awaitFast();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** A session that sends on without waiting for answers, and what is wrong with them. */
    private static final class Session {
        private final Client client;
        private final String path;
        private final Queue<String> wrong;
        private final Semaphore free = new Semaphore(PIPELINED);

        // Of the client's event thread.
        private int answered;
        private int seen;

        // Of the test.
        private int sent;

        Session(Client client, String path, Queue<String> wrong) {
            this.client = client;
            this.path = path;
            this.wrong = wrong;
        }

        void write() throws InterruptedException {
            int number = number();
            client.setData(
                    path,
                    new byte[] {1},
                    -1,
                    (code, p, context, stat) -> answer(number, code, stat, "write"),
                    null);
        }

        void read() throws InterruptedException {
            int number = number();
            client.getData(
                    path,
                    false,
                    (code, p, context, data, stat) -> answer(number, code, stat, "read"),
                    null);
        }

        void list() throws InterruptedException {
            int number = number();
            client.getChildren(
                    path,
                    false,
                    (code, p, context, names, stat) -> answer(number, code, stat, "list"),
                    null);
        }

        private int number() throws InterruptedException {
            free.acquire();
            return sent++;
        }

        private void answer(int number, int code, Stat stat, String what) {
            if (code != Code.OK.intValue() || stat == null) {
                wrong.add(what + " of " + path + ": " + Code.get(code));
            } else {
                if (number != answered) {
                    wrong.add(what + " " + number + " of " + path + " instead of " + answered);
                }
                int least = what.equals("write") ? seen + 1 : seen;
                if (stat.getVersion() < least) {
                    wrong.add(what + " of " + path + " shows " + stat.getVersion() + " < " + least);
                }
                seen = stat.getVersion();
            }
            answered++;
            free.release();
        }

        void awaitAnswers() throws InterruptedException {
            assertThat(free.tryAcquire(PIPELINED, 2, TimeUnit.MINUTES)).as(path).isTrue();
            free.release(PIPELINED);
        }
    }

    @Test
    @Order(1)
    void aReadBehindAWriteOfItsSessionSeesIt() throws Exception {
        List<Client> clients = new ArrayList<>();
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        try {
            List<Session> sessions = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                Client client = ensemble.connect(1 + i % 5);
                clients.add(client);
                String path = "/session-" + i;
                client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                sessions.add(new Session(client, path, wrong));
            }
            for (int round = 0; round < ROUNDS; round++) {
                for (Session session : sessions) {
                    session.write();
                    session.read();
                    session.write();
                    session.list();
                    session.read();
                }
            }
            for (Session session : sessions) {
                session.awaitAnswers();
            }
            assertThat(wrong).isEmpty();
        } finally {
            for (Client client : clients) {
                client.close();
            }
        }
    }

    @Test
    @Order(2)
    void aFollowerThatReadsNothingDoesNotStopTheLeader() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        try (Client client = ensemble.connect(leader)) {
            client.create("/large", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            ensemble.pause(follower);
            for (int i = 0; i < LARGE; i++) {
                client.setData("/large", LARGE_VALUE, -1);
            }
            ensemble.resume(follower);
        }
        ensemble.awaitFast();
        try (Client reader = ensemble.connect(follower)) {
            reader.sync("/large", (code, path, context) -> {}, null);
            assertThat(reader.exists("/large", false).getVersion()).isEqualTo(LARGE);
        }
    }
}
