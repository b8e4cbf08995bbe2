package io.saucr.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.util.ServiceUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CriticalThreadTest {
    private static final int EXIT_CODE = ExitCode.UNEXPECTED_ERROR.getValue();

    private final BlockingQueue<Integer> exits = new LinkedBlockingQueue<>();

    @BeforeEach
    void recordExits() {
        ServiceUtils.setSystemExitProcedure(exits::add);
    }

    @AfterEach
    void leaveExitsOff() {
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
    }

    @Test
    void anErrorEndsTheProcess() throws Exception {
        assertEndsTheProcess(
                () -> {
                    throw new OutOfMemoryError("injected");
                });
    }

    @Test
    void anExceptionThatNobodyExpectedEndsTheProcess() throws Exception {
        assertEndsTheProcess(
                () -> {
                    throw new IllegalStateException("injected");
                });
    }

    private void assertEndsTheProcess(Runnable body) throws InterruptedException {
        Thread thread = new CriticalThread("critical", body, () -> false);
        thread.start();
        assertThat(exits.poll(1, TimeUnit.MINUTES)).isEqualTo(EXIT_CODE);
        thread.join();
        assertThat(exits).isEmpty();
        assertThat(thread.isDaemon()).isTrue();
    }

    @Test
    void whileAllIsClosedOnlyAnErrorEndsTheProcess() throws Exception {
        Thread thread =
                new CriticalThread(
                        "critical",
                        () -> {
                            throw new IllegalStateException("injected");
                        },
                        () -> true);
        thread.start();
        thread.join();
        assertThat(exits).isEmpty();
        Thread other =
                new CriticalThread(
                        "critical",
                        () -> {
                            throw new NoClassDefFoundError("injected");
                        },
                        () -> true);
        other.start();
        assertThat(exits.poll(1, TimeUnit.MINUTES)).isEqualTo(EXIT_CODE);
    }

    @Test
    void aThreadThatIsDoneEndsNothing() throws Exception {
        Thread thread = new CriticalThread("critical", () -> {}, () -> false);
        thread.start();
        thread.join();
        assertThat(exits).isEmpty();
    }

    @Test
    void aHookThatHangsDoesNotKeepTheProcess(@TempDir Path folder) throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                HangingHook.class.getName())
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("output").toFile())
                        .start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).isEqualTo(EXIT_CODE);
        } finally {
            process.destroyForcibly();
        }
    }

    /** A program whose critical thread dies, and whose shutdown hook never returns. */
    static final class HangingHook {
        private HangingHook() {}

        public static void main(String[] args) throws InterruptedException {
            Runtime.getRuntime().addShutdownHook(new Thread(HangingHook::hang));
            Thread thread =
                    new CriticalThread(
                            "critical",
                            () -> {
                                throw new StackOverflowError("injected");
                            },
                            () -> false);
            thread.start();
            Thread.currentThread().join();
        }

        private static void hang() {
            while (true) {
                LockSupport.park();
            }
        }
    }
}
