package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C2: small segments in the ensemble, at a real server. */
class EnsembleStoreTest {

    private static final String PATH = "/segments";

    @TempDir private Path data;

    private final Chain chain = new Chain();
    private TestServer server;
    private ZooKeeper session;
    private EnsembleStore store;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(data);
        session = new ZooKeeper(server.connect(), 30_000, event -> {});
        session.create(PATH, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        store = store(PATH, Chain.SERVICE, Chain.BIRTH);
    }

    @AfterEach
    void stopServer() throws Exception {
        store.close();
        session.close(1_000);
        server.close();
    }

    private EnsembleStore store(String path, String service, Birth birth) {
        return new EnsembleStore(session, path, ZooDefs.Ids.OPEN_ACL_UNSAFE, service, birth);
    }

    @Test
    void whatWasStoredIsRead() throws Exception {
        for (int count = 0; count < 3; count++) {
            Segment segment = chain.next(1000 * count, 0);
            store.append(segment);
            // As after an answer that did not come.
            store.append(segment);
        }
        store.force();
        assertThat(store.list()).containsExactly(chain.id(1), chain.id(2), chain.id(3));
        assertThat(store.read(chain.id(3)).encoded()).isEqualTo(chain.get(3).encoded());
        store.drop(chain.id(2));
        store.drop(chain.id(2));
        assertThat(store.list()).containsExactly(chain.id(1), chain.id(3));
        assertThatThrownBy(() -> store.read(chain.id(2)))
                .isInstanceOf(MissingSegmentException.class)
                .hasMessageContaining(PATH);
    }

    private Segment ofBytes(int bytes) {
        int beside = chain.next(0, 0).bytes();
        chain.cutAfter(chain.size() - 1L);
        // Frames of 64 KB have a length and a checksum of their own.
        Segment segment = chain.next(bytes - beside - (bytes >> 16) * 8, 0);
        assertThat(segment.bytes()).isBetween(bytes - 16, bytes);
        return segment;
    }

    @Test
    void whatIsTooLargeForTheEnsembleIsRefused() throws Exception {
        store.append(ofBytes(EnsembleStore.LARGEST_BYTES));
        Segment larger = ofBytes(EnsembleStore.LARGEST_BYTES + 20);
        assertThatThrownBy(() -> store.append(larger))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1048576")
                .hasMessageContaining(larger.id().toString())
                .hasMessageContaining("turns 2 to 2")
                .hasMessageContaining("shared folder");
        assertThat(store.list()).hasSize(1);
    }

    /** A znode has 16 KB at most; what has more is in parts, and no part is one of its own. */
    @Test
    void whatIsLargerThanAZnodeIsInParts() throws Exception {
        Segment small = ofBytes(EnsembleStore.PART_BYTES);
        store.append(small);
        assertThat(session.getChildren(PATH, false)).hasSize(1);
        Segment large = ofBytes(3 * EnsembleStore.PART_BYTES + 100);
        store.append(large);
        store.append(large);
        assertThat(session.getChildren(PATH, false)).hasSize(6);
        for (String each : session.getChildren(PATH, false)) {
            assertThat(session.getData(PATH + "/" + each, false, null).length)
                    .isLessThanOrEqualTo(EnsembleStore.PART_BYTES);
        }
        assertThat(store.list()).containsExactly(small.id(), large.id());
        assertThat(store.read(large.id()).encoded()).isEqualTo(large.encoded());

        String part = PATH + "/" + SegmentName.of(large.id()) + ".1";
        byte[] was = session.getData(part, false, null);
        session.setData(part, new byte[was.length], -1);
        assertThatThrownBy(() -> store.read(large.id()))
                .isInstanceOf(RefusedSegmentException.class)
                .hasMessageContaining(SegmentName.of(large.id()))
                .hasMessageContaining("left as it is");
        session.setData(part, new byte[was.length + 1], -1);
        assertThatThrownBy(() -> store.read(large.id()))
                .isInstanceOf(RefusedSegmentException.class);
        session.delete(part, -1);
        assertThatThrownBy(() -> store.read(large.id()))
                .isInstanceOf(MissingSegmentException.class);

        store.sweep();
        assertThat(session.getChildren(PATH, false)).hasSize(5);
        store.drop(large.id());
        store.sweep();
        assertThat(session.getChildren(PATH, false)).containsExactly(SegmentName.of(small.id()));
    }

    /** As by a primary that was deposed and does not know it yet. */
    @Test
    void whatIsSweptWhileItIsPutIsNeverTakenForWhole() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Void> sweeping =
                CompletableFuture.runAsync(
                        () -> {
                            try (EnsembleStore other = store(PATH, Chain.SERVICE, Chain.BIRTH)) {
                                while (!done.get()) {
                                    other.sweep();
                                }
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        for (int count = 0; count < 20; count++) {
            Segment large = chain.next(3 * EnsembleStore.PART_BYTES, 0);
            boolean put = false;
            for (int attempt = 0; !put && attempt < 1_000; attempt++) {
                try {
                    store.append(large);
                    put = true;
                } catch (MissingSegmentException e) {
                    // A part that was there was swept before it was compared.
                    assertThat(e.getMessage()).contains(SegmentName.of(large.id()));
                } catch (IOException e) {
                    assertThat(e.getMessage()).contains("before it was whole");
                }
            }
            assertThat(put).isTrue();
            assertThat(store.read(large.id()).id()).isEqualTo(large.id());
        }
        done.set(true);
        sweeping.get(30, TimeUnit.SECONDS);
        for (SegmentId each : store.list()) {
            assertThat(store.read(each).id()).isEqualTo(each);
        }
        assertThat(store.list()).hasSize(20);
    }

    @Test
    void aBaseIsKeptBesideSegments() throws Exception {
        try (MemberFolder folder =
                MemberFolder.open(
                        new SimulatedDisk(1),
                        Path.of("/simulated/member"),
                        Chain.SERVICE,
                        new SecureRandom())) {
            folder.birth(Chain.BIRTH);
            folder.append(chain.next());
            folder.base(
                    chain.id(1),
                    chain.epochs(),
                    writer -> writer.section("state").write(new byte[50_000]));
            try (ShippedBase base = folder.ship().orElseThrow()) {
                store.putBase(base);
            }
            assertThat(store.bases()).containsExactly(chain.id(1));
            assertThat(store.list()).isEmpty();
            try (ShippedBase read = store.base(chain.id(1));
                    ShippedBase own = folder.ship().orElseThrow()) {
                assertThat(read.digest()).isEqualTo(own.digest());
                assertThat(read.length()).isEqualTo(own.length());
            }
            store.dropBase(chain.id(1));
            store.sweep();
            assertThat(session.getChildren(PATH, false)).isEmpty();
            assertThatThrownBy(() -> store.base(chain.id(1)))
                    .isInstanceOf(MissingSegmentException.class);
        }
    }

    @Test
    void aNameThatHoldsSomethingElseIsRefused() throws Exception {
        Segment segment = chain.next();
        String znode = PATH + "/" + SegmentName.of(segment.id());
        byte[] other = "something else".getBytes(UTF_8);
        session.create(znode, other, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertThatThrownBy(() -> store.append(segment))
                .isInstanceOf(RefusedSegmentException.class)
                .hasMessageContaining(znode);
        assertThatThrownBy(() -> store.read(segment.id()))
                .isInstanceOf(RefusedSegmentException.class);
        assertThat(session.getData(znode, false, null)).isEqualTo(other);
        Segment next = chain.next();
        byte[] bytes = new byte[next.bytes()];
        next.encoded().get(bytes);
        session.setData(znode, bytes, -1);
        assertThatThrownBy(() -> store.read(segment.id()))
                .isInstanceOf(RefusedSegmentException.class)
                .hasMessageContaining("under the name of");
    }

    @Test
    void aForeignSegmentIsRefused() throws Exception {
        Segment segment = chain.next();
        store.append(segment);
        try (EnsembleStore shop = store(PATH, "shop", Chain.BIRTH);
                EnsembleStore reborn = store(PATH, Chain.SERVICE, new Birth(5, 5))) {
            assertThatThrownBy(() -> shop.append(segment))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> shop.read(segment.id()))
                    .isInstanceOf(RefusedSegmentException.class);
            assertThatThrownBy(() -> reborn.read(segment.id()))
                    .isInstanceOf(RefusedSegmentException.class);
        }
    }

    @Test
    void whyTheEnsembleCouldNotIsSaid() throws Exception {
        try (EnsembleStore lost = store("/nowhere", Chain.SERVICE, Chain.BIRTH)) {
            assertThatThrownBy(() -> lost.append(chain.next()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("there is no /nowhere");
            assertThatThrownBy(lost::list).isInstanceOf(IOException.class);
        }
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> store.read(new SegmentId(1, 1, "a".repeat(64))))
                .isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
        session.close();
        assertThatThrownBy(() -> store.append(chain.get(1)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("could not store segment");
        assertThatThrownBy(store::list)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("could not list");
    }
}
