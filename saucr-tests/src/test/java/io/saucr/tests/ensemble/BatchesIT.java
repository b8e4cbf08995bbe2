package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.RequestHeader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** What threads that handle whole batches must not break: the order of sessions, and each other. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class BatchesIT {
    private static final int SESSIONS = 64;
    private static final int ROUNDS = 15;
    static final int MANY_ROUNDS = 60;

    /** Requests that a session sends before it has the answer to the first. */
    private static final int PIPELINED = 12;

    private static final int UNDECODED = 10;

    /** Together more than the sockets between two servers hold. */
    private static final int LARGE = 256;

    private static final byte[] LARGE_VALUE = new byte[128 * 1024];

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        // Nothing here breaks: a machine under load must not look like it.
        ensemble = SaucrEnsemble.start(SaucrEnsemble.describePatient("batches", 5));
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
        assertOrder(ensemble, ROUNDS);
    }

    @Tag("long")
    @Test
    @Order(4)
    void eachOfManyReadsBehindAWriteOfItsSessionSeesIt() throws Exception {
        assertOrder(ensemble, MANY_ROUNDS);
    }

    /** Sessions on all servers read what they have just written, without waiting for answers. */
    static void assertOrder(SaucrEnsemble ensemble, int rounds) throws Exception {
        List<Client> clients = new ArrayList<>();
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        try {
            List<Session> sessions = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                Client client = ensemble.connect(1 + i % ensemble.all().size());
                clients.add(client);
                String path = "/session-" + rounds + "-" + i;
                client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                sessions.add(new Session(client, path, wrong));
            }
            for (int round = 0; round < rounds; round++) {
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

    /** Such a write gets an answer, and nothing of the writes before it is lost or replaced. */
    @Test
    @Order(3)
    void aWriteThatCannotBeDecodedHarmsNoOther() throws Exception {
        int leader = ensemble.awaitFast();
        Set<String> created = new TreeSet<>();
        try (Client client = ensemble.connect(leader)) {
            client.create("/undecoded", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
        for (int round = 0; round < UNDECODED; round++) {
            int id = round % 2 == 0 ? leader : ensemble.followers().get(0);
            try (Socket socket =
                    new Socket(
                            InetAddress.getLoopbackAddress(),
                            ensemble.server(id).address().clientPort())) {
                socket.setSoTimeout(60_000);
                ByteArrayOutputStream sent = new ByteArrayOutputStream();
                frame(sent, new ConnectRequest(0, 0, 30_000, 0, new byte[16], false));
                socket.getOutputStream().write(sent.toByteArray());
                DataInputStream in = new DataInputStream(socket.getInputStream());
                in.skipNBytes(in.readInt());
                sent.reset();
                for (int i = 1; i <= 3; i++) {
                    String name = round + "-" + i;
                    created.add(name);
                    frame(
                            sent,
                            new RequestHeader(i, OpCode.create),
                            new CreateRequest(
                                    "/undecoded/" + name, new byte[0], Ids.OPEN_ACL_UNSAFE, 0));
                }
                // Its path would have two thousand million bytes.
                frame(
                        sent,
                        new RequestHeader(4, OpCode.create),
                        new RequestHeader(0x7f7f7f7f, 0x7f7f7f7f));
                socket.getOutputStream().write(sent.toByteArray());
                for (int i = 1; i <= 4; i++) {
                    int length = in.readInt();
                    assertThat(in.readInt()).isEqualTo(i);
                    in.readLong();
                    assertThat(in.readInt())
                            .as("answer " + i)
                            .isEqualTo(i < 4 ? 0 : Code.MARSHALLINGERROR.intValue());
                    in.skipNBytes(length - 16);
                }
            }
        }
        assertThat(ensemble.leader()).isEqualTo(leader);
        for (int id : ensemble.all()) {
            try (Client reader = ensemble.connect(id)) {
                reader.sync("/", (code, path, context) -> {}, null);
                assertThat(reader.getChildren("/undecoded", false))
                        .as("server " + id)
                        .containsExactlyInAnyOrderElementsOf(created);
            }
        }
    }

    private static void frame(ByteArrayOutputStream to, Record... records) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryOutputArchive archive = BinaryOutputArchive.getArchive(bytes);
        for (Record each : records) {
            each.serialize(archive, "record");
        }
        to.write(ByteBuffer.allocate(4).putInt(bytes.size()).array());
        to.write(bytes.toByteArray());
    }
}
