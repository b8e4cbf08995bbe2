package io.saucr.services.local;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Lost;
import io.saucr.services.client.ClientTurns;
import io.saucr.services.client.InMemory;
import io.saucr.services.client.Losses;
import io.saucr.services.core.Action;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Effects;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Input;
import io.saucr.services.core.Limits;
import io.saucr.services.core.Link;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A client with a birth, and the core of an asynchronous service at the other end (C7, C11). */
class EarlyCallsTest {

    private static final Moment NOW = new Moment(1_000_000, 0);
    private static final Birth BIRTH = new Birth(5, 5);

    private final Losses losses = new Losses("bank");
    private final Queue<Runnable> between = new ConcurrentLinkedQueue<>();
    private final ArrayDeque<Frame> toBank = new ArrayDeque<>();
    private final ArrayDeque<Frame> toClient = new ArrayDeque<>();
    private final List<String> taken = new ArrayList<>();
    private List<Delta> turns = new ArrayList<>();
    private ClientTurns client;
    private long clientTurn;
    private ServiceCore bank;
    private long epoch;
    private long link;

    /** Whether the head moves. */
    private boolean covers = true;

    @BeforeEach
    void begin() throws IOException {
        InMemory guard = new InMemory(new SecureRandom());
        guard.confirm();
        client =
                ClientTurns.open(
                        "ann",
                        "bank",
                        guard,
                        TurnOptions.standard(),
                        losses,
                        new Turns.Surroundings(
                                () -> NOW, new Random(1), Runnable::run, between::add));
        guard.begin(
                new Guard.Listener() {
                    @Override
                    public void moved(Finals now) {
                        clientTurn = now.outside();
                    }

                    @Override
                    public void over(Ending why) {
                        throw new AssertionError(why.reason(), why.cause());
                    }
                });
        client.begin(new ToBank());
        takeOffice();
    }

    private final class ToBank implements Endpoint.Border {

        @Override
        public void send(Link over, Frame frame) {
            if (over.id() == link) {
                toBank.add(frame);
            }
        }

        @Override
        public void close(Link over, String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public void reach(String service) {}

        @Override
        public void leave(String service, String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public void call(long output, String id, Body call) {
            throw new AssertionError(id);
        }

        @Override
        public void halt(String reason) {
            throw new AssertionError(reason);
        }
    }

    private Link atBank() {
        return new Link(link, "ann", true);
    }

    private Link atClient() {
        return new Link(link, "bank", false);
    }

    /** A member takes over with what is covered, and the client comes. */
    private void takeOffice() {
        if (link > 0) {
            toBank.clear();
            toClient.clear();
            client.linkDown(atClient());
        }
        epoch++;
        covers = true;
        bank = new ServiceCore("bank", Limits.standard());
        bank.keepEpochs();
        bank.proveReads();
        bank.answerEarly(1_000, it -> true);
        turns.forEach(bank::recover);
        bank.under(List.of(), starts());
        perform(bank.begin(List.of(), NOW));
        bank.provenSince(0);
        link++;
        perform(bank.linkUp(atBank()));
        client.linkUp(atClient());
        settle();
    }

    private List<Incarnation> starts() {
        List<Incarnation> all = new ArrayList<>();
        for (long each = 1; each <= epoch; each++) {
            all.add(new Incarnation(BIRTH, each, each));
        }
        return all;
    }

    private void perform(List<Action> actions) {
        for (Action action : actions) {
            if (action instanceof Action.Append it) {
                turns.add(it.delta());
            } else if (action instanceof Action.Send it) {
                toClient.add(it.frame());
            } else if (action instanceof Action.Close it) {
                throw new AssertionError(it.reason());
            } else if (action instanceof Action.Halt it) {
                throw new AssertionError(it.reason());
            }
        }
    }

    private static Body body(String text) {
        return new Body("Text", text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(Body body) {
        return new String(body.bytes(), StandardCharsets.UTF_8);
    }

    /** All that both say to each other. */
    private void settle() {
        for (int round = 0; round < 50; round++) {
            while (!toClient.isEmpty()) {
                client.frame(atClient(), toClient.remove());
            }
            while (client.turn()) {
                client.moved(Finals.turns(clientTurn));
            }
            client.moved(Finals.turns(clientTurn));
            while (!toBank.isEmpty()) {
                perform(bank.frame(atBank(), toBank.remove(), NOW));
            }
            perform(bank.tick(NOW));
            Optional<Input> next = bank.next(NOW);
            next.ifPresent(this::run);
            if (covers) {
                perform(bank.moved(Finals.turns(bank.newestTurn())));
            }
        }
    }

    /** Answers with what was asked, and how many were before. */
    private void run(Input input) {
        Input.Message message = (Input.Message) input;
        String asked = message.body().type().equals("Text") ? text(message.body()) : "";
        List<Effects.Reply> replies = List.of();
        if (!asked.isEmpty()) {
            taken.add(asked);
            Body answer = body(asked + " " + taken.size());
            replies = List.of(new Effects.Reply(message.peer(), message.number(), answer));
        }
        turns.add(
                bank.commit(
                        new Effects(
                                List.of(), List.of(), List.of(), List.of(), replies, 0, false)));
        perform(bank.early(NOW));
    }

    private CompletableFuture<String> ask(String text) {
        CompletableFuture<Body> answer = new CompletableFuture<>();
        client.call(
                body(text),
                new ClientTurns.About(text, EarlyCallsTest::text),
                Optional.of(answer),
                new CompletableFuture<>());
        client.moved(Finals.turns(clientTurn));
        settle();
        return answer.thenApply(EarlyCallsTest::text);
    }

    /** Somebody decides on another thread. */
    private void settleLosses() {
        await().until(() -> !between.isEmpty());
        between.remove().run();
        settle();
    }

    @Test
    void whatIsToldEarlyAndCoveredIsTakenOnce() {
        assertThat(ask("one")).isCompletedWithValue("one 1");
        covers = false;
        assertThat(ask("two")).isCompletedWithValue("two 2");
        covers = true;
        settle();
        takeOffice();
        assertThat(ask("three")).isCompletedWithValue("three 3");
        assertThat(losses.count()).isZero();
        assertThat(taken).containsExactly("one", "two", "three");
    }

    @Test
    void whatIsLostIsRepeatedInItsPlaceOrDropped() {
        List<Lost> told = new ArrayList<>();
        losses.decidedBy(
                lost -> {
                    told.add(lost);
                    return lost.request().equals("three")
                            ? Lost.Decision.DROP
                            : Lost.Decision.REPEAT;
                });
        assertThat(ask("one")).isDone();
        List<Delta> covered = List.copyOf(turns);
        covers = false;
        assertThat(ask("two")).isCompletedWithValue("two 2");
        assertThat(ask("three")).isCompletedWithValue("three 3");
        assertThat(ask("four")).isCompletedWithValue("four 4");
        turns = new ArrayList<>(covered);
        taken.clear();
        takeOffice();
        // Nothing of the successor counts before that is decided.
        assertThat(taken).isEmpty();
        CompletableFuture<String> next = ask("five");
        settleLosses();
        assertThat(told).extracting(Lost::request).containsExactly("two", "three", "four");
        assertThat(told).allMatch(it -> it.turn() > it.survived() && it.epoch() == 1);
        assertThat(taken).containsExactly("two", "four", "five");
        assertThat(told.get(0).again()).isCompletedWithValue("two 1");
        assertThat(told.get(1).again()).isCompletedExceptionally();
        assertThat(told.get(2).again()).isCompletedWithValue("four 2");
        assertThat(next).isCompletedWithValue("five 3");
        takeOffice();
        assertThat(ask("six")).isCompletedWithValue("six 4");
        assertThat(losses.count()).isEqualTo(3);
    }

    @Test
    void withoutAHandlerTheyAreDropped() {
        assertThat(ask("one")).isDone();
        List<Delta> covered = List.copyOf(turns);
        covers = false;
        assertThat(ask("two")).isDone();
        turns = new ArrayList<>(covered);
        taken.clear();
        takeOffice();
        settleLosses();
        assertThat(ask("three")).isCompletedWithValue("three 1");
        assertThat(taken).containsExactly("three");
        assertThat(losses.count()).isEqualTo(1);
    }

    @Test
    void aLinkThatBreaksMeanwhileTellsNothingTwice() {
        losses.decidedBy(lost -> Lost.Decision.REPEAT);
        assertThat(ask("one")).isDone();
        List<Delta> covered = List.copyOf(turns);
        covers = false;
        assertThat(ask("two")).isDone();
        turns = new ArrayList<>(covered);
        taken.clear();
        takeOffice();
        await().until(() -> !between.isEmpty());
        Runnable decided = between.remove();
        turns = new ArrayList<>(covered);
        takeOffice();
        assertThat(taken).isEmpty();
        decided.run();
        settle();
        assertThat(taken).containsExactly("two");
        assertThat(losses.count()).isEqualTo(1);
    }

    @Test
    void whatIsAskedAgainFailsWithItsClient() {
        List<Lost> told = new ArrayList<>();
        losses.decidedBy(
                lost -> {
                    told.add(lost);
                    return Lost.Decision.REPEAT;
                });
        assertThat(ask("one")).isDone();
        List<Delta> covered = List.copyOf(turns);
        covers = false;
        assertThat(ask("two")).isDone();
        turns = new ArrayList<>(covered);
        takeOffice();
        await().until(() -> !between.isEmpty());
        assertThat(told.get(0).again()).isNotDone();
        losses.end("closed");
        assertThat(told.get(0).again()).isCompletedExceptionally();
    }
}
