package io.saucr.services.local;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Handlers;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceStatus;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.once.FreePorts;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** K13 in a real process of 80 MB: an outbox of any size for a peer that is away. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class SmallHeapTest {

    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final int SEGMENT_BYTES = 8 << 20;

    @TempDir Path temp;

    /** A piece of work. */
    public record Piece(int number, String text) {}

    /** Send some more. */
    public record Tick() {}

    /** Sends so many pieces to a peer, some with each tick. */
    public static final class Sender implements Service {

        private final ValueState<Integer> sent;
        private final int count;
        private final int eachTick;
        private final String text;

        Sender(State state, int count, int bytes) {
            this.sent = state.value("sent", Integer.class);
            this.count = count;
            this.eachTick = bytes > 1_000 ? 2 : 1_000;
            this.text = "x".repeat(bytes);
        }

        @Override
        public void handlers(Handlers on) {
            on.every(Duration.ofMillis(5), new Tick());
            on.message(
                    Tick.class,
                    (tick, turn) -> {
                        int before = sent.orElse(0);
                        int after = Math.min(count, before + eachTick);
                        for (int number = before + 1; number <= after; number++) {
                            turn.send("peer", new Piece(number, text));
                        }
                        if (after > before) {
                            sent.update(after);
                        }
                    });
        }
    }

    /** Takes pieces, which have to come once and in order. */
    private static final class Taker implements Service {

        private final ValueState<Integer> last;
        private final AtomicInteger seen;

        Taker(State state, AtomicInteger seen) {
            this.last = state.value("last", Integer.class);
            this.seen = seen;
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Piece.class,
                    (piece, turn) -> {
                        if (piece.number() == last.orElse(0) + 1) {
                            last.update(piece.number());
                            seen.set(piece.number());
                        } else {
                            seen.set(-1);
                        }
                    });
        }
    }

    /** The process: folder, port of the peer, how many pieces, bytes of each. */
    public static final class SendingProcess {

        private SendingProcess() {}

        /** Runs until it is killed; says when all was sent. */
        public static void main(String[] arguments) throws Exception {
            int count = Integer.parseInt(arguments[2]);
            int bytes = Integer.parseInt(arguments[3]);
            Address peer = new Address("localhost", Integer.parseInt(arguments[1]));
            RunningService running =
                    Services.without("sender", Map.of("peer", peer))
                            .folder(Path.of(arguments[0]))
                            .segmentBytes(SEGMENT_BYTES)
                            .foldBytes(3L * SEGMENT_BYTES)
                            .run(state -> new Sender(state, count, bytes), Protection.local());
            boolean all = false;
            while (!all) {
                Thread.sleep(100);
                ServiceStatus status = running.status();
                all =
                        status.finalTurn() == status.turn()
                                && status.channels().stream().anyMatch(it -> it.sent() == count);
            }
            System.out.println("all sent");
            running.join();
        }
    }

    private Process process(int port, int count, int bytes) throws IOException {
        String path =
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"));
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx80m",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        path,
                        SendingProcess.class.getName(),
                        temp.resolve("sender").toString(),
                        String.valueOf(port),
                        String.valueOf(count),
                        String.valueOf(bytes))
                .redirectError(temp.resolve("errors").toFile())
                .start();
    }

    private void awaitAllSent(Process process) throws IOException {
        BufferedReader out =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = out.readLine();
        while (line != null && !line.equals("all sent")) {
            line = out.readLine();
        }
        assertThat(line).as(() -> errors()).isEqualTo("all sent");
    }

    private String errors() {
        try {
            return Files.readString(temp.resolve("errors"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private long waitingFiles() throws IOException {
        try (Stream<Path> files = Files.walk(temp.resolve("sender").resolve("outbox"))) {
            return files.map(Path::toFile).filter(File::isFile).count();
        }
    }

    private void sendThenTake(int count, int bytes, int taken) throws Exception {
        int port = FreePorts.inARow(1);
        Process process = process(port, count, bytes);
        try {
            awaitAllSent(process);
            assertThat(waitingFiles()).isPositive();
            process.destroyForcibly().waitFor();
            process = process(port, count, bytes);
            awaitAllSent(process);
            AtomicInteger seen = new AtomicInteger();
            try (RunningService peer =
                    Services.without("peer", Map.of())
                            .folder(temp.resolve("peer"))
                            .segmentBytes(SEGMENT_BYTES)
                            .listen(new Address("localhost", port))
                            .run(state -> new Taker(state, seen), Protection.local())) {
                await().atMost(PATIENCE)
                        .failFast("the order is wrong", () -> seen.get() < 0)
                        .until(() -> seen.get() >= taken);
                if (taken == count) {
                    await().atMost(PATIENCE).until(() -> waitingFiles() == 0);
                }
                assertThat(peer.status().deadLetters()).isEmpty();
            }
            assertThat(process.isAlive()).as(this::errors).isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void twoHundredMegabytesForAPeerThatIsAway() throws Exception {
        sendThenTake(200, 1_000_000, 200);
    }

    @Test
    void manySmallMessagesForAPeerThatIsAway() throws Exception {
        sendThenTake(100_000, 20, 5_000);
    }

    @Tag("long")
    @Test
    void aMillionSmallMessagesForAPeerThatIsAway() throws Exception {
        sendThenTake(1_000_000, 20, 5_000);
    }
}
