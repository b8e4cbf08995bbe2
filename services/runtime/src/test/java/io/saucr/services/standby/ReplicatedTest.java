package io.saucr.services.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** X13: snapshots of quiet cuts, which may come faster than a disk takes them. */
@Timeout(60)
class ReplicatedTest {

    private static final Path PATH = Path.of("/simulated/one");
    private static final Birth BIRTH = new Birth(1, 2);
    private static final Incarnation SELF = new Incarnation(BIRTH, 1, 7);

    private final SimulatedDisk disk = new SimulatedDisk(1);
    private final List<Long> written = new CopyOnWriteArrayList<>();
    private final ThreadPoolExecutor folding =
            new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    private MemberFolder folder;
    private Replicated life;

    @BeforeEach
    void begin() throws IOException {
        folder = MemberFolder.open(disk, PATH, "bank", new SecureRandom());
        folder.birth(BIRTH);
        life =
                new Replicated(
                        "bank",
                        BIRTH,
                        folder,
                        new OutboxFiles(disk, PATH, SELF, SELF::equals, 1 << 20),
                        new Batches(1 << 20),
                        null,
                        1 << 20,
                        folding);
    }

    @AfterEach
    void end() throws IOException {
        folding.shutdownNow();
        folder.close();
    }

    private SegmentId next() throws IOException {
        long number = folder.last().number() + 1;
        Segment segment =
                Segment.of(
                        new SegmentHeader(
                                "bank", SELF, number, number, number, folder.last().digest(), 0),
                        new byte[3]);
        folder.append(segment);
        folder.force();
        return segment.id();
    }

    private Base.Sections sections(SegmentId at, CountDownLatch begun, CountDownLatch continues) {
        return writer -> {
            begun.countDown();
            try {
                continues.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            written.add(at.number());
            try (OutputStream section = writer.section("lanes")) {
                section.write(1);
            }
        };
    }

    @Test
    void x13OfSnapshotsThatWaitForTheDiskTheNewestIsKept() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch continues = new CountDownLatch(1);
        SegmentId first = next();
        life.base(first, List.of(SELF), sections(first, begun, continues));
        begun.await();
        for (int count = 0; count < 5; count++) {
            SegmentId at = next();
            life.base(at, List.of(SELF), sections(at, begun, continues));
        }
        assertThat(folding.getQueue()).as("each is a copy of the state").hasSizeLessThan(2);
        continues.countDown();
        folding.shutdown();
        assertThat(folding.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(written).containsExactly(1L, 6L);
        assertThat(folder.newestBase().number()).isEqualTo(6);
    }
}
