package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.zookeeper.server.persistence.MomentaryDisk.Operation;
import org.apache.zookeeper.util.ServiceUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The disk refuses one operation for one moment, wherever the log has one: the claims end for good,
 * and the process; and interrupts refuse nothing (R14, R25).
 */
@Tag("slow")
class LogFailureTest {
    private static final long FIRST = 0x1_0000_0001L;
    private static final long PATIENCE_MILLIS = TimeUnit.MINUTES.toMillis(1);
    private static final int LARGER_THAN_THE_BUFFER = 700_000;
    private static final int INTERRUPTED_ENTRIES = 50;
    private static final int MANY_INTERRUPTED_ENTRIES = 500;
    private static final int PAGE_BYTES = 4096;
    private static final int PAGE_IN_WHICH_THE_SECOND_BEGINS = 3;
    private static final int PAGE_IN_WHICH_THE_THIRD_ENDS = 9;
    private static final ProposalTag FAST =
            ProposalTag.of(Mode.FAST, new long[] {1, 2, 3}, LleMap.empty());
    private static final ProposalTag SLOW =
            ProposalTag.of(Mode.SLOW, new long[] {1, 2, 3}, LleMap.empty());

    @TempDir Path folder;

    private final MomentaryDisk disk = new MomentaryDisk();
    private final List<String> exits = new CopyOnWriteArrayList<>();
    private final AtomicBoolean withdrawn = new AtomicBoolean();
    private Markers markersAtExit;
    private SaucrTxnSnapLog snapLog;
    private SaucrTxnLog log;

    @BeforeEach
    void open() throws Exception {
        FileTxnLog.setPreallocSize(64 * 1024);
        ServiceUtils.setSystemExitProcedure(code -> exit());
        snapLog = Logs.unopened(folder, "1h", "1h", new LogMetrics());
        snapLog.open(
                Markers.none(),
                new RestartProof() {
                    @Override
                    public void logFile(Path newest) {}

                    @Override
                    public void reached(long zxid) {}

                    @Override
                    public void withdraw() {
                        withdrawn.set(true);
                    }

                    @Override
                    public void close() {}
                },
                disk);
        log = snapLog.log();
    }

    /** The exit of a process waits for its hooks, of which one is the last flush. */
    private void exit() {
        Thread hook = new Thread(() -> log.flushForEver("the process ends"));
        hook.setDaemon(true);
        hook.start();
        try {
            hook.join(PATIENCE_MILLIS);
            markersAtExit = snapLog.markerStore().read();
        } catch (InterruptedException | IOException e) {
            exits.add(e.toString());
        }
        exits.add(
                (hook.isAlive() ? "deadlock" : "exit")
                        + (withdrawn.get() ? ", proof withdrawn" : ", proof stands"));
    }

    @AfterEach
    void close() throws IOException {
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
        snapLog.close();
    }

    private Path version() {
        return folder.resolve("version-2");
    }

    private void append(long zxid, ProposalTag tag, int bytes) throws IOException {
        log.announce(zxid, tag);
        log.append(Transactions.create(zxid, bytes));
    }

    private void write(long zxid, ProposalTag tag) throws IOException {
        append(zxid, tag, 10);
        log.commit();
    }

    private interface Step {
        void run(LogFailureTest test) throws Exception;
    }

    /** A place where the log writes, and whether the markers said "fast" when it did. */
    private record Site(String name, Operation refused, boolean saysFast, Step before, Step step) {
        Site(String name, Operation refused, Step before, Step step) {
            this(name, refused, true, before, step);
        }

        @Override
        public String toString() {
            return name + ", refused: " + refused;
        }
    }

    private static Stream<Site> sites() {
        Step nothing = test -> {};
        Step entry = test -> test.append(FIRST + 1, FAST, 10);
        Step slow = test -> test.append(FIRST + 1, SLOW, 10);
        Step commit = test -> test.log.commit();
        Step large = test -> test.append(FIRST + 1, FAST, LARGER_THAN_THE_BUFFER);
        Step rolled = test -> test.log.rollLog();
        return Stream.of(
                new Site("an append that fills the buffer", Operation.WRITE, nothing, large),
                new Site(
                        "an append that pads the file",
                        Operation.PAD,
                        large,
                        test -> test.append(FIRST + 2, FAST, 10)),
                new Site("an append to a new file", Operation.CREATE, rolled, entry),
                new Site("a new file's header", Operation.WRITE, rolled, entry),
                new Site("a new file's padding", Operation.PAD, rolled, entry),
                new Site("a fast batch", Operation.WRITE, entry, commit),
                new Site("a slow batch", Operation.WRITE, slow, commit),
                new Site("a slow batch", Operation.FORCE, slow, commit),
                new Site("rolling", Operation.WRITE, entry, rolled),
                new Site(
                        "a full file",
                        Operation.CLOSE,
                        rolled,
                        test -> test.log.flushAndMark(FlushCause.OPERATOR, "test")),
                new Site("a reader", Operation.WRITE, entry, test -> test.log.makeReadable()),
                new Site(
                        "a leader's reader",
                        Operation.WRITE,
                        entry,
                        test -> test.snapLog.readTxnLog(FIRST, false)),
                new Site(
                        "who asks for the end",
                        Operation.WRITE,
                        entry,
                        test -> test.snapLog.getLastLoggedZxid()),
                new Site(
                        "a flush",
                        Operation.WRITE,
                        entry,
                        test -> test.log.flushAndMark(FlushCause.OPERATOR, "test")),
                new Site(
                        "a flush",
                        Operation.FORCE,
                        entry,
                        test -> test.log.flushAndMark(FlushCause.OPERATOR, "test")),
                new Site("a snapshot", Operation.FORCE, entry, test -> test.log.forceNow()),
                new Site("a truncation", Operation.WRITE, entry, test -> test.log.truncate(FIRST)),
                new Site("a truncation", Operation.FORCE, entry, test -> test.log.truncate(FIRST)),
                new Site(
                        "a truncation",
                        Operation.CLOSE,
                        false,
                        nothing,
                        test -> test.log.truncate(FIRST)),
                new Site("closing", Operation.WRITE, entry, test -> test.log.close()),
                new Site("closing", Operation.FORCE, entry, test -> test.log.close()));
    }

    @ParameterizedTest
    @MethodSource("sites")
    void r14AnOperationThatIsRefusedOnceEndsEveryClaimAndTheProcess(Site site) throws Exception {
        write(FIRST, FAST);
        site.before.run(this);
        disk.refuseNext(site.refused);
        assertThatThrownBy(() -> site.step.run(this)).isInstanceOf(Exception.class);
        assertThat(disk.hasRefused()).isTrue();
        assertThat(exits).containsExactly("exit, proof withdrawn");
        assertThat(markersAtExit.crashedInFastMode()).isEqualTo(site.saysFast);
        claimsNothingFromNowOn();
    }

    private void claimsNothingFromNowOn() throws IOException {
        List<Long> before = Transactions.read(version(), version(), 0);
        assertThatThrownBy(() -> append(FIRST + 2, FAST, 10)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.commit()).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.rollLog()).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.makeReadable()).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.forceNow()).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.truncate(FIRST)).isInstanceOf(IOException.class);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isFalse();
        log.flushForEver("test");
        log.close();
        assertThat(log.claimsOnDisk()).isFalse();
        assertThat(Transactions.read(version(), version(), 0)).isEqualTo(before);
        assertThat(snapLog.markerStore().read()).isEqualTo(markersAtExit);
        assertThat(exits).hasSize(1);
    }

    @Test
    void r10ALastFlushThatFailsClaimsNothing() throws Exception {
        write(FIRST, FAST);
        append(FIRST + 1, FAST, 10);
        disk.refuseNext(Operation.WRITE);
        Thread hook = new Thread(() -> log.flushForEver("SIGTERM"));
        hook.start();
        hook.join();
        assertThat(disk.hasRefused()).isTrue();
        assertThat(withdrawn).isTrue();
        assertThat(snapLog.markerStore().read().latestOnDisk()).isZero();
        assertThat(log.claimsOnDisk()).isFalse();
        // The hook's thread has kept the locks.
        snapLog = new SaucrTxnSnapLog(folder.toFile(), folder.toFile(), null, null);
    }

    @Test
    void aLogWhoseMarkersSayOnDiskClaimsNothingEither() throws Exception {
        write(FIRST, SLOW);
        append(FIRST + 1, SLOW, 10);
        disk.refuseNext(Operation.WRITE);
        assertThatThrownBy(() -> log.makeReadable()).isInstanceOf(IOException.class);
        assertThat(log.claimsOnDisk()).isFalse();
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isFalse();
        assertThatThrownBy(() -> log.commit()).isInstanceOf(IOException.class);
        assertThat(snapLog.markerStore().read().latestOnDisk()).isZero();
    }

    // ---- Interrupts ----

    @Test
    void anInterruptedThreadMayAppendForceFlushAndReadAndTheLogGoesOn() throws Exception {
        write(FIRST, FAST);
        Thread.currentThread().interrupt();
        append(FIRST + 1, FAST, LARGER_THAN_THE_BUFFER);
        log.makeReadable();
        log.commit();
        append(FIRST + 2, SLOW, 10);
        log.commit();
        log.rollLog();
        write(FIRST + 3, FAST);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        log.truncate(FIRST + 3);
        assertThat(Thread.interrupted()).isTrue();
        write(FIRST + 4, FAST);
        log.forceNow();
        assertThat(Transactions.read(version(), version(), 0))
                .containsExactly(FIRST, FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 4);
        assertThat(exits).isEmpty();
    }

    @Test
    void interruptsInTheMiddleOfWritesAndForcesLoseNothing() throws Exception {
        interruptsLoseNothing(INTERRUPTED_ENTRIES);
    }

    @Tag("long")
    @Test
    void manyInterruptsInTheMiddleOfWritesAndForcesLoseNothing() throws Exception {
        interruptsLoseNothing(MANY_INTERRUPTED_ENTRIES);
    }

    private void interruptsLoseNothing(int entries) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        Thread reader =
                new Thread(
                        () -> {
                            try {
                                while (!done.get()) {
                                    log.makeReadable();
                                    log.forceNow();
                                }
                            } catch (IOException e) {
                                failures.add(e);
                            }
                        });
        Thread writer =
                new Thread(
                        () -> {
                            try {
                                for (long i = 0; i < entries; i++) {
                                    append(FIRST + i, i % 10 == 9 ? SLOW : FAST, 5_000);
                                    log.commit();
                                }
                            } catch (IOException e) {
                                failures.add(e);
                            }
                        });
        reader.start();
        writer.start();
        while (writer.isAlive()) {
            writer.interrupt();
            reader.interrupt();
            Thread.onSpinWait();
        }
        done.set(true);
        reader.join();
        assertThat(failures).isEmpty();
        assertThat(exits).isEmpty();
        assertThat(Transactions.read(version(), version(), 0))
                .isEqualTo(Transactions.zxids(1, 1, entries));
    }

    // ---- Pages of a slow batch that reach the disk in another order (H2) ----

    /** Writes one batch in slow mode; its pages come last in the file, none of them forced. */
    private Path slowBatch(int entries) throws IOException {
        write(FIRST, SLOW);
        for (int i = 1; i <= entries; i++) {
            append(FIRST + i, SLOW, 3 * PAGE_BYTES);
        }
        log.makeReadable();
        return DataFolder.logs(version()).get(0);
    }

    private void losePage(Path file, int page) throws IOException {
        byte[] content = Files.readAllBytes(file);
        Arrays.fill(content, page * PAGE_BYTES, (page + 1) * PAGE_BYTES, (byte) 0);
        Files.write(file, content);
    }

    private SaucrTxnSnapLog nextStart() throws Exception {
        return Logs.unopened(folder);
    }

    @Test
    void h2ASoundEntryBehindATornOneOfASlowBatchIsDamageThatIsNamedAndNothingIsCut()
            throws Exception {
        Path file = slowBatch(3);
        losePage(file, PAGE_IN_WHICH_THE_SECOND_BEGINS);
        byte[] before = Files.readAllBytes(file);
        SaucrTxnSnapLog next = nextStart();
        assertThatThrownBy(() -> next.open(next.markerStore().read()))
                .isInstanceOf(DamagedLogException.class)
                .hasMessageContaining("0x100000001");
        next.close();
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
    }

    @Test
    void h2ASlowBatchWhoseLastEntryAloneIsTornIsCutThere() throws Exception {
        Path file = slowBatch(3);
        losePage(file, PAGE_IN_WHICH_THE_THIRD_ENDS);
        SaucrTxnSnapLog next = nextStart();
        next.open(next.markerStore().read());
        assertThat(next.log().lastAppended()).isEqualTo(FIRST + 2);
        next.close();
    }
}
