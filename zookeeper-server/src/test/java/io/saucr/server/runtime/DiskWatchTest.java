package io.saucr.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.util.ServiceUtils;
import org.junit.jupiter.api.Test;

class DiskWatchTest {
    private final Queue<String> warnings = new ConcurrentLinkedQueue<>();

    @Test
    void aDiskThatDoesNotAnswerIsToldOfAgainAndAgain() throws Exception {
        CountDownLatch twice = new CountDownLatch(2);
        DiskWatch watch =
                new DiskWatch(
                        Duration.ofMillis(1),
                        warning -> {
                            warnings.add(warning);
                            twice.countDown();
                        });
        watch.run("writing the epoch", () -> await(twice));
        assertThat(warnings)
                .hasSizeGreaterThanOrEqualTo(2)
                .allSatisfy(
                        warning ->
                                assertThat(warning)
                                        .startsWith(
                                                "Still waiting for the disk: writing the epoch has"
                                                        + " taken "));
    }

    @Test
    void aDiskThatAnswersIsNot() throws Exception {
        DiskWatch watch = new DiskWatch(Duration.ofHours(1), warnings::add);
        watch.run("writing", () -> {});
        assertThatThrownBy(
                        () ->
                                watch.run(
                                        "writing",
                                        () -> {
                                            throw new IOException("full");
                                        }))
                .hasMessage("full");
        assertThat(warnings).isEmpty();
    }

    @Test
    void aWarningThatCannotBeGivenEndsTheProcess() throws Exception {
        CountDownLatch exit = new CountDownLatch(1);
        ServiceUtils.setSystemExitProcedure(code -> exit.countDown());
        try {
            DiskWatch watch =
                    new DiskWatch(
                            Duration.ofMillis(1),
                            warning -> {
                                throw new OutOfMemoryError("injected");
                            });
            watch.run("writing", () -> await(exit));
        } finally {
            ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
