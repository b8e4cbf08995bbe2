package io.saucr.services;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForwardingDisk;
import io.saucr.services.local.LocalService;
import io.saucr.services.standby.StandbyService;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K4, K8, K14: a service that must not go on is over, and its process goes on. */
class HaltTest {

    @TempDir private Path temp;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final BlockingQueue<String> halts = new LinkedBlockingQueue<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch hanging = new CountDownLatch(1);
    private TestServer server;

    /** One more. */
    public record Count() {}

    /** A turn that lasts until it is released. */
    public record Hang() {}

    /** How many there were. */
    public record Counted(int count) {}

    private final class Counter implements Service {

        private final ValueState<Counted> counted;

        Counter(State state) {
            counted = state.value("counted", Counted.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Count.class,
                    (count, turn) -> {
                        Counted now = new Counted(counted.orElse(new Counted(0)).count() + 1);
                        counted.update(now);
                        turn.reply(now);
                    });
            on.message(
                    Hang.class,
                    (hang, turn) -> {
                        hanging.countDown();
                        released.await();
                        counted.update(new Counted(1_000));
                    });
        }
    }

    /** The fsync of one that fails writes nothing, as where the disk is gone. */
    private static final class FailingDisk extends ForwardingDisk {

        private volatile boolean fails;

        /** Forces wait for it, and fail then. */
        private final CountDownLatch held = new CountDownLatch(1);

        private volatile boolean holds;

        FailingDisk() {
            super(Disk.local());
        }

        @Override
        protected void beforeForce() {
            if (holds) {
                try {
                    held.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            if (fails) {
                throw new UncheckedIOException(new IOException("no such device"));
            }
        }
    }

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(temp.resolve("zookeeper"));
    }

    @AfterEach
    void closeAll() throws Exception {
        released.countDown();
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
        server.close();
    }

    private Place place(String name) {
        Place place = Place.at(server.connect() + "/apps/" + name, Optional.empty());
        return place.withFolder(temp.resolve(name)).withSegmentBytes(1 << 20);
    }

    private Halt halt() {
        return (reason, cause) -> halts.add(reason);
    }

    private RunningService local(Disk disk, String name) throws Exception {
        return kept(
                LocalService.start(disk, place(name), Counter::new, Protection.local(), halt()));
    }

    private RunningService standby(Disk disk, String name) throws Exception {
        return kept(
                StandbyService.start(
                        disk, place(name), Counter::new, Protection.standby(), halt()));
    }

    private RunningService kept(RunningService running) {
        open.add(running);
        return running;
    }

    private Client client(String of) throws IOException {
        Client client = Services.at(server.connect() + "/apps/" + of).client("reader");
        open.add(client);
        return client;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private static int count(Client client) throws Exception {
        return get(client.ask(new Count(), Counted.class)).count();
    }

    private String halted() throws Exception {
        return halts.poll(30, SECONDS);
    }

    private void theOtherGoesOn(RunningService dead, Client other) throws Exception {
        assertThat(count(other)).isEqualTo(2);
        assertThat(dead.halted()).isPresent();
        assertThatThrownBy(dead::join).isInstanceOf(ServiceException.class);
        assertThatThrownBy(dead::status).isInstanceOf(ServiceException.class);
        dead.close();
        assertThat(count(other)).isEqualTo(3);
        assertThat(halts).isEmpty();
    }

    @Test
    void anFsyncThatFailsEndsOneServiceOfTwo() throws Exception {
        FailingDisk disk = new FailingDisk();
        RunningService dead = local(disk, "dead");
        RunningService lives = local(Disk.local(), "lives");
        Client atDead = client("dead");
        Client atLiving = client("lives");
        assertThat(count(atDead)).isEqualTo(1);
        assertThat(count(atLiving)).isEqualTo(1);

        disk.fails = true;
        CompletableFuture<Counted> unanswered = atDead.ask(new Count(), Counted.class);
        assertThat(halted()).startsWith("dead halts: ").contains("fix the disk");
        theOtherGoesOn(dead, atLiving);
        // Nothing said that the turn is final, though it may be on disk.
        assertThat(unanswered).isNotDone();

        disk.fails = false;
        RunningService again = local(disk, "dead");
        // The client sends it again where the start has not got it: it counts once.
        assertThat(get(unanswered)).isEqualTo(new Counted(2));
        assertThat(count(atDead)).isEqualTo(3);
        assertThat(again.halted()).isEmpty();
        assertThat(lives.halted()).isEmpty();
    }

    @Test
    void aMemberWhoseDiskFailsEndsAlone() throws Exception {
        FailingDisk disk = new FailingDisk();
        RunningService dead = standby(disk, "dead");
        RunningService lives = standby(Disk.local(), "lives");
        Client atDead = client("dead");
        Client atLiving = client("lives");
        assertThat(count(atDead)).isEqualTo(1);
        assertThat(count(atLiving)).isEqualTo(1);

        disk.fails = true;
        CompletableFuture<Counted> unanswered = atDead.ask(new Count(), Counted.class);
        assertThat(halted()).startsWith("dead halts: ").contains("fix the disk");
        assertThat(count(atLiving)).isEqualTo(2);
        assertThat(dead.halted()).isPresent();
        assertThatThrownBy(dead::join).isInstanceOf(ServiceException.class);
        dead.close();
        assertThat(unanswered).isNotDone();

        disk.fails = false;
        RunningService again = standby(disk, "dead");
        assertThat(get(unanswered)).isEqualTo(new Counted(2));
        assertThat(count(atDead)).isEqualTo(3);
        assertThat(count(atLiving)).isEqualTo(3);
        assertThat(again.halted()).isEmpty();
        assertThat(lives.halted()).isEmpty();
    }

    @Test
    void aHeadThatIsGoneEndsTheService() throws Exception {
        RunningService dead = local(Disk.local(), "dead");
        RunningService lives = local(Disk.local(), "lives");
        Client atLiving = client("lives");
        assertThat(count(atLiving)).isEqualTo(1);
        ZooKeeper zk = new ZooKeeper(server.connect(), 10_000, event -> {});
        try {
            zk.delete("/apps/dead/head", -1);
        } finally {
            zk.close();
        }
        assertThat(halted()).contains("the head of /apps/dead is missing");
        theOtherGoesOn(dead, atLiving);
        assertThat(lives.halted()).isEmpty();
    }

    @Test
    void whatATurnThatHangsDoesAfterwardsNeverCounts() throws Exception {
        FailingDisk disk = new FailingDisk();
        RunningService dead = local(disk, "dead");
        Client atDead = client("dead");
        assertThat(count(atDead)).isEqualTo(1);
        disk.holds = true;
        CompletableFuture<Counted> unanswered = atDead.ask(new Count(), Counted.class);
        CompletableFuture<Void> hangs = atDead.send(new Hang());
        assertThat(hanging.await(30, SECONDS)).isTrue();
        disk.fails = true;
        disk.held.countDown();
        assertThat(halted()).contains("fix the disk");
        // A turn of it still runs, so its folder is in use.
        assertThatThrownBy(() -> local(Disk.local(), "dead"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("in use");
        released.countDown();
        dead.close();

        disk.fails = false;
        RunningService again = local(disk, "dead");
        assertThat(get(unanswered)).isEqualTo(new Counted(2));
        get(hangs);
        assertThat(count(atDead)).isEqualTo(1_001);
        assertThat(again.halted()).isEmpty();
    }

    @Test
    void theOwnerMayCloseItAsItHears() throws Exception {
        FailingDisk disk = new FailingDisk();
        BlockingQueue<RunningService> own = new LinkedBlockingQueue<>();
        CountDownLatch closed = new CountDownLatch(1);
        RunningService dead =
                LocalService.start(
                        disk,
                        place("dead"),
                        Counter::new,
                        Protection.local(),
                        (reason, cause) -> {
                            try {
                                own.take().close();
                                closed.countDown();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                            throw new IllegalStateException("an owner that fails, too");
                        });
        open.add(dead);
        own.add(dead);
        disk.fails = true;
        CompletableFuture<Counted> unanswered = client("dead").ask(new Count(), Counted.class);
        assertThat(closed.await(30, SECONDS)).isTrue();
        dead.close();
        disk.fails = false;
        RunningService again = local(disk, "dead");
        assertThat(get(unanswered)).isEqualTo(new Counted(1));
        assertThat(again.halted()).isEmpty();
    }
}
