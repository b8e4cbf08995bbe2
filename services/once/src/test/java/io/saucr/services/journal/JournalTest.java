package io.saucr.services.journal;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K4 and K8: what is reported, when, and what happens when the disk fails or hangs. */
class JournalTest {

    private static final SecureRandom RANDOM = new SecureRandom();

    @TempDir Path temporary;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<Long> forced = Collections.synchronizedList(new ArrayList<>());
    private final List<IOException> failures = Collections.synchronizedList(new ArrayList<>());
    private final JournalListener listener =
            new JournalListener() {
                @Override
                public void forced(long turn) {
                    forced.add(turn);
                }

                @Override
                public void failed(IOException cause) {
                    failures.add(cause);
                }
            };

    private Recovered recovered;

    @AfterEach
    void close() throws Exception {
        Collections.reverse(opened);
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private Journal journal(Disk disk, ForceMode force, int segmentBytes) throws IOException {
        ServiceFolder folder = ServiceFolder.open(disk, temporary.resolve("bank"), "bank", RANDOM);
        opened.add(folder);
        recovered = folder.recover(new JournalOptions(force, segmentBytes));
        Journal journal = recovered.journal(listener);
        opened.add(journal);
        return journal;
    }

    private Journal journal(ForceMode force) throws IOException {
        return journal(Disk.local(), force, 4096);
    }

    private static ByteBuffer delta(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private void reopen() throws Exception {
        close();
        opened.clear();
    }

    private List<String> read(ForceMode force) throws Exception {
        List<String> turns = new ArrayList<>();
        try (ServiceFolder folder = ServiceFolder.open(temporary.resolve("bank"), "bank", RANDOM)) {
            folder.recover(new JournalOptions(force, 4096))
                    .turns((turn, delta) -> turns.add(turn + " " + UTF_8.decode(delta)));
        }
        return turns;
    }

    @Test
    void aTurnIsReportedOnceItIsForced() throws Exception {
        Journal journal = journal(ForceMode.always());
        journal.append(1, delta("one"));
        await().until(() -> journal.forced() == 1 && forced.equals(List.of(1L)));
        assertThat(journal.unforcedBytes()).isZero();
        assertThat(journal.forces()).isEqualTo(1);
        reopen();
        assertThat(read(ForceMode.always())).containsExactly("1 one");
    }

    @Test
    void closingForcesAndReportsWhatWasAppended() throws Exception {
        for (ForceMode force :
                List.of(
                        ForceMode.always(),
                        ForceMode.group(Duration.ofSeconds(1)),
                        ForceMode.os())) {
            Journal journal = journal(force);
            long first = journal.appended() + 1;
            for (long turn = first; turn < first + 100; turn++) {
                journal.append(turn, delta("turn".repeat((int) turn % 50)));
            }
            journal.close();
            assertThat(forced.get(forced.size() - 1)).isEqualTo(first + 99);
            assertThat(forced).isSorted();
            reopen();
            assertThat(read(force)).hasSize((int) first + 99);
        }
        assertThat(failures).isEmpty();
    }

    @Test
    void aDeltaMayBeEmptyOrLargerThanASegment() throws Exception {
        Journal journal = journal(ForceMode.always());
        journal.append(1, delta("x".repeat(20_000)));
        journal.append(2, delta(""));
        ByteBuffer middle = delta("abcdef").position(2).limit(4);
        journal.append(3, middle);
        assertThat(middle.position()).isEqualTo(2);
        journal.append(4, delta("y".repeat(2_000_000)));
        journal.append(5, delta("five"));
        reopen();
        assertThat(read(ForceMode.always()))
                .containsExactly(
                        "1 " + "x".repeat(20_000),
                        "2 ",
                        "3 cd",
                        "4 " + "y".repeat(2_000_000),
                        "5 five");
    }

    @Test
    void aTurnOutOfOrderIsRefusedAndChangesNothing() throws Exception {
        Journal journal = journal(ForceMode.always());
        assertThatThrownBy(() -> journal.append(2, delta("")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("turn 1 is to be appended next, not 2");
        journal.append(1, delta("one"));
        assertThatThrownBy(() -> journal.append(1, delta("")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.folded(2)).hasMessageContaining("not synced yet");
        assertThatThrownBy(() -> recovered.journal(listener)).hasMessageContaining("already");
        journal.close();
        assertThatThrownBy(() -> journal.append(2, delta("")))
                .isInstanceOf(IllegalStateException.class);
        reopen();
        assertThat(read(ForceMode.always())).containsExactly("1 one");
    }

    /** A start needs no memory of a segment's size: neither to look, nor to write an end again. */
    @Test
    void k9SegmentsAreReadAndWrittenInPieces() throws Exception {
        int segment = 8 << 20;
        for (ForceMode force : List.of(ForceMode.always(), ForceMode.os())) {
            Journal journal = journal(Disk.local(), force, segment);
            long first = journal.appended() + 1;
            for (long turn = first; turn < first + 300; turn++) {
                journal.append(turn, delta("%05d".formatted(turn).repeat(10_000)));
            }
            reopen();
            Disk pieces =
                    new ForwardingDisk(Disk.local()) {
                        @Override
                        protected void beforeRead(int bytes) {
                            assertThat(bytes).isLessThanOrEqualTo(1 << 20);
                        }
                    };
            Journal again = journal(pieces, force, segment);
            long[] next = {1};
            // Also behind the journal's begin, whose own turns are none of those.
            again.append(first + 300, delta(""));
            recovered.turns(
                    (turn, delta) -> {
                        assertThat(turn).isEqualTo(next[0]++);
                        assertThat(delta.remaining()).isIn(0, 50_000);
                    });
            assertThat(next[0]).isEqualTo(first + 300);
            reopen();
        }
    }

    @Test
    void turnsAreNotReadBehindAnotherBase() throws Exception {
        Journal journal = journal(ForceMode.always());
        journal.append(1, delta("one"));
        await().until(() -> journal.forced() == 1);
        recovered.base().write(1, writer -> {});
        assertThatThrownBy(() -> recovered.turns((turn, delta) -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the base of turn 0 was replaced by one of 1");
    }

    @Test
    void anInterruptedTurnThreadAppends() throws Exception {
        Journal journal = journal(ForceMode.always());
        Thread.currentThread().interrupt();
        journal.append(1, delta("one"));
        assertThat(Thread.interrupted()).isTrue();
        await().until(() -> journal.forced() == 1);
    }

    @Test
    void whatIsOnlyWrittenIsForcedWithWhatComesBehindItOrAtTheEnd() throws Exception {
        Gated gate = new Gated();
        Journal journal = journal(gate.disk(), ForceMode.always(), 1 << 20);
        gate.gated = true;
        journal.write(1, delta("one"));
        journal.write(2, delta("two"));
        assertThat(gate.waiting.availablePermits()).isZero();
        journal.append(3, delta("three"));
        gate.waiting.acquire();
        journal.write(4, delta("four"));
        journal.forceBeside();
        gate.permits.release();
        gate.waiting.acquire();
        assertThat(forced).containsExactly(3L);
        gate.gated = false;
        gate.permits.release();
        await().until(() -> forced.equals(List.of(3L, 4L)));
        journal.write(5, delta("five"));
        journal.close();
        assertThat(forced).containsExactly(3L, 4L, 5L);
    }

    /** A simulated disk whose forces wait for a permit. */
    private static final class Gated {
        final SimulatedDisk disk = new SimulatedDisk(1);
        final Semaphore permits = new Semaphore(0);
        final Semaphore waiting = new Semaphore(0);
        volatile boolean gated;

        Disk disk() {
            return new ForwardingDisk(disk) {
                @Override
                protected void beforeForce() {
                    if (gated) {
                        waiting.release();
                        permits.acquireUninterruptibly();
                    }
                }
            };
        }
    }

    @Test
    void oneForceCoversAllTurnsAppendedBeforeItAndNoneAfter() throws Exception {
        Gated gate = new Gated();
        Journal journal = journal(gate.disk(), ForceMode.always(), 1 << 20);
        gate.gated = true;
        journal.append(1, delta("one"));
        gate.waiting.acquire();
        // The first force is under way; these do not wait for it, nor does it cover them.
        for (long turn = 2; turn <= 50; turn++) {
            journal.append(turn, delta("more"));
        }
        assertThat(forced).isEmpty();
        assertThat(journal.unforcedBytes()).isEqualTo(50 * 40);
        gate.permits.release();
        gate.waiting.acquire();
        assertThat(forced).containsExactly(1L);
        gate.permits.release();
        await().until(() -> forced.equals(List.of(1L, 50L)));
        assertThat(journal.forces()).isEqualTo(2);
        gate.permits.release(100);
    }

    @Test
    void aHungForceReportsNothingWhileSegmentsFill() throws Exception {
        Gated gate = new Gated();
        Journal journal = journal(gate.disk(), ForceMode.always(), 4096);
        gate.gated = true;
        for (long turn = 1; turn <= 200; turn++) {
            journal.append(turn, delta("x".repeat(200)));
        }
        gate.waiting.acquire();
        assertThat(forced).isEmpty();
        assertThat(journal.appended()).isEqualTo(200);
        gate.gated = false;
        gate.permits.release(100);
        await().until(() -> journal.forced() == 200);
    }

    @Test
    void aFailureIsToldOnceAndNothingAfterIt() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        Journal journal = journal(disk, ForceMode.always(), 4096);
        journal.append(1, delta("one"));
        await().until(() -> journal.forced() == 1);
        // The next force: before it there is the write.
        disk.failAt(2);
        journal.append(2, delta("two"));
        await().until(() -> failures.size() == 1);
        for (int more = 0; more < 3; more++) {
            assertThatThrownBy(() -> journal.append(3, delta("three")))
                    .isInstanceOf(DeadJournalException.class)
                    .hasMessageContaining("simulated failure: force");
        }
        journal.close();
        assertThat(failures).hasSize(1);
        assertThat(forced).containsExactly(1L);
    }

    @Test
    void aFailedWriteIsToldToWhoAppendsAndToTheListener() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        Journal journal = journal(disk, ForceMode.always(), 4096);
        disk.failAt(1);
        assertThatThrownBy(() -> journal.append(1, delta("one")))
                .isInstanceOf(DeadJournalException.class);
        assertThat(failures).hasSize(1);
        journal.close();
        assertThat(forced).isEmpty();
    }

    @Test
    void aListenerThatThrowsIsAFailure() throws Exception {
        try (ServiceFolder folder = ServiceFolder.open(temporary.resolve("bank"), "bank", RANDOM)) {
            Journal journal =
                    folder.recover(new JournalOptions(ForceMode.always(), 4096))
                            .journal(
                                    new JournalListener() {
                                        @Override
                                        public void forced(long turn) {
                                            throw new IllegalStateException("no");
                                        }

                                        @Override
                                        public void failed(IOException cause) {
                                            failures.add(cause);
                                        }
                                    });
            journal.append(1, delta("one"));
            await().until(() -> failures.size() == 1);
            journal.close();
        }
    }

    @Test
    void foldedSegmentsGoAndTheirFilesServeAgain() throws Exception {
        Journal journal = journal(ForceMode.always());
        long turn = 0;
        for (int round = 1; round <= 20; round++) {
            for (int count = 0; count < 20; count++) {
                journal.append(++turn, delta("x".repeat(400)));
            }
            long last = turn;
            await().until(() -> journal.forced() == last);
            recovered.base().write(last, writer -> writer.section("a").write((int) last));
            journal.folded(last);
            assertThat(journal.bytesAboveBase()).isLessThan(65_536);
        }
        Path folder = temporary.resolve("bank").resolve("journal");
        await().untilAsserted(
                        () -> {
                            try (var files = Files.list(folder)) {
                                assertThat(files.count()).isLessThanOrEqualTo(3);
                            }
                        });
        reopen();
        assertThat(read(ForceMode.always())).isEmpty();
        try (ServiceFolder again = ServiceFolder.open(temporary.resolve("bank"), "bank", RANDOM)) {
            Recovered rest = again.recover(new JournalOptions(ForceMode.always(), 4096));
            assertThat(rest.baseTurn()).isEqualTo(400);
            assertThat(rest.lastTurn()).isEqualTo(400);
        }
    }

    @Test
    void optionsHaveLimits() {
        assertThatThrownBy(() -> new JournalOptions(ForceMode.always(), 100))
                .hasMessageContaining("4096 to 1073741824 bytes, not 100");
        assertThatThrownBy(() -> ForceMode.group(Duration.ZERO)).hasMessageContaining("not PT0S");
        assertThatThrownBy(() -> ForceMode.group(Duration.ofSeconds(2)))
                .hasMessageContaining("at most 1 s");
    }
}
