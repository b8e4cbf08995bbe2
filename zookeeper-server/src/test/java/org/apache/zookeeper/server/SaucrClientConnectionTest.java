package org.apache.zookeeper.server;

import static io.saucr.server.PatientWaits.await;
import static org.apache.zookeeper.server.RecordingServer.frame;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.InputArchive;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.WatcherEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers leave in order and whole, whether the socket takes them at once or not. */
@Timeout(60)
class SaucrClientConnectionTest {
    private static final int SMALL = 16;

    /** More than the sockets of both ends hold. */
    private static final int MANY = 1000;

    private final SaucrClientPort port = new SaucrClientPort();
    private Socket client;
    private DataInputStream in;
    private ServerCnxn connection;

    @BeforeEach
    void connect() throws IOException {
        // Asked whether the client may be notified.
        port.zkServer = new ZooKeeperServer();
        port.zkServer.setZKDatabase(new ZKDatabase(null));
        port.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10, -1, false);
        port.start();
        client = new Socket();
        client.setReceiveBufferSize(64 * 1024);
        client.connect(port.getLocalAddress());
        in = new DataInputStream(client.getInputStream());
        await().until(() -> port.getConnections().iterator().hasNext());
        connection = port.getConnections().iterator().next();
        // Longer than any test may take: whoever has no session is closed after ten seconds.
        connection.setSessionTimeout(600_000);
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
        port.shutdown();
    }

    private void expectFrame(int[] next) throws IOException {
        RecordingServer.expectFrame(in, next);
    }

    @Test
    void anAnswerIsWrittenBeforeTheCallReturns() throws Exception {
        connection.sendBuffer(frame(0, 0, SMALL));
        // In the kernel already: nobody else has to run for it.
        assertThat(connection.getPacketsSent()).isEqualTo(1);
        expectFrame(new int[1]);
    }

    @Test
    void answersToAClientThatDoesNotReadWaitAndKeepTheirOrder() throws Exception {
        for (int i = 0; i < MANY; i++) {
            connection.sendBuffer(frame(0, i, i % 100 == 0 ? 200_000 : i * 50));
        }
        assertThat(connection.getPacketsSent()).isLessThan(MANY);
        int[] next = new int[1];
        while (next[0] < MANY) {
            expectFrame(next);
        }
        await().untilAsserted(() -> assertThat(connection.getPacketsSent()).isEqualTo(MANY));
        // The queue is empty: the next one goes the short way again.
        connection.sendBuffer(frame(0, MANY, SMALL));
        assertThat(connection.getPacketsSent()).isEqualTo(MANY + 1);
        expectFrame(next);
    }

    @Test
    void answersOfSeveralThreadsAreWhole() throws Exception {
        List<Thread> senders = new ArrayList<>();
        int each = 5000;
        for (int s = 0; s < 4; s++) {
            int sender = s;
            Thread thread =
                    new Thread(
                            () -> {
                                for (int i = 0; i < each; i++) {
                                    connection.sendBuffer(frame(sender, i, (i * 7) % 3000));
                                }
                            });
            senders.add(thread);
            thread.start();
        }
        int[] next = new int[4];
        for (int i = 0; i < 4 * each; i++) {
            expectFrame(next);
        }
        for (Thread sender : senders) {
            sender.join();
        }
        assertThat(next).containsOnly(each);
    }

    @Test
    void theEndOfTheConnectionComesAfterTheLastAnswer() throws Exception {
        connection.sendBuffer(frame(0, 0, SMALL));
        connection.sendCloseSession();
        expectFrame(new int[1]);
        assertThat(in.read()).isEqualTo(-1);
        await().until(() -> !port.getConnections().iterator().hasNext());
    }

    @Test
    void aClientThatIsGoneClosesTheConnection() throws Exception {
        client.close();
        await().until(
                        () -> {
                            connection.sendBuffer(frame(0, 0, SMALL));
                            return !port.getConnections().iterator().hasNext();
                        });
    }

    /** Made while commits are applied. */
    @Nested
    class Notified {
        private final Notifications notifications = new Notifications();
        private int made;
        private int seen;

        private void applyCommit() {
            notifications.begin();
            String path = "/watched-" + made++;
            connection.process(
                    new WatchedEvent(EventType.NodeDataChanged, KeeperState.SyncConnected, path));
            assertThat(notifications.end()).isEqualTo(1);
        }

        private void expectNotification() throws IOException {
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            InputArchive archive = BinaryInputArchive.getArchive(new ByteArrayInputStream(frame));
            ReplyHeader header = new ReplyHeader();
            header.deserialize(archive, "header");
            WatcherEvent event = new WatcherEvent();
            event.deserialize(archive, "event");
            assertThat(header.getXid()).isEqualTo(ClientCnxn.NOTIFICATION_XID);
            assertThat(event.getPath()).isEqualTo("/watched-" + seen++);
        }

        @Test
        void nothingLeavesBeforeTheEndOfTheBatchAndThenEverything() throws Exception {
            for (int i = 0; i < 5; i++) {
                applyCommit();
            }
            assertThat(connection.getPacketsSent()).isZero();
            assertThat(notifications.takeUnflushed()).isEqualTo(1);
            notifications.flush(1);
            assertThat(connection.getPacketsSent()).isEqualTo(5);
            for (int i = 0; i < 5; i++) {
                expectNotification();
            }
            applyCommit();
            assertThat(notifications.takeUnflushed()).isEqualTo(1);
            notifications.flush(1);
            expectNotification();
        }

        @Test
        void anAnswerFollowsWhatWasNotifiedBeforeIt() throws Exception {
            int[] next = new int[1];
            applyCommit();
            applyCommit();
            connection.sendBuffer(frame(0, 0, SMALL));
            assertThat(connection.getPacketsSent()).isEqualTo(3);
            applyCommit();
            connection.sendBuffer(frame(0, 1, SMALL));
            notifications.flush(10);
            assertThat(connection.getPacketsSent()).isEqualTo(5);
            expectNotification();
            expectNotification();
            expectFrame(next);
            expectNotification();
            expectFrame(next);
        }

        @Test
        void ofAClientThatDoesNotReadKeepTheirOrderAmongItsAnswers() throws Exception {
            for (int i = 0; i < MANY; i++) {
                applyCommit();
                if (i % 2 == 0) {
                    connection.sendBuffer(frame(0, i / 2, i % 100 == 0 ? 200_000 : i * 50));
                } else if (i % 7 == 0) {
                    notifications.flush(10);
                }
            }
            notifications.flush(10);
            assertThat(connection.getPacketsSent()).isLessThan(MANY);
            int[] next = new int[1];
            for (int i = 0; i < MANY; i++) {
                expectNotification();
                if (i % 2 == 0) {
                    expectFrame(next);
                }
            }
            await().untilAsserted(
                            () ->
                                    assertThat(connection.getPacketsSent())
                                            .isEqualTo(MANY + MANY / 2));
        }

        @Test
        void moreThanABoundLeavesBeforeTheEndOfTheBatch() throws Exception {
            int notification = 4 + 16 + 8 + 4 + "/watched-0".length();
            int most = 32 * 1024 / notification;
            for (int i = 0; i <= most; i++) {
                applyCommit();
            }
            assertThat(connection.getPacketsSent()).isBetween(most / 2L, (long) most);
            notifications.flush(10);
            for (int i = 0; i <= most; i++) {
                expectNotification();
            }
        }

        @Test
        void leaveBeforeTheEndOfTheConnection() throws Exception {
            applyCommit();
            connection.sendCloseSession();
            expectNotification();
            assertThat(in.read()).isEqualTo(-1);
            applyCommit();
            notifications.flush(10);
        }

        @Test
        void byThreadsThatApplyNothingLeaveAtOnce() throws Exception {
            connection.process(
                    new WatchedEvent(
                            EventType.NodeDataChanged, KeeperState.SyncConnected, "/watched-0"));
            assertThat(connection.getPacketsSent()).isEqualTo(1);
            expectNotification();
        }
    }
}
