package io.saucr.services.ensemble;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.speculation.GroupHead;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The znodes that show operators which members of a group run. */
class GroupNodeTest {

    private static final String ANN = "/groups/travel/members/ann";

    @TempDir Path work;

    private TestServer server;
    private ZooKeeper hand;
    private final Reader reader = new Reader();
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1);

    /** Reads the head whenever something changed, as a member does. */
    private static final class Reader implements HeadNode.Listener<GroupHead> {

        volatile GroupNode node;
        final AtomicInteger reads = new AtomicInteger();

        @Override
        public void read(Optional<GroupHead> head, int version) {
            reads.incrementAndGet();
        }

        @Override
        public void wrote(int version) {}

        @Override
        public void unknown(String why) {}

        @Override
        public void refused(String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public void changed() {
            node.read();
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        hand = new ZooKeeper(server.connect(), 30_000, event -> {});
        for (String path : new String[] {"/groups", "/groups/travel"}) {
            hand.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    @AfterEach
    void stop() throws Exception {
        thread.shutdownNow();
        hand.close();
        server.close();
    }

    private GroupNode node() {
        reader.node =
                new GroupNode(
                        new ServicePath(
                                server.connect(),
                                "/groups/travel",
                                Optional.empty(),
                                Duration.ofSeconds(4),
                                Optional.empty(),
                                ZooDefs.Ids.OPEN_ACL_UNSAFE),
                        thread,
                        reader);
        return reader.node;
    }

    /** Where the member runs, as an operator sees it; empty if it is not shown. */
    private String shown() throws Exception {
        try {
            return new String(hand.getData(ANN, false, null), UTF_8);
        } catch (KeeperException.NoNodeException e) {
            return "";
        }
    }

    private void awaitShown(GroupNode node, String at) {
        await().until(
                        () -> {
                            thread.submit(() -> node.appear("ann", at)).get();
                            return shown().equals(at);
                        });
    }

    /** The answer to a request of the last session comes after the member heard of its end. */
    @Test
    void aMemberAppearsAgainThoughItsSessionEndedWhileItAsked() throws Exception {
        try (GroupNode node = node()) {
            thread.execute(node::read);
            // The one above, and the one that the new connection asks for.
            await().until(() -> reader.reads.get() >= 2);
            CountDownLatch expired = new CountDownLatch(1);
            thread.execute(
                    () -> {
                        node.appear("ann", "127.0.0.1:1");
                        awaitLatch(expired);
                    });
            // The answer about the znode above.
            await().until(() -> thread.getQueue().size() == 1);
            server.expireAllBut(hand.getSessionId());
            // And that the connection ended, and the session.
            await().until(() -> thread.getQueue().size() == 3);
            expired.countDown();
            // In the next session, behind the late answer.
            await().until(() -> reader.reads.get() >= 3);
            awaitShown(node, "127.0.0.1:1");
        }
    }

    @Test
    void aMemberAppearsInEachSession() throws Exception {
        try (GroupNode node = node()) {
            thread.execute(node::read);
            awaitShown(node, "127.0.0.1:1");
            server.expireAllBut(hand.getSessionId());
            await().until(() -> shown().isEmpty());
            awaitShown(node, "127.0.0.1:1");
        }
        await().until(() -> shown().isEmpty());
    }

    /** The znode of an earlier start stays until that one's session ends. */
    @Test
    void aMemberReplacesWhatAnEarlierStartLeft() throws Exception {
        hand.create(
                "/groups/travel/members",
                new byte[0],
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.PERSISTENT);
        hand.create(
                ANN,
                "127.0.0.1:1".getBytes(UTF_8),
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL);
        try (GroupNode node = node()) {
            thread.execute(node::read);
            awaitShown(node, "127.0.0.1:2");
            assertThat(hand.exists(ANN, false).getEphemeralOwner())
                    .isNotEqualTo(hand.getSessionId());
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
