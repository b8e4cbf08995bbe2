package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.Notes;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** K11, K15: a backup goes on under a new birth, and a crash between any two steps. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class NewGenerationCrashTest {

    private static final String TEXT = " of many words".repeat(20);

    private static List<String> seen(TestService of) {
        return of.query(new Notes.Ask(), Notes.Seen.class).notes();
    }

    /** Each text at most once as a note, wherever it went; nothing is nowhere. */
    private static void consumedOnce(List<String> notes) {
        Set<String> once = new HashSet<>();
        for (String note : notes) {
            assertThat(once.add(note)).as(note + " in " + notes).isTrue();
        }
    }

    private static void backupGoesOn(TestWorld world) {
        TestService shop = world.service("shop", Notes::new);
        TestService bank = world.service("bank", Notes::new);
        Client teller = world.client("teller", "shop");
        Client other = world.client("other", "bank");
        teller.send(new Notes.Pass("bank", "first"));
        other.send(new Notes.Pass("shop", "to the old"));
        world.run();
        // A backup with a message in its outbox that is consumed later.
        bank.crash();
        teller.send(new Notes.Pass("bank", "in the backup"));
        world.run();
        Runnable restore = shop.backup();
        bank.start();
        world.run();
        teller.send(new Notes.Pass("bank", "behind the backup"));
        world.run();
        assertThat(seen(bank)).containsExactly("first", "in the backup", "behind the backup");
        shop.crash();
        other.send(new Notes.Pass("shop", "on its way"));
        world.run();
        restore.run();
        shop.bearAnew();
        world.run();
        world.advance(Duration.ofMinutes(11));
        world.run();
        assertThat(seen(shop)).contains("to the old", "perhaps in the backup");
        other.send(new Notes.Pass("shop", "to the new"));
        Client again = world.client("again", "shop");
        again.send(new Notes.Pass("bank", "of the new"));
        world.run();
        assertThat(seen(shop)).endsWith("to the new");
        List<String> notes = seen(bank);
        consumedOnce(notes);
        assertThat(notes).contains("in the backup", "perhaps on its way", "of the new");
    }

    @Test
    void nothingPassesAsNewThatWasConsumed() {
        int crashes = CrashPoints.everywhere(11, NewGenerationCrashTest::backupGoesOn);
        assertThat(crashes).isGreaterThan(100);
    }

    /** K13: the same where the outbox is in files, of which the backup has its own. */
    @Test
    void whatLiesInFilesComesBackToo() {
        Limits limits = new Limits(4, 1_000, true, 0, 0, 1_024, 3_600_000).outbox(1, 1 << 10);
        TurnOptions small = TurnOptions.standard().with(limits).foldBytes(1 << 10);
        int crashes = CrashPoints.everywhere(12, small, NewGenerationCrashTest::longOutboxGoesOn);
        assertThat(crashes).isGreaterThan(100);
    }

    private static void longOutboxGoesOn(TestWorld world) {
        TestService shop = world.service("shop", Notes::new);
        TestService bank = world.service("bank", Notes::new);
        Client teller = world.client("teller", "shop");
        teller.send(new Notes.Pass("bank", "first"));
        world.run();
        bank.crash();
        List<String> waiting = new ArrayList<>();
        for (int note = 0; note < 5; note++) {
            String text = note + TEXT;
            teller.send(new Notes.Pass("bank", text));
            waiting.add("perhaps " + text);
        }
        world.run();
        Runnable restore = shop.backup();
        bank.start();
        world.run();
        for (int note = 5; note < 8; note++) {
            teller.send(new Notes.Pass("bank", note + TEXT));
        }
        world.run();
        assertThat(seen(bank)).hasSize(9);
        shop.crash();
        restore.run();
        shop.bearAnew();
        world.run();
        world.advance(Duration.ofMinutes(11));
        world.run();
        // The ack of the first one may not be in the backup, after a crash.
        assertThat(seen(shop).stream().filter(it -> !it.equals("perhaps first")))
                .containsExactlyElementsOf(waiting);
        assertThat(seen(bank)).hasSize(9);
        consumedOnce(seen(bank));
        Client again = world.client("again", "shop");
        again.send(new Notes.Pass("bank", "of the new"));
        world.run();
        assertThat(seen(bank)).endsWith("of the new");
    }
}
