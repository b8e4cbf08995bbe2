package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.checkpoint.FolderStore;
import io.saucr.services.checkpoint.Loading;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.core.standby.StandbyHead.Copies;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** C3, C4: what the store is said to have, it has, whichever call to it fails or hangs. */
class SharingTest {

    private static final String MEMBER = "000000000000000a";
    private static final Birth BIRTH = new Birth(1, 2);
    private static final Incarnation SELF = new Incarnation(BIRTH, 1, 7);
    private static final Path SHARED = Path.of("/simulated/shared");
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ScheduledExecutorService segments = Executors.newScheduledThreadPool(1);
    private final ScheduledExecutorService bases = Executors.newScheduledThreadPool(1);
    private final AtomicLong stored = new AtomicLong();
    private final AtomicInteger failures = new AtomicInteger();

    @AfterEach
    void end() {
        segments.shutdownNow();
        bases.shutdownNow();
    }

    private static StandbyHead head(SegmentId segment, Copies copies) {
        return new StandbyHead(
                SELF,
                MEMBER,
                "a:1",
                segment,
                segment.number(),
                new TreeSet<>(List.of(MEMBER)),
                copies,
                Optional.empty(),
                Optional.empty());
    }

    private static MemberFolder folder(String name) throws IOException {
        MemberFolder folder =
                MemberFolder.open(
                        new SimulatedDisk(1), Path.of("/simulated/" + name), "bank", RANDOM);
        folder.birth(BIRTH);
        return folder;
    }

    private static Segment next(MemberFolder folder) {
        return next(folder, 3);
    }

    private static Segment next(MemberFolder folder, int bytes) {
        long number = folder.last().number() + 1;
        Segment segment =
                Segment.of(
                        new SegmentHeader(
                                "bank", SELF, number, number, number, folder.last().digest(), 0),
                        new byte[bytes]);
        folder.append(segment);
        return segment;
    }

    private Sharing sharing(SharedStore.Opener opener, MemberFolder folder, StandbyHead head) {
        return new Sharing(
                "bank",
                new Sharing.Shared(opener, segments, bases, 5),
                folder,
                head,
                new Sharing.Listener() {
                    @Override
                    public void stored(long number) {
                        stored.set(number);
                    }

                    @Override
                    public void failed() {
                        failures.incrementAndGet();
                    }
                });
    }

    private static SegmentId loaded(SharedStore from, SegmentId upTo) throws IOException {
        try (MemberFolder empty = folder("empty")) {
            boolean unused =
                    new Loading(from, empty)
                            .load(
                                    upTo,
                                    segment -> {
                                        empty.append(segment);
                                        return true;
                                    });
            return empty.last();
        }
    }

    @Test
    void whicheverCallFailsTheStoreHasTheWholeChainInTheEnd() throws Exception {
        for (int call = 1; call <= 12; call += 1) {
            SimulatedDisk disk = new SimulatedDisk(call);
            disk.makeFolder(SHARED);
            disk.failOnceAt(call);
            SharedStore.Opener opener = FolderStore.in(disk, SHARED, "bank", RANDOM);
            stored.set(0);
            try (MemberFolder own = folder("own")) {
                // Two that an earlier primary could not put there.
                Segment unused = next(own);
                SegmentId taken = next(own).id();
                Sharing sharing = sharing(opener, own, head(taken, Copies.ALONE));
                sharing.begin();
                sharing.cut(next(own));
                await().atMost(Duration.ofSeconds(20)).until(() -> stored.get() == 3);
                assertThat(sharing.problem()).isEmpty();
                assertThat(loaded(opener.open(BIRTH), own.last())).isEqualTo(own.last());
                sharing.end();
            }
        }
        assertThat(failures.get()).isPositive();
    }

    /** Commits go on without it, as the primary decides; the member's thread never waits. */
    @Test
    void aStoreThatHangsHoldsNobody() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        disk.makeFolder(SHARED);
        CountDownLatch hangs = new CountDownLatch(1);
        SharedStore.Opener behind = FolderStore.in(disk, SHARED, "bank", RANDOM);
        SharedStore.Opener opener =
                new SharedStore.Opener() {
                    @Override
                    public SharedStore open(Birth birth) throws IOException {
                        try {
                            hangs.await();
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                        return behind.open(birth);
                    }

                    @Override
                    public String where() {
                        return "hangs";
                    }

                    @Override
                    public void close() {}
                };
        try (MemberFolder own = folder("own")) {
            Sharing sharing = sharing(opener, own, head(SegmentId.NONE, Copies.ALONE));
            sharing.begin();
            for (int count = 0; count < 5; count++) {
                sharing.cut(next(own));
            }
            assertThat(stored.get()).isZero();
            hangs.countDown();
            await().until(() -> stored.get() == 5);
            assertThat(loaded(behind.open(BIRTH), own.last())).isEqualTo(own.last());
            sharing.end();
        }
    }

    /** A full disk, and room again. */
    @Test
    void aFullStoreIsToldAndTriedAgain() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        disk.makeFolder(SHARED);
        disk.limit(700);
        SharedStore.Opener opener = FolderStore.in(disk, SHARED, "bank", RANDOM);
        try (MemberFolder own = folder("own")) {
            Sharing sharing = sharing(opener, own, head(SegmentId.NONE, Copies.ALONE));
            sharing.begin();
            for (int count = 0; count < 8; count++) {
                sharing.cut(next(own));
            }
            await().until(() -> failures.get() > 0);
            assertThat(stored.get()).isLessThan(8);
            assertThat(sharing.problem()).isNotEmpty();
            disk.limit(Long.MAX_VALUE);
            await().until(() -> stored.get() == 8);
            assertThat(loaded(opener.open(BIRTH), own.last())).isEqualTo(own.last());
            sharing.end();
        }
    }

    /** The folder lets go what two bases do not need, also while the store could not take it. */
    @Test
    void aStoreThatFailedForLongIsFilledFromABase() throws Exception {
        for (int before = 0; before <= 2; before++) {
            SimulatedDisk disk = new SimulatedDisk(before);
            disk.makeFolder(SHARED);
            SharedStore.Opener opener = FolderStore.in(disk, SHARED, "bank", RANDOM);
            stored.set(0);
            failures.set(0);
            try (MemberFolder own = folder("own")) {
                Sharing sharing = sharing(opener, own, head(SegmentId.NONE, Copies.ALONE));
                sharing.begin();
                for (int count = 0; count < before; count++) {
                    sharing.cut(next(own));
                }
                long first = before;
                await().until(() -> stored.get() == first);
                disk.limit(0);
                for (int count = 0; own.oldest() <= before + 1; count++) {
                    assertThat(count).isLessThan(10);
                    // So large that each begins a log file of its own.
                    sharing.cut(next(own, 9 << 20));
                    own.base(own.last(), List.of(SELF), to -> to.section("state").write(1));
                }
                await().until(() -> failures.get() > 3);
                assertThat(sharing.problem()).isNotEmpty();
                disk.limit(Long.MAX_VALUE);
                await().until(() -> stored.get() == own.last().number());
                sharing.cut(next(own));
                await().until(() -> stored.get() == own.last().number());
                assertThat(sharing.problem()).isEmpty();
                assertThat(loaded(opener.open(BIRTH), own.last())).isEqualTo(own.last());
                sharing.end();
            }
        }
    }

    /** What was stored is not there: an empty folder where a network's was. */
    @Test
    void anEmptyFolderInItsPlaceIsNotTaken() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        disk.makeFolder(SHARED);
        SharedStore.Opener opener = FolderStore.in(disk, SHARED, "bank", RANDOM);
        try (MemberFolder own = folder("own")) {
            SegmentId taken = next(own).id();
            Sharing sharing = sharing(opener, own, head(taken, Copies.STORE));
            sharing.begin();
            await().until(() -> failures.get() > 0);
            assertThat(sharing.problem()).contains(taken.toString()).contains("not mounted");
            assertThat(stored.get()).isZero();
            // It is mounted.
            opener.open(BIRTH).append(own.read(1));
            await().until(() -> stored.get() == 1);
            sharing.end();
        }
    }
}
