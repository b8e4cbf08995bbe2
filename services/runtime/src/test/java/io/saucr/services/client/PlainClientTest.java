package io.saucr.services.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Where answers are told. */
class PlainClientTest {

    private static final int MANY = 2_000;

    /** A thread for each costs sixteen times what the call costs else. */
    @Test
    void manyAnswersAreToldByAFewThreads() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<Boolean>> told = new ArrayList<>();
        for (int answer = 0; answer < MANY; answer++) {
            told.add(
                    PlainClient.told(
                            CompletableFuture.completedFuture(answer),
                            given -> threads.add(Thread.currentThread())));
        }
        CompletableFuture.allOf(told.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        assertThat(threads).isNotEmpty().hasSizeLessThan(MANY / 10);
        assertThat(threads).allMatch(Thread::isDaemon);
    }

    /** Those that wait for an answer hold up nobody, not even the one that they wait for. */
    @Test
    void whoHearsAnAnswerMayWaitForAnother() throws Exception {
        int waiting = 4 * Math.max(8, Runtime.getRuntime().availableProcessors());
        CountDownLatch waits = new CountDownLatch(waiting);
        CompletableFuture<String> last = new CompletableFuture<>();
        CompletableFuture<String> toldLast = PlainClient.told(last, given -> given);
        List<CompletableFuture<String>> all = new ArrayList<>();
        for (int each = 0; each < waiting; each++) {
            all.add(
                    PlainClient.told(
                            CompletableFuture.completedFuture("first"),
                            given -> {
                                waits.countDown();
                                return given + " " + toldLast.join();
                            }));
        }
        assertThat(waits.await(20, TimeUnit.SECONDS)).isTrue();
        last.complete("last");
        for (CompletableFuture<String> each : all) {
            assertThat(each.get(20, TimeUnit.SECONDS)).isEqualTo("first last");
        }
    }

    @Test
    void aFailureIsToldAsItIs() {
        CompletableFuture<String> call = new CompletableFuture<>();
        CompletableFuture<String> told = PlainClient.told(call, given -> given);
        call.completeExceptionally(new IllegalStateException("no"));
        assertThat(told)
                .failsWithin(20, TimeUnit.SECONDS)
                .withThrowableThat()
                .withCauseInstanceOf(IllegalStateException.class)
                .withMessageContaining("no");
    }
}
