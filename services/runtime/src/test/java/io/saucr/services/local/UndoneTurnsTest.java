package io.saucr.services.local;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.client.BirthClient;
import io.saucr.services.client.PlainClient;
import io.saucr.services.core.Limits;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import io.saucr.services.wire.NetOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * K21: turns of running services are undone at random while clients and services talk to them over
 * sockets: nothing is lost, doubled or out of order (K1 to K17), what was told is never undone, and
 * each life that begins from memory is one from disk.
 */
class UndoneTurnsTest {

    private static final String TEXT = "x".repeat(300);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int LETTERS_TO_UNDO = 10;
    private static final long PACE_NANOS = 200_000;
    private static final int FOLD_BYTES = 8 << 10;

    @TempDir private Path temp;

    private final List<AutoCloseable> open = Collections.synchronizedList(new ArrayList<>());
    private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, Integer> calls = new ConcurrentHashMap<>();
    private final Random random = new Random(71);
    private int copies;

    /** Pass this on. */
    public record Letter(int number, String text) {}

    /** Some time has passed since that one. */
    public record Later(int number) {}

    /** Frank it. */
    public record Frank(int number) {}

    /** That is franked. */
    public record Franked(int number) {}

    /** What came? */
    public record Asked() {}

    /** That came. */
    public record Came(List<Integer> numbers, List<Integer> franked) {}

    /** Passes letters on, each also to itself, and later once more, and has them franked. */
    private final class Post implements Service {

        private final ListState<Integer> own;
        private final ListState<Integer> franked;
        private final MapState<Integer, String> texts;

        Post(State state) {
            own = state.list("own", Integer.class);
            franked = state.list("franked", Integer.class);
            texts = state.map("texts", Integer.class, String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Letter.class,
                    (letter, turn) -> {
                        if (turn.sender().filter("post"::equals).isPresent()) {
                            own.add(letter.number());
                        } else {
                            texts.put(letter.number(), letter.text());
                            turn.send("desk", letter);
                            turn.send("post", letter);
                            turn.output(new Frank(letter.number()));
                            turn.after(Duration.ofMillis(5), new Later(letter.number()));
                        }
                    });
            on.message(
                    Later.class,
                    (later, turn) -> {
                        String text = texts.remove(later.number());
                        turn.send("desk", new Letter(later.number() + 100_000, text));
                    });
            on.output(
                    Frank.class,
                    (frank, id) -> {
                        calls.merge(id + " " + frank.number(), 1, Integer::sum);
                        return new Franked(frank.number());
                    });
            on.message(Franked.class, (it, turn) -> franked.add(it.number()));
            on.query(Asked.class, (asked, turn) -> new Came(all(own), all(franked)));
        }
    }

    /** Takes letters. */
    private static final class Desk implements Service {

        private final ListState<Integer> came;

        Desk(State state) {
            came = state.list("came", Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Letter.class, (letter, turn) -> came.add(letter.number()));
            on.query(Asked.class, (asked, turn) -> new Came(all(came), List.of()));
        }
    }

    private static List<Integer> all(ListState<Integer> state) {
        List<Integer> all = new ArrayList<>();
        state.forEach(all::add);
        return all;
    }

    /** Few messages of each peer in memory, a base with every few turns. */
    private static TurnOptions small() {
        Limits limits = new Limits(4, 1_000, true, 0, 0, 1_024, 3_600_000).outbox(2, 1 << 10);
        return TurnOptions.standard().with(limits).foldBytes(FOLD_BYTES);
    }

    /** Links end with each life: after a long pause nothing more would come that can be undone. */
    private static NetOptions dialsSoon() {
        NetOptions plain = NetOptions.plain();
        return new NetOptions(
                plain.frameBytes(),
                plain.unsentBytes(),
                plain.untakenBytes(),
                plain.connections(),
                plain.strangers(),
                plain.connectTimeout(),
                plain.helloTimeout(),
                plain.silence(),
                Duration.ofMillis(1),
                Duration.ofMillis(10),
                Optional.empty());
    }

    /** A service that runs, and can undo. */
    private final class Running implements AutoCloseable {

        final String name;
        final Function<State, ? extends Service> constructor;
        final Place place;
        final Undoing guard;
        final Engine engine;
        int undone;

        Running(
                String name,
                Function<State, ? extends Service> constructor,
                Map<String, Address> others,
                Address at)
                throws IOException {
            this.name = name;
            this.constructor = constructor;
            place =
                    Place.without(name, others)
                            .withFolder(temp.resolve(name))
                            .withListen(at)
                            .withNet(dialsSoon())
                            .withOptions(small());
            guard = new Undoing(disk(place.folder()), this::equalsRecoveryFromDisk);
            engine =
                    Engine.open(
                            place,
                            constructor,
                            guard,
                            new SecureRandom(),
                            why -> {
                                wrong.add(name + ": " + why.reason() + ", " + why.cause());
                                guard.over();
                            });
            engine.listen();
            engine.begin();
            open.add(this);
        }

        private OwnDisk disk(Path folder) throws IOException {
            JournalOptions options = new JournalOptions(ForceMode.always(), 16 << 10);
            return OwnDisk.open(Disk.local(), folder, name, options, new SecureRandom());
        }

        /** The folder as it is would be recovered to just what the next life begins with. */
        private void equalsRecoveryFromDisk(Map<String, String> found) throws IOException {
            Path copy = temp.resolve("copy-" + name + "-" + copies++);
            copy(place.folder(), copy);
            try (Undoing again = new Undoing(disk(copy), it -> {})) {
                Turns begins =
                        Turns.open(
                                name,
                                constructor,
                                again,
                                small(),
                                new Turns.Surroundings(
                                        Turns.Surroundings::moment,
                                        random,
                                        Runnable::run,
                                        Runnable::run));
                // One that is over before it has begun has nothing to say.
                begins.undone(begins.recovered(), "the test undoes nothing");
                if (!again.found().equals(found)) {
                    wrong.add(name + " found " + found + " and not " + again.found());
                }
            }
            delete(copy);
        }

        void step(boolean mayUndo) throws InterruptedException {
            int can = guard.open();
            if (can > 0 && mayUndo && random.nextInt(8) == 0) {
                guard.undo(random.nextInt(can));
                undone++;
            } else {
                guard.seal(1 + random.nextInt(4));
            }
        }

        @Override
        public void close() throws IOException {
            assertThat(engine.end(PATIENCE)).isTrue();
            guard.close();
        }
    }

    /** As it is at one moment: what a snapshot covers is deleted meanwhile, on another thread. */
    private static void copy(Path from, Path to) throws IOException {
        List<Path> before;
        boolean whole;
        do {
            if (Files.exists(to)) {
                delete(to);
            }
            before = List.of();
            whole = true;
            try {
                before = all(from);
                for (Path each : before) {
                    Path at = to.resolve(from.relativize(each).toString());
                    if (Files.isDirectory(each)) {
                        Files.createDirectories(at);
                    } else {
                        Files.copy(each, at);
                    }
                }
            } catch (NoSuchFileException e) {
                whole = false;
            }
        } while (!whole || !all(from).equals(before));
    }

    private static List<Path> all(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.sorted().toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Collections.reverseOrder())
                    .forEach(
                            each -> {
                                try {
                                    Files.delete(each);
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
        }
    }

    @AfterEach
    void closeAll() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private static final class Asking {
        final Map<Integer, CompletableFuture<Void>> asked = new TreeMap<>();
        int next = 50_000;

        void step(Client client) {
            long waiting = asked.values().stream().filter(it -> !it.isDone()).count();
            if (waiting < 8) {
                asked.put(next, client.send(new Letter(next, TEXT)));
                next++;
            }
        }

        boolean isOver() {
            return asked.values().stream().allMatch(CompletableFuture::isDone);
        }

        List<Integer> happened() {
            return asked.entrySet().stream()
                    .filter(it -> !it.getValue().isCompletedExceptionally())
                    .map(Map.Entry::getKey)
                    .toList();
        }

        List<Integer> refused() {
            return asked.entrySet().stream()
                    .filter(it -> reason(it.getValue()).contains("did not happen"))
                    .map(Map.Entry::getKey)
                    .toList();
        }

        private static String reason(CompletableFuture<Void> call) {
            if (!call.isCompletedExceptionally()) {
                return "";
            }
            try {
                call.join();
                return "";
            } catch (CompletionException e) {
                return e.getCause().getMessage();
            }
        }
    }

    private void undo(int times) throws Exception {
        Running desk = new Running("desk", Desk::new, Map.of(), new Address("localhost", 0));
        Map<String, Address> known = Map.of("desk", desk.engine.address());
        Running post = new Running("post", Post::new, known, new Address("localhost", 0));
        Place there =
                Place.without("post", Map.of("post", post.engine.address())).withNet(dialsSoon());
        Client ann = BirthClient.open(there, "ann", Optional.empty());
        Client bob = new PlainClient(there);
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        Asking asking = new Asking();
        while (post.undone < times || desk.undone < times || !over(sent) || !asking.isOver()) {
            assertThat(wrong).isEmpty();
            boolean more = post.undone < times || desk.undone < times;
            int enough = LETTERS_TO_UNDO * (1 + Math.min(post.undone, desk.undone));
            boolean idle = post.guard.open() == 0 && desk.guard.open() == 0;
            if (more && (idle || sent.size() + asking.asked.size() < enough)) {
                sent.add(ann.send(new Letter(sent.size(), TEXT)));
                asking.step(bob);
            }
            post.step(post.undone < times);
            desk.step(desk.undone < times);
            LockSupport.parkNanos(PACE_NANOS);
        }
        List<Integer> numbers = IntStream.range(0, sent.size()).boxed().toList();
        sent.forEach(CompletableFuture::join);
        Client eve = new PlainClient(Place.without("desk", known));
        open.addAll(List.of(ann, bob, eve));
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .atMost(PATIENCE)
                .until(
                        () -> {
                            post.guard.seal(1_000);
                            desk.guard.seal(1_000);
                            return came(post, bob).franked().size()
                                            == came(post, bob).numbers().size()
                                    && came(desk, eve).numbers().size()
                                            == 2 * came(post, bob).numbers().size();
                        });
        List<Integer> own = came(post, bob).numbers();
        List<Integer> plain = own.stream().filter(it -> it >= 50_000).toList();
        assertThat(own.stream().filter(it -> it < 50_000)).isEqualTo(numbers);
        assertThat(plain).doesNotHaveDuplicates().containsAll(asking.happened());
        assertThat(plain).doesNotContainAnyElementsOf(asking.refused());
        List<Integer> desks = came(desk, eve).numbers();
        assertThat(desks).doesNotHaveDuplicates();
        assertThat(desks.stream().filter(it -> it < 100_000)).isEqualTo(own);
        assertThat(came(post, bob).franked()).containsExactlyInAnyOrderElementsOf(own);
        // An output has one id, whatever was undone since.
        assertThat(calls).hasSameSizeAs(own);
        assertThat(asking.refused()).isNotEmpty();
        assertThat(wrong).isEmpty();
    }

    private static boolean over(List<CompletableFuture<Void>> calls) {
        return calls.stream().allMatch(CompletableFuture::isDone);
    }

    /** A query's answer waits for the turns that it saw. */
    private static Came came(Running running, Client client) {
        CompletableFuture<Came> call = client.ask(new Asked(), Came.class);
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .atMost(PATIENCE)
                .until(
                        () -> {
                            running.guard.seal(1_000);
                            return call.isDone();
                        });
        return call.join();
    }

    @Test
    void nothingIsLostDoubledOrUnsaid() throws Exception {
        undo(25);
    }

    @Test
    @Tag("long")
    void alsoAfterManyLives() throws Exception {
        undo(200);
    }
}
