package io.saucr.services.turns;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.core.Change;
import io.saucr.services.core.Limits;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.Journal;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.ServiceFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K9: what a folder says of channels, messages and timers is what its service knew. */
class FolderContentsTest {

    @TempDir private Path temporary;

    /** Notes words, sends them on, and fails at some. */
    static final class Notes implements Service {

        record Word(String word) {}

        record Bell(String word) {}

        private final MapState<String, Long> words;

        Notes(State state) {
            words = state.map("words", String.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Word.class,
                    (word, turn) -> {
                        if (word.word().equals("poison")) {
                            throw new IllegalStateException("no such word");
                        }
                        words.put(word.word(), 1L);
                        turn.send("archive", word);
                        turn.after(Duration.ofDays(1), new Bell(word.word()));
                    });
            on.message(Bell.class, (bell, turn) -> {});
        }
    }

    private Services notes() {
        return Services.without("notes", Map.of())
                .folder(temporary.resolve("notes"))
                .segmentBytes(1 << 16)
                .limits(new Limits(256, 1, true, 0, 0, 1_024, 3_600_000));
    }

    private static void say(RunningService notes, Path client, String... words) throws IOException {
        try (Client sender =
                Services.without("notes", Map.of("notes", notes.address()))
                        .client("sender", client)) {
            for (String word : words) {
                try {
                    sender.send(new Notes.Word(word)).join();
                } catch (CompletionException e) {
                    assertThat(e).hasMessageContaining("no such word");
                }
            }
        }
    }

    private FolderContents checked() throws IOException {
        FolderContents contents = FolderContents.read(temporary.resolve("notes"));
        assertThat(contents.unread()).isEmpty();
        assertThat(contents.kind()).isEqualTo(FolderContents.Kind.SERVICE);
        assertThat(contents.files().starts()).isTrue();
        assertThat(contents.turn()).isEqualTo(contents.files().lastTurn());
        assertThat(contents.all(Change.ParkedIs.class))
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.id()).isEqualTo(1);
                            assertThat(it.channel()).startsWith("sender#");
                            assertThat(it.body().type()).isEqualTo("Word");
                            assertThat(it.reason())
                                    .isEqualTo("IllegalStateException: no such word");
                        });
        assertThat(contents.all(Change.PeerIs.class))
                .filteredOn(it -> it.peer().equals("archive"))
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.sent()).isEqualTo(2);
                            assertThat(it.unacked()).hasSize(2);
                        });
        assertThat(contents.all(Change.TimerSet.class)).hasSize(2);
        return contents;
    }

    @Test
    void aServicesFolderIsReadWhileItRunsAndAfterwards() throws Exception {
        Path client = temporary.resolve("client");
        try (RunningService running = notes().run(Notes::new, Protection.local())) {
            say(running, client, "one", "poison", "two");
            assertThat(checked().files().inUseBy()).isPresent();
        }
        FolderContents afterwards = checked();
        assertThat(afterwards.files().inUseBy()).isEmpty();
        assertThat(afterwards.files().baseTurn()).isZero();

        FolderContents ofClient = FolderContents.read(client);
        assertThat(ofClient.kind()).isEqualTo(FolderContents.Kind.SERVICE);
        assertThat(ofClient.files().name()).contains("sender");
        assertThat(ofClient.all(Change.PeerIs.class))
                .singleElement()
                .satisfies(it -> assertThat(it.sent()).isEqualTo(3));
    }

    @Test
    void aBaseIsReadAndTheTurnsAboveIt() throws Exception {
        try (RunningService running = notes().foldBytes(1_024).run(Notes::new, Protection.local());
                Client outside =
                        Services.without("notes", Map.of("notes", running.address())).client()) {
            say(running, temporary.resolve("client"), "one", "poison", "two");
            await().until(
                            () -> {
                                outside.send(new Notes.Bell("more")).join();
                                return checked().files().bases().stream()
                                        .flatMap(it -> it.sections().stream())
                                        .anyMatch(it -> it.content().equals("map, 2 entries"));
                            });
        }
        FolderContents contents = checked();
        assertThat(contents.files().baseTurn()).isPositive();
        assertThat(contents.files().bases().get(0).sections())
                .anyMatch(
                        it ->
                                it.name().equals("state/words")
                                        && it.content().equals("map, 2 entries"))
                .anyMatch(
                        it ->
                                it.name().equals("service")
                                        && it.content().equals("channels, timers, outputs"));
    }

    /** A start refuses a folder without them, so who looks says so, too (K10, K13). */
    @Test
    void filesOfOutboxesAreLookedAtAsAStartDoes() throws Exception {
        Limits small = new Limits(256, 1, true, 0, 0, 1_024, 3_600_000).outbox(1, 1 << 10);
        Services services = notes().limits(small).foldBytes(1_024);
        try (RunningService running = services.run(Notes::new, Protection.local())) {
            String[] words = new String[40];
            Arrays.setAll(words, it -> "word" + it);
            say(running, temporary.resolve("client"), words);
            await().until(
                            () ->
                                    read().files().bases().stream()
                                            .flatMap(it -> it.sections().stream())
                                            .anyMatch(it -> it.name().equals("outbox")));
        }
        FolderContents whole = read();
        assertThat(whole.files().problems()).isEmpty();
        assertThat(whole.files().starts()).isTrue();
        assertThat(whole.all(Change.PeerIs.class))
                .filteredOn(it -> it.peer().equals("archive"))
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.unacked()).hasSizeLessThan(40);
                            assertThat(whole.unacked(it)).isEqualTo(40);
                            assertThat(whole.oldestMillis(it)).isPositive();
                        });
        Path box = boxes().get(0);
        byte[] content = Files.readAllBytes(box);
        content[80] ^= 1;
        Files.write(box, content);
        refused(box + ", byte ", services);
        Files.delete(box);
        refused(box + ": it is missing", services);
    }

    private FolderContents read() throws IOException {
        return FolderContents.read(temporary.resolve("notes"));
    }

    private List<Path> boxes() throws IOException {
        try (Stream<Path> all = Files.list(temporary.resolve("notes").resolve("outbox"))) {
            return all.sorted().toList();
        }
    }

    private void refused(String why, Services services) throws IOException {
        FolderContents contents = read();
        assertThat(contents.files().starts()).isFalse();
        assertThat(contents.files().problems())
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.message()).contains(why);
                            assertThat(it.needed()).isTrue();
                        });
        assertThatThrownBy(() -> services.run(Notes::new, Protection.local()))
                .hasMessageContaining(why);
    }

    private void append(byte[] turn) throws IOException {
        try (ServiceFolder folder =
                ServiceFolder.open(temporary.resolve("notes"), "notes", new SecureRandom())) {
            try (Journal journal =
                    folder.recover(new JournalOptions(ForceMode.always(), 1 << 16))
                            .journal(
                                    new JournalListener() {
                                        @Override
                                        public void forced(long newest) {}

                                        @Override
                                        public void failed(IOException cause) {
                                            throw new AssertionError(cause);
                                        }
                                    })) {
                journal.append(journal.appended() + 1, ByteBuffer.wrap(turn));
            }
        }
    }

    @Test
    void aFolderWithoutATurnIsNobodys() throws Exception {
        ServiceFolder.open(temporary.resolve("notes"), "notes", new SecureRandom()).close();
        FolderContents contents = FolderContents.read(temporary.resolve("notes"));
        assertThat(contents.kind()).isEqualTo(FolderContents.Kind.UNKNOWN);
        assertThat(contents.turn()).isZero();
        assertThat(contents.unread()).isEmpty();
    }

    @Test
    void aOnceClientsFolderIsKnownAsOne() throws Exception {
        append(new byte[] {3});
        FolderContents contents = FolderContents.read(temporary.resolve("notes"));
        assertThat(contents.kind()).isEqualTo(FolderContents.Kind.ONCE_CLIENT);
        assertThat(contents.changes()).isEmpty();
        assertThat(contents.unread()).isEmpty();
        assertThat(contents.files().lastTurn()).isEqualTo(1);
    }

    @Test
    void aTurnOfANewerReleaseIsNamed() throws Exception {
        try (RunningService running = notes().run(Notes::new, Protection.local())) {
            say(running, temporary.resolve("client"), "one", "poison", "two");
        }
        long turn = checked().turn();
        append(new byte[] {(byte) 0x84, 9, 1, 1, 0x40});
        FolderContents newer = FolderContents.read(temporary.resolve("notes"));
        assertThat(newer.files().starts()).isTrue();
        assertThat(newer.turn()).isEqualTo(turn);
        assertThat(newer.unread().orElseThrow())
                .contains("turn " + (turn + 1), "format 9", "start the release that wrote it");
        assertThat(newer.all(Change.ParkedIs.class)).hasSize(1);
    }

    @Test
    void aTurnThatIsNoneIsNamed() throws Exception {
        append(new byte[] {(byte) 0x84, 1});
        FolderContents contents = FolderContents.read(temporary.resolve("notes"));
        assertThat(contents.turn()).isZero();
        assertThat(contents.unread().orElseThrow()).contains("turn 1 is damaged");
    }

    @Test
    void whatIsNoFolderIsRefused() {
        assertThatThrownBy(() -> FolderContents.read(temporary.resolve("nowhere")))
                .hasMessageContaining("there is no such folder");
    }
}
