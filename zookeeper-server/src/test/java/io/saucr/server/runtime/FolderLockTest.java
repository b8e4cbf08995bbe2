package io.saucr.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One process alone uses a folder. */
class FolderLockTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    @TempDir Path folder;

    /** The other process: has the lock until somebody closes its input, or kills it. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] args) throws IOException {
            FolderLock lock = FolderLock.take(Path.of(args[0]), Duration.ZERO);
            try (lock) {
                System.out.println("taken");
                while (System.in.read() >= 0) {
                    // Until the end of the input.
                }
            }
        }
    }

    private Process hold() throws IOException {
        Process holder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Holder.class.getName(),
                                folder.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        assertThat(holder.inputReader().lines().anyMatch(line -> line.startsWith("taken")))
                .isTrue();
        return holder;
    }

    private static void end(Process holder) throws InterruptedException {
        holder.destroyForcibly();
        assertThat(holder.waitFor(2, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void anotherProcessIsKeptOff() throws Exception {
        assertThat(FolderLock.isTaken(folder)).isFalse();
        Process holder = hold();
        try {
            assertThat(FolderLock.isTaken(folder)).isTrue();
            assertThatThrownBy(() -> FolderLock.take(folder, Duration.ZERO))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Another process uses " + folder);
        } finally {
            end(holder);
        }
        assertThat(FolderLock.isTaken(folder)).isFalse();
        FolderLock.take(folder, Duration.ZERO).close();
    }

    @Test
    void aProcessThatEndsIsWaitedFor() throws Exception {
        Process holder = hold();
        try {
            Thread end = new Thread(holder::destroyForcibly);
            end.start();
            FolderLock.take(folder, LONG).close();
            end.join();
        } finally {
            end(holder);
        }
    }

    /** Embedded servers of tests are stopped and started in one process. */
    @Test
    void aServerOfTheSameProcessIsNotKeptOff() throws Exception {
        try (FolderLock first = FolderLock.take(folder, Duration.ZERO);
                FolderLock second = FolderLock.take(folder, Duration.ZERO)) {
            assertThat(first).isNotSameAs(second);
        }
    }

    @Test
    void aPipeOfThatNameIsNoLockAndNobodyWaitsForIt() throws Exception {
        new ProcessBuilder("mkfifo", folder.resolve(FolderLock.FILE).toString()).start().waitFor();
        assertTimeoutPreemptively(
                Duration.ofSeconds(30), () -> assertThat(FolderLock.isTaken(folder)).isFalse());
    }
}
