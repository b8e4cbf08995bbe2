package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.ensemble.TestServer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
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

    @Test
    void whatIsTooLargeForTheEnsembleIsRefused() throws Exception {
        int beside = chain.next(0, 0).bytes();
        chain.cutAfter(0);
        store.append(chain.next(EnsembleStore.LARGEST_BYTES - beside, 0));
        assertThat(chain.get(1).bytes()).isEqualTo(EnsembleStore.LARGEST_BYTES);
        chain.cutAfter(0);
        Segment larger = chain.next(EnsembleStore.LARGEST_BYTES - beside + 1, 0);
        assertThatThrownBy(() -> store.append(larger))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("16384");
        assertThat(store.list()).hasSize(1);
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
