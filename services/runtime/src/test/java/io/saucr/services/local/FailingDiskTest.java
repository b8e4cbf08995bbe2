package io.saucr.services.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.client.ClientMessages;
import io.saucr.services.client.ClientTurns;
import io.saucr.services.client.Losses;
import io.saucr.services.core.Body;
import io.saucr.services.core.CoreReport;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Limits;
import io.saucr.services.core.Link;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.TurnLoop;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * K4, K5, K8, K14 in a whole service over a disk that fails, once or for ever, at each of its
 * calls: it halts or does not start, or the failure was one that loses nothing; what left it is
 * known to the next start; and that goes on with all that was acknowledged.
 */
class FailingDiskTest {

    private static final Path FOLDER = Path.of("/simulated/adder");
    private static final int CALLS = 40;
    private static final int SEGMENT_BYTES = 4096;

    /** With this many bytes some segments fill up, and some bases are written. */
    private static final String FILLER = "x".repeat(150);

    /** Calls of a first start that an old service does not make are among these. */
    private static final int FIRST_START_CALLS = 40;

    /** A start that reads its files, and some bases that name them. */
    private static final int WITH_FILES_CALLS = 120;

    /** One message of each peer in memory. */
    private static final Limits SMALL = Limits.standard().outbox(1, 1 << 10);

    private static final long WAITED_SECONDS = 20;

    /** Add to the sum. */
    public record Add(int number, String filler) {}

    /** How many numbers were added, and what they came to. */
    public record Total(int count, int sum) {}

    /** Adds up; a number that counts twice, or never, shows in all later answers. */
    private static final class Adder implements Service {

        private final ValueState<Total> total;
        private final boolean tells;

        /** Whether it tells each sum to somebody who is away. */
        Adder(State state, boolean tells) {
            total = state.value("total", Total.class);
            this.tells = tells;
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Add.class,
                    (add, turn) -> {
                        Total before = total.orElse(new Total(0, 0));
                        Total after = new Total(before.count() + 1, before.sum() + add.number());
                        total.update(after);
                        turn.reply(after);
                        if (tells) {
                            turn.send("away", new Add(after.sum(), add.filler()));
                        }
                    });
        }
    }

    /** What one start lets out. */
    private static final class Left {
        long acked;
        long sent;
        Incarnation said;

        void add(Frame frame) {
            if (frame instanceof Frame.Ack it) {
                acked = Math.max(acked, it.number());
            } else if (frame instanceof Frame.Msg it) {
                sent = Math.max(sent, it.number());
            } else if (frame instanceof Frame.Hello it) {
                said = it.from();
                acked = Math.max(acked, it.consumed().number());
                sent = Math.max(sent, it.sent().number());
            }
        }
    }

    /** A client on a disk that never fails, and a service that is started again and again. */
    private static final class World {

        private final SimulatedDisk disk;
        private final SecureRandom random = new SecureRandom();
        private final ClientMessages messages = new ClientMessages();
        private final OwnDisk clientDisk;
        private final ClientTurns client;
        private final TurnLoop clientLoop;
        private final List<CompletableFuture<Body>> answers = new ArrayList<>();
        private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
        private final Left left = new Left();
        private final boolean tells;
        private long links;
        private Start start;

        World(long seed, boolean tells) throws IOException {
            this.tells = tells;
            disk = new SimulatedDisk(seed);
            disk.readsToo();
            clientDisk =
                    OwnDisk.open(
                            new SimulatedDisk(seed),
                            Path.of("/simulated/ann"),
                            "ann",
                            new JournalOptions(ForceMode.always(), 1 << 14),
                            random);
            client =
                    ClientTurns.open(
                            "ann",
                            "adder",
                            clientDisk,
                            TurnOptions.standard(),
                            new Losses("adder"),
                            new Turns.Surroundings(
                                    Turns.Surroundings::moment,
                                    random,
                                    Runnable::run,
                                    Runnable::run));
            clientLoop =
                    new TurnLoop(
                            "ann",
                            client,
                            why -> {
                                wrong.add("the client halts: " + why.reason() + ", " + why.cause());
                            });
            clientLoop.post(() -> client.begin(new Border(null)));
            clientDisk.confirm();
            clientDisk.begin(clientLoop);
            clientLoop.begin();
        }

        /** One start of the service. */
        private final class Start {

            final CompletableFuture<String> halted = new CompletableFuture<>();
            private final OwnDisk guard;
            private Turns turns;
            private TurnLoop loop;
            private Link link;

            Start() throws IOException {
                guard =
                        OwnDisk.open(
                                disk,
                                FOLDER,
                                "adder",
                                new JournalOptions(ForceMode.always(), SEGMENT_BYTES),
                                random);
                boolean started = false;
                try {
                    turns =
                            Turns.open(
                                    "adder",
                                    state -> new Adder(state, tells),
                                    guard,
                                    TurnOptions.standard()
                                            .with(tells ? SMALL : Limits.standard())
                                            .foldBytes(2_000),
                                    new Turns.Surroundings(
                                            Turns.Surroundings::moment,
                                            random,
                                            Runnable::run,
                                            Runnable::run));
                    loop = new TurnLoop("adder", turns, why -> halted.complete(why.reason()));
                    loop.post(() -> turns.begin(new Border(this)));
                    guard.confirm();
                    guard.begin(loop);
                    loop.begin();
                    started = true;
                } finally {
                    if (!started) {
                        end(false);
                    }
                }
            }

            void connect() {
                Link here = new Link(++links, "ann", true);
                link = new Link(here.id(), "adder", false);
                loop.post(() -> turns.linkUp(here));
                clientLoop.post(() -> client.linkUp(link));
            }

            /** As each second in a process. */
            void tend() {
                try {
                    turns.room(guard.isThere());
                } catch (IOException e) {
                    // Said in the log of a process.
                }
            }

            /** The process is gone. */
            void end(boolean running) throws IOException {
                disk.halt();
                if (running) {
                    loop.stop();
                    if (link != null) {
                        clientLoop.post(() -> client.linkDown(link));
                    }
                }
                guard.close();
            }
        }

        /** From one end to the other. */
        private final class Border implements Endpoint.Border {

            private final Start from;

            /** From the client where there is no start. */
            Border(Start from) {
                this.from = from;
            }

            @Override
            public void send(Link link, Frame frame) {
                if (from == null) {
                    Start to = start;
                    if (to != null) {
                        Link there = new Link(link.id(), "ann", true);
                        to.loop.post(() -> to.turns.frame(there, frame));
                    }
                } else {
                    synchronized (World.this) {
                        left.add(frame);
                    }
                    Link there = new Link(link.id(), "adder", false);
                    clientLoop.post(() -> client.frame(there, frame));
                }
            }

            @Override
            public void close(Link link, String reason) {
                wrong.add(link + " is closed: " + reason);
            }

            @Override
            public void reach(String service) {}

            @Override
            public void leave(String service, String reason) {}

            @Override
            public void call(long output, String id, Body call) {
                wrong.add("nothing is called: " + call);
            }

            @Override
            public void halt(String reason) {
                wrong.add("one is behind its own past: " + reason);
            }
        }

        /** Starts the service on what the disk has; it has to know what left it (K4, K14). */
        void start() throws IOException {
            Start next = new Start();
            try {
                CompletableFuture<List<CoreReport.Channel>> channels = new CompletableFuture<>();
                next.loop.post(() -> channels.complete(next.turns.core().report().channels()));
                await(channels);
                synchronized (this) {
                    long consumed = channels.join().stream().mapToLong(it -> it.consumed()).sum();
                    long sent = channels.join().stream().mapToLong(it -> it.sent()).sum();
                    assertThat(consumed).isGreaterThanOrEqualTo(left.acked);
                    assertThat(sent).isGreaterThanOrEqualTo(left.sent);
                    if (left.said != null) {
                        assertThat(next.guard.incarnations()).contains(left.said);
                        assertThat(next.guard.confirmed())
                                .isGreaterThanOrEqualTo(left.said.number());
                    }
                }
            } catch (AssertionError e) {
                next.end(true);
                throw e;
            }
            start = next;
            next.connect();
        }

        /** Calls until so many calls were made and answered, or the service halted. */
        void callUpTo(int count) {
            // Answers come while this counts them.
            for (int done = answered(); done < count && !start.halted.isDone(); done = answered()) {
                while (answers.size() < Math.min(count, done + 8)) {
                    call();
                }
                CompletableFuture<Body> oldest = answers.get(done);
                await(CompletableFuture.anyOf(oldest, start.halted));
                if (answers.size() % 10 == 0) {
                    start.tend();
                }
            }
        }

        private int answered() {
            int count = 0;
            while (count < answers.size() && answers.get(count).isDone()) {
                count++;
            }
            return count;
        }

        private void call() {
            Body body = messages.encode(new Add(answers.size() + 1, FILLER), 1 << 16);
            CompletableFuture<Body> answer = new CompletableFuture<>();
            answers.add(answer);
            clientLoop.post(
                    () ->
                            client.call(
                                    body,
                                    new ClientTurns.About(body, it -> it),
                                    Optional.of(answer),
                                    new CompletableFuture<>()));
        }

        void end(boolean cut) throws IOException {
            if (start != null) {
                Start ended = start;
                start = null;
                ended.end(true);
            }
            if (cut) {
                disk.powerFails();
            } else {
                disk.restarted();
            }
            disk.failAt(Long.MAX_VALUE);
        }

        void checkAnswers() {
            assertThat(wrong).isEmpty();
            if (tells) {
                CompletableFuture<List<CoreReport.Channel>> channels = new CompletableFuture<>();
                start.loop.post(() -> channels.complete(start.turns.core().report().channels()));
                await(channels);
                assertThat(channels.join())
                        .filteredOn(it -> it.peer().equals("away"))
                        .allSatisfy(
                                it -> {
                                    assertThat(it.unacked()).isEqualTo(CALLS);
                                    assertThat(it.inFiles()).isEqualTo(CALLS - 1);
                                })
                        .hasSize(1);
            }
            for (int count = 1; count <= CALLS; count++) {
                Body body = answers.get(count - 1).join();
                assertThat(messages.decode("adder", body, Total.class))
                        .isEqualTo(new Total(count, count * (count + 1) / 2));
            }
        }

        void close() throws IOException {
            end(false);
            clientLoop.stop();
            clientDisk.close();
        }
    }

    private static void await(CompletableFuture<?> future) {
        try {
            Object unused = future.get(WAITED_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("neither an answer nor an end", e);
        }
    }

    /** How it ended. */
    private enum End {
        REFUSED,
        HALTED,
        WENT_ON
    }

    private static End startAndCall(World world) throws IOException {
        try {
            world.start();
        } catch (IOException e) {
            assertThat(e).hasMessageContaining(FOLDER.toString());
            return End.REFUSED;
        }
        world.callUpTo(CALLS);
        if (!world.start.halted.isDone()) {
            return End.WENT_ON;
        }
        assertThat(world.start.halted.join()).contains("fix the disk");
        return End.HALTED;
    }

    /** Without this file or folder no turn is safe. */
    private static boolean mustEnd(String failed) {
        String journal = FOLDER.resolve("journal").toString();
        boolean ofSegment = failed.contains(journal + "/") && failed.endsWith(".log");
        return failed.equals("forceFolder " + journal)
                || failed.equals("forceFolder " + FOLDER)
                || failed.contains(FOLDER.resolve("identity").toString())
                || failed.startsWith("write " + FOLDER.resolve("outbox"))
                || failed.startsWith("force " + FOLDER.resolve("outbox"))
                || (ofSegment && (failed.startsWith("write ") || failed.startsWith("force ")));
    }

    private static long calls(int before, boolean tells) throws IOException {
        World world = new World(1, tells);
        if (before > 0) {
            world.start();
            world.callUpTo(before);
            world.end(false);
        }
        world.disk.failAt(Long.MAX_VALUE);
        assertThat(startAndCall(world)).isEqualTo(End.WENT_ON);
        long calls = world.disk.calls().size();
        world.checkAnswers();
        world.close();
        return calls;
    }

    private static void everyCallFails(int before, boolean once, int most) throws IOException {
        everyCallFails(before, once, most, false);
    }

    private static void everyCallFails(int before, boolean once, int most, boolean tells)
            throws IOException {
        long calls = Math.min(calls(before, tells), most);
        Map<End, Integer> ends = new EnumMap<>(End.class);
        for (long call = 1; call <= calls; call++) {
            // Each call with and without a power cut would take twice as long.
            boolean cut = call % 3 != 0;
            World world = new World(call, tells);
            String failed = "";
            try {
                if (before > 0) {
                    world.start();
                    world.callUpTo(before);
                    world.end(false);
                }
                if (once) {
                    world.disk.failOnceAt(call);
                } else {
                    world.disk.failAt(call);
                }
                End end;
                try {
                    end = startAndCall(world);
                } finally {
                    failed = world.disk.failed();
                }
                ends.merge(end, 1, Integer::sum);
                if (end == End.WENT_ON && mustEnd(failed)) {
                    fail("it goes on as if nothing had happened");
                }
                world.end(cut);
                world.start();
                world.callUpTo(CALLS);
                assertThat(world.start.halted).isNotDone();
                world.checkAnswers();
            } catch (AssertionError | IOException e) {
                throw new AssertionError("call " + call + " of " + calls + ", " + failed, e);
            } finally {
                world.close();
            }
        }
        // How many of the calls belong to the start and how many to its turns depends on threads.
        assertThat(ends.get(End.HALTED)).isPositive();
        assertThat(ends.get(End.REFUSED)).isPositive();
    }

    @Test
    void aNewServiceWhoseDiskFailsForEver() throws Exception {
        everyCallFails(0, false, FIRST_START_CALLS);
    }

    @Test
    void aNewServiceWhoseDiskFailsOnce() throws Exception {
        everyCallFails(0, true, FIRST_START_CALLS);
    }

    @Test
    void anOldServiceWithMessagesInFilesWhoseDiskFailsForEver() throws Exception {
        everyCallFails(10, false, WITH_FILES_CALLS, true);
    }

    @Tag("long")
    @Test
    void anOldServiceWithMessagesInFilesWhoseDiskFailsOnce() throws Exception {
        everyCallFails(10, true, WITH_FILES_CALLS, true);
    }

    @Tag("long")
    @Test
    void anOldServiceWhoseDiskFailsForEver() throws Exception {
        everyCallFails(10, false, Integer.MAX_VALUE);
    }

    @Test
    void anOldServiceWhoseDiskFailsOnce() throws Exception {
        everyCallFails(10, true, Integer.MAX_VALUE);
    }
}
