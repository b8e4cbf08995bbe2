package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The shim below a program that does nothing but disk operations. */
@Tag("slow")
class FsyncShimTest {
    @TempDir Path work;

    private Path root;
    private FsyncShim shim;
    private Process process;
    private BufferedWriter input;
    private BufferedReader output;

    @BeforeEach
    void start() throws IOException {
        assumeTrue(FsyncShim.available(), "no C compiler");
        root = Files.createDirectories(work.resolve("data")).toRealPath();
        Files.writeString(root.resolve("old"), "before");
        shim = FsyncShim.create(root, work.resolve("shim"), true);
        launch();
    }

    @AfterEach
    void stop() {
        process.destroyForcibly();
    }

    private void launch() throws IOException {
        shim.beforeStart();
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx32m",
                        "-Xshare:auto",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        Path.of("target", "test-classes").toAbsolutePath().toString(),
                        DiskProgram.class.getName(),
                        root.toString());
        builder.environment().putAll(shim.environment());
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        process = builder.start();
        input =
                new BufferedWriter(
                        new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        output =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Returns the microseconds that the operation took and its outcome. */
    private String[] outcome(String operation) throws IOException {
        input.write(operation + "\n");
        input.flush();
        String line = output.readLine();
        assertThat(line).as(operation).isNotNull();
        return line.split(" ", 2);
    }

    private void run(String... operations) throws IOException {
        for (String operation : operations) {
            assertThat(outcome(operation)[1]).as(operation).isEqualTo("ok");
        }
    }

    private Map<String, String> afterPowerLoss(boolean namesNeedTheFolder) throws Exception {
        process.destroyForcibly();
        process.waitFor();
        shim.losePower(namesNeedTheFolder);
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                content.put(root.relativize(file).toString(), Files.readString(file));
            }
        }
        return content;
    }

    @Test
    void aForceTakesTheDelayWhichCanBeChangedWhileTheProgramRuns() throws Exception {
        run("append log.1 x", "force log.1");
        for (int millis : new int[] {10, 30}) {
            shim.delay(Duration.ofMillis(millis));
            for (String force : List.of("force log.1", "forceall log.1")) {
                run("append log.1 x");
                long micros = Long.parseLong(outcome(force)[0]);
                assertThat(micros).isGreaterThanOrEqualTo(millis * 1000L);
            }
        }
        shim.delay(Duration.ZERO);
        assertThat(shim.timeInForces()).isGreaterThanOrEqualTo(Duration.ofMillis(80));
        assertThat(shim.pid()).isEqualTo(process.pid());
        assertThat(shim.isLoadedBy(process.pid())).isTrue();
        assertThat(shim.isLoadedBy(ProcessHandle.current().pid())).isFalse();
    }

    @Test
    void aForceTakesHardlyMoreThanTheDelay() throws Exception {
        shim.delay(Duration.ofMillis(10));
        long quickest = Long.MAX_VALUE;
        for (int i = 0; i < 50; i++) {
            run("append log.1 x");
            quickest = Math.min(quickest, Long.parseLong(outcome("force log.1")[0]));
        }
        // A busy machine may wake any of them late, but not all.
        assertThat(quickest).isBetween(10_000L, 13_000L);
    }

    @Test
    void forcesAreCountedByClassOfFile() throws Exception {
        run("append log.1 x", "force log.1", "append log.1 x", "forceall log.1");
        run("append snapshot.0 x", "force snapshot.0", "append epoch x", "force epoch", "dir .");
        assertThat(shim.forces()).isEqualTo(new FsyncShim.Forces(2, 1, 1, 1));
    }

    @Test
    void forcesFailAndTheDiskIsFullOnCommand() throws Exception {
        run("append log.1 x");
        shim.failForces(true);
        assertThat(outcome("force log.1")[1]).contains("Input/output error");
        shim.failForces(false);
        run("force log.1");
        shim.fullDisk(true);
        assertThat(outcome("append log.1 x")[1]).contains("No space left");
        assertThat(outcome("append log.2 x")[1]).contains("No space left");
        shim.fullDisk(false);
        run("append log.2 x");
        assertThat(shim.failedForces()).isEqualTo(1);
        assertThat(shim.refusedWrites()).isEqualTo(2);
    }

    /** As Linux has it: after a force that failed the pages look clean. */
    @Test
    void whatAFailedForceLeavesIsLostUnlessItIsWrittenOnceMore() throws Exception {
        run("append log.1 forced", "force log.1", "append log.1 lost");
        run("append log.2 kept");
        shim.failForces(true);
        assertThat(outcome("force log.1")[1]).contains("Input/output error");
        assertThat(outcome("force log.2")[1]).contains("Input/output error");
        shim.failForces(false);
        // Of the same page.
        run("force log.1", "append log.2 too", "force log.2");
        assertThat(afterPowerLoss(false))
                .isEqualTo(Map.of("old", "before", "log.1", "forced\0\0\0\0", "log.2", "kepttoo"));
    }

    @Test
    void someWritesAreRefusedAndThenNoMore() throws Exception {
        run("append log.1 a");
        shim.refuseWrites(2, FsyncShim.WriteError.IO);
        assertThat(outcome("append log.1 b")[1]).contains("Input/output error");
        assertThat(outcome("append log.2 b")[1]).contains("Input/output error");
        run("append log.1 c", "append log.2 d");
        shim.refuseWrites(5, FsyncShim.WriteError.NO_SPACE);
        assertThat(outcome("append log.1 e")[1]).contains("No space left");
        shim.refuseWrites(0, FsyncShim.WriteError.NO_SPACE);
        run("append log.1 f", "force log.1", "force log.2");
        assertThat(shim.refusedWrites()).isEqualTo(3);
        assertThat(afterPowerLoss(false))
                .isEqualTo(Map.of("old", "before", "log.1", "acf", "log.2", "d"));
    }

    @Test
    void aHungDiskLetsNothingReturnUntilItWorksAgain() throws Exception {
        run("append log.1 a");
        for (String operation :
                List.of("append log.1 b", "force log.1", "append log.2 c", "move old new")) {
            shim.hang(true);
            CompletableFuture<String> outcome =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return outcome(operation)[1];
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            assertThatThrownBy(() -> outcome.get(300, TimeUnit.MILLISECONDS))
                    .as(operation)
                    .isInstanceOf(TimeoutException.class);
            shim.hang(false);
            assertThat(outcome.get(60, TimeUnit.SECONDS)).as(operation).isEqualTo("ok");
        }
        run("append log.1 x");
        shim.hang(true);
        input.write("force log.1\n");
        input.flush();
        assertThat(afterPowerLoss(false))
                .as("what was forced before")
                .isEqualTo(Map.of("old", "before", "log.1", "ab"));
        shim.hang(false);
    }

    @Test
    void whatWasReplacedWhileTheProgramDidNotRunIsDurable() throws Exception {
        run("append log.1 aa", "force log.1", "append log.2 bb", "delete old");
        process.destroyForcibly();
        process.waitFor();
        Files.delete(root.resolve("log.1"));
        Files.writeString(root.resolve("log.3"), "cc");
        shim.replaced();
        launch();
        run("append log.3 dd");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("log.2", "bb", "log.3", "cc"));
    }

    @Test
    void aReadOnlyDiskTakesNothingAndLosesNothing() throws Exception {
        run("append log.1 x");
        shim.readOnlyDisk(true);
        for (String change :
                List.of("append log.1 x", "append log.2 x", "stream old x", "move old new")) {
            assertThat(outcome(change)[1]).as(change).contains("Read-only file system");
        }
        assertThat(outcome("delete old")[1]).contains("Read-only file system");
        run("force log.1");
        shim.readOnlyDisk(false);
        run("append log.2 y");
        assertThat(shim.refusedWrites()).isEqualTo(5);
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "log.1", "x"));
    }

    @Test
    void theWallClockJumpsAndTimeGoesOn() throws Exception {
        for (long millis : new long[] {86_400_123, -86_400_123, -1, 0}) {
            shim.shiftClock(Duration.ofMillis(millis));
            long before = System.currentTimeMillis() + millis;
            String[] clock = outcome("clock .");
            assertThat(Long.parseLong(clock[1]))
                    .isBetween(before, System.currentTimeMillis() + millis);
            assertThat(Long.parseLong(clock[0])).isBetween(0L, 10_000_000L);
        }
    }

    @Test
    void onlyForcedBytesSurvive() throws Exception {
        run("append log.1 aa", "force log.1", "append log.1 bb", "append log.2 cc");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "log.1", "aa"));
    }

    @Test
    void anOverwrittenRangeAndAPreallocatedTailComeBack() throws Exception {
        run("at old 2 XY", "at log.1 0 ab", "length log.1 6", "force log.1");
        run("at log.1 2 cd", "at log.1 1 Z", "length log.1 1", "append log.1 tail");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "log.1", "ab\0\0\0\0"));
    }

    @Test
    void aRewrittenFileWithoutForceComesBack() throws Exception {
        run("stream old new", "copy old other");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before"));
    }

    @Test
    void aReplacementIsUndoneUntilSomethingForcesIt() throws Exception {
        run("append tmp new", "force tmp", "close tmp", "move tmp old");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "tmp", "new"));
        launch();
        run("move tmp old", "append log.1 x", "force log.1");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "new", "log.1", "x"));
    }

    @Test
    void whereNamesNeedTheFolderAForcedFileMayVanish() throws Exception {
        run("append log.1 x", "force log.1", "append log.2 y", "force log.2", "delete old");
        run("append log.3 z", "dir .", "append log.4 z", "force log.4");
        assertThat(afterPowerLoss(true)).isEqualTo(Map.of("log.1", "x", "log.2", "y", "log.3", ""));
    }

    @Test
    void aRenamedFolderTakesItsFilesAlong() throws Exception {
        run("mkdir staged", "append staged/a x", "force staged/a", "close staged/a", "dir staged");
        run("move staged decided");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "staged/a", "x"));
        assertThat(root.resolve("decided")).doesNotExist();
        launch();
        run("move staged decided", "dir .");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "decided/a", "x"));
        launch();
        run("append decided/b y", "force decided/b", "close decided/b");
        run("move decided staged", "move staged/a b", "delete staged/b", "delete staged", "dir .");
        run("mkdir staged", "append staged/c z", "force staged/c");
        assertThat(afterPowerLoss(false))
                .isEqualTo(Map.of("old", "before", "b", "x", "staged/c", "z"));
    }

    @Test
    void whereNamesNeedTheFolderItsOwnNameNeedsTheOneAbove() throws Exception {
        run("mkdir staged", "append staged/a x", "force staged/a", "dir .", "move staged decided");
        run("dir decided", "append decided/b y", "force decided/b");
        assertThat(afterPowerLoss(true)).isEqualTo(Map.of("old", "before", "staged/a", "x"));
        launch();
        run("move staged decided", "dir .", "delete decided/a", "delete decided");
        assertThat(afterPowerLoss(true)).isEqualTo(Map.of("old", "before", "decided/a", "x"));
    }

    @Test
    void aFolderThatCouldNotBeRenamedKeepsItsName() throws Exception {
        run("mkdir staged", "append staged/a x", "force staged/a");
        run("mkdir full", "append full/a y", "force full/a");
        assertThat(outcome("move staged full")[1]).contains("not empty");
        run("append staged/b z", "force staged/b");
        assertThat(afterPowerLoss(false))
                .isEqualTo(
                        Map.of("old", "before", "staged/a", "x", "staged/b", "z", "full/a", "y"));
    }

    @Test
    void whatWasHardenedSurvives() throws Exception {
        run("append log.1 aa", "append log.1 bb", "append other x", "move other another");
        shim.harden();
        run("append log.1 cc", "append log.2 dd");
        assertThat(afterPowerLoss(true))
                .isEqualTo(Map.of("old", "before", "log.1", "aabb", "another", "x"));
    }

    @Test
    void aRemovalIsUndoneUntilForced() throws Exception {
        run("delete old");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before"));
        launch();
        run("delete old", "dir .");
        assertThat(afterPowerLoss(false)).isEmpty();
    }

    @Test
    void whatAKilledProcessLeftIsLostWithThePower() throws Exception {
        run("append log.1 aa", "force log.1", "append log.1 bb");
        process.destroyForcibly();
        process.waitFor();
        assertThat(Files.readString(root.resolve("log.1"))).isEqualTo("aabb");
        launch();
        run("append log.1 cc", "append log.2 dd");
        assertThat(afterPowerLoss(false)).isEqualTo(Map.of("old", "before", "log.1", "aa"));
    }
}
