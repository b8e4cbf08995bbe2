package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Body;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Mark;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client without a birth, and the connections of a service at the other end. */
class AskingClientTest {

    private final Transport transport = new Transport(1);
    private final ExecutorService answers = Executors.newSingleThreadExecutor();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closing : open) {
            closing.close();
        }
        transport.close();
        answers.shutdownNow();
    }

    private AskingClient client(NetOptions options) throws IOException {
        AskingClient client =
                AskingClient.open(
                        transport, "somebody", "bank", options, answers, this::lost, new Random(1));
        open.add(client);
        return client;
    }

    private List<List<AskingClient.LostReply>> losses =
            Collections.synchronizedList(new ArrayList<>());
    private final CompletableFuture<List<Boolean>> decision = new CompletableFuture<>();

    private CompletableFuture<List<Boolean>> lost(List<AskingClient.LostReply> replies) {
        losses.add(replies);
        return decision;
    }

    private static void early(Side.Got asked, long epoch, long turn, int number) {
        long request = ((Frame.Ask) asked.frame()).request();
        asked.link().send(new Frame.Early(request, new Mark(epoch, turn), body(number)));
    }

    /** A connection whose client says first what it saw. */
    private static Connection seen(Side bank, Mark mark) {
        return bank.await(Side.Got.class, got -> got.frame().equals(new Frame.Seen(mark))).link();
    }

    private static Frame.Past past(Epochs.Begun... begun) {
        return new Frame.Past(new Epochs(List.of(begun)));
    }

    /** C7, C11. */
    @Test
    void whatWasToldEarlyAndIsLostIsAskedAgainFirst() throws IOException {
        Side bank = bank();
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        List<CompletableFuture<Optional<Body>>> asked = new ArrayList<>();
        for (int n = 1; n <= 4; n++) {
            asked.add(client.ask(body(n), n));
            early(asked(bank, n), 1, 10 + n, 10 * n);
            assertThat(number(done(asked.get(n - 1)).orElseThrow())).isEqualTo(10 * n);
        }
        Connection first = asked(bank, 4).link();
        first.send(new Frame.Covered(new Mark(1, 11)));
        first.close("the primary is lost");

        Connection second = seen(bank, new Mark(1, 14));
        CompletableFuture<Optional<Body>> next = client.ask(body(5), 5);
        second.send(past(new Epochs.Begun(1, 0), new Epochs.Begun(2, 12)));
        Awaited.until("the loss is told", () -> !losses.isEmpty());
        assertThat(losses.get(0)).extracting(AskingClient.LostReply::about).containsExactly(3, 4);
        assertThat(losses.get(0))
                .extracting(AskingClient.LostReply::survived)
                .containsExactly(12L, 12L);
        assertThat(next).isNotDone();
        decision.complete(List.of(true, false));
        Side.Got again =
                bank.await(
                        Side.Got.class,
                        got -> got.link() == second && got.frame() instanceof Frame.Ask);
        assertThat(number(((Frame.Ask) again.frame()).body())).isEqualTo(3);
        answer(again, 33);
        assertThat(number(done(losses.get(0).get(0).again()).orElseThrow())).isEqualTo(33);
        answer(asked(bank, 5), 50);
        assertThat(number(done(next).orElseThrow())).isEqualTo(50);
        assertThat(losses).hasSize(1);
    }

    /** K13: what was told early and is not covered is bounded; more waits to be sent. */
    @Test
    void whatIsKeptIsBoundedByItsBytes() throws IOException {
        NetOptions plain = NetOptions.plain();
        NetOptions small =
                new NetOptions(
                        8 << 10,
                        16 << 10,
                        64 << 10,
                        10,
                        10,
                        plain.connectTimeout(),
                        plain.helloTimeout(),
                        plain.silence(),
                        plain.backoffMin(),
                        plain.backoffMax(),
                        Optional.empty());
        Side bank = bank();
        AskingClient client = client(small);
        client.dial(Optional.of(bank.listen()));
        // Four times what may wait to be sent.
        for (int n = 1; n <= 11; n++) {
            CompletableFuture<Optional<Body>> asked = client.ask(large(n), n);
            early(asked(bank, n), 1, n, n);
            assertThat(done(asked)).isPresent();
        }
        List<CompletableFuture<Optional<Body>>> wait =
                List.of(client.ask(large(12), 12), client.ask(large(13), 13));
        assertThat(failure(client.ask(large(14), 14))).contains("2 requests of 12000 bytes wait");
        asked(bank, 11).link().send(new Frame.Covered(new Mark(1, 9)));
        for (int n = 12; n <= 13; n++) {
            answer(asked(bank, n), n);
            assertThat(done(wait.get(n - 12))).isPresent();
        }
    }

    private static Body large(int number) {
        return new Body("Count", ByteBuffer.allocate(6_000).putInt(number).array());
    }

    /** Nobody knows whether the message was consumed; the queries changed nothing. */
    @Test
    void aQueryIsAskedAgainWhereItsConnectionEnds() throws IOException {
        Side bank = bank();
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        CompletableFuture<Optional<Body>> first = client.query(body(1), 1);
        CompletableFuture<Optional<Body>> message = client.ask(body(2), 2);
        CompletableFuture<Optional<Body>> second = client.query(body(3), 3);
        Connection gone = asked(bank, 3).link();
        gone.close("the bank dies");
        assertThat(failure(message)).contains("unknown whether it was consumed");
        for (int n : new int[] {1, 3}) {
            Side.Got again =
                    bank.await(
                            Side.Got.class,
                            got ->
                                    got.link() != gone
                                            && got.frame() instanceof Frame.Ask it
                                            && number(it.body()) == n);
            answer(again, 10 * n);
        }
        assertThat(number(done(first).orElseThrow())).isEqualTo(10);
        assertThat(number(done(second).orElseThrow())).isEqualTo(30);
    }

    /** C11: the same primary, over another connection. */
    @Test
    void whatIsCoveredLaterIsNotLost() throws IOException {
        Side bank = bank();
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        CompletableFuture<Optional<Body>> asked = client.ask(body(1), 1);
        early(asked(bank, 1), 3, 11, 10);
        assertThat(done(asked)).isPresent();
        asked(bank, 1).link().close("the network");
        Connection second = seen(bank, new Mark(3, 11));
        second.send(past(new Epochs.Begun(3, 5)));
        second.send(new Frame.Covered(new Mark(3, 11)));
        asked = client.ask(body(2), 2);
        answer(asked(bank, 2), 20);
        assertThat(number(done(asked).orElseThrow())).isEqualTo(20);
        assertThat(losses).isEmpty();
    }

    private AskingClient client() throws IOException {
        return client(NetOptions.plain());
    }

    private Side bank(NetOptions options) throws IOException {
        Side bank = new Side(transport, "bank", options);
        open.add(bank);
        return bank;
    }

    private Side bank() throws IOException {
        return bank(NetOptions.plain());
    }

    /** A service whose turns answer each request with what it asked. */
    private Address echo() throws IOException {
        ExecutorService turns = Executors.newSingleThreadExecutor();
        LinkListener listener =
                new LinkListener() {
                    @Override
                    public void up(Connection link) {}

                    @Override
                    public void frame(Connection link, Frame frame) {
                        if (frame instanceof Frame.Ask ask) {
                            link.send(new Frame.Answer(ask.request(), Optional.of(ask.body())));
                        }
                    }

                    @Override
                    public void down(Connection link, String reason) {}
                };
        Peers peers =
                Peers.open(transport, "bank", NetOptions.plain(), listener, turns, new Random(2));
        open.add(peers);
        open.add(turns::shutdownNow);
        return peers.listen(new Address("127.0.0.1", 0));
    }

    private static Body body(int number) {
        return new Body("Count", ByteBuffer.allocate(4).putInt(number).array());
    }

    private static int number(Body body) {
        return ByteBuffer.wrap(body.bytes()).getInt();
    }

    /** The request of that number, as the service heard it. */
    private static Side.Got asked(Side bank, int number) {
        return bank.await(
                Side.Got.class,
                got -> got.frame() instanceof Frame.Ask ask && number(ask.body()) == number);
    }

    private static void answer(Side.Got asked, int number) {
        long request = ((Frame.Ask) asked.frame()).request();
        asked.link().send(new Frame.Answer(request, Optional.of(body(number))));
    }

    private static <T> T done(CompletableFuture<T> future) {
        Awaited.until("it is done", future::isDone);
        return future.join();
    }

    private static String failure(CompletableFuture<?> future) {
        Awaited.until("it is done", future::isDone);
        try {
            future.get();
            throw new AssertionError("it did not fail");
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(ServiceException.class);
            return e.getCause().getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @Test
    void whoHasNothingToAskYetKeepsItsConnection() throws IOException {
        NetOptions o = NetOptions.plain();
        Side bank =
                bank(
                        new NetOptions(
                                o.frameBytes(),
                                o.unsentBytes(),
                                o.untakenBytes(),
                                o.connections(),
                                o.strangers(),
                                o.connectTimeout(),
                                Duration.ofMillis(20),
                                o.silence(),
                                o.backoffMin(),
                                o.backoffMax(),
                                o.tls()));
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        Connection link = bank.await(Side.Up.class).link();
        assertThat(link.nameless()).isTrue();
        CompletableFuture<Optional<Body>> asked = client.ask(body(1), 1);
        Side.Got got = asked(bank, 1);
        assertThat(got.link()).isSameAs(link);
        answer(got, 2);
        assertThat(number(done(asked).orElseThrow())).isEqualTo(2);
    }

    @Test
    void anAnswerCompletesItsOwnRequest() throws IOException {
        Side bank = bank();
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        CompletableFuture<Optional<Body>> first = client.ask(body(1), 1);
        CompletableFuture<Optional<Body>> second = client.ask(body(2), 2);
        CompletableFuture<Optional<Body>> third = client.ask(body(3), 3);
        Connection link = asked(bank, 3).link();
        assertThat(link.outside()).isTrue();
        assertThat(link.nameless()).isTrue();
        // What nobody asked, and what is for others, changes nothing.
        link.send(new Frame.Answer(99, Optional.empty()));
        link.send(bank.hello());
        link.send(
                new Frame.Answer(((Frame.Ask) asked(bank, 3).frame()).request(), Optional.empty()));
        answer(asked(bank, 2), 20);
        answer(asked(bank, 1), 10);
        answer(asked(bank, 1), 11);
        assertThat(number(done(first).orElseThrow())).isEqualTo(10);
        assertThat(number(done(second).orElseThrow())).isEqualTo(20);
        assertThat(done(third)).isEmpty();
    }

    @Test
    void aRefusalFailsItsRequestAlone() throws IOException {
        Side bank = bank();
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        CompletableFuture<Optional<Body>> first = client.ask(body(1), 1);
        CompletableFuture<Optional<Body>> second = client.ask(body(2), 2);
        Side.Got asked = asked(bank, 1);
        asked.link()
                .send(new Frame.Refused(((Frame.Ask) asked.frame()).request(), "closed\ntoday"));
        answer(asked(bank, 2), 20);
        assertThat(failure(first)).isEqualTo("bank refused: closed?today");
        assertThat(done(second)).isPresent();
    }

    @Test
    void whatWasSentIsUnknownAndWhatWasNotWaitsForTheNextConnection() throws IOException {
        Side old = bank();
        AskingClient client = client();
        client.dial(Optional.of(old.listen()));
        CompletableFuture<Optional<Body>> sent = client.ask(body(1), 1);
        asked(old, 1);
        old.peers.close();
        assertThat(failure(sent))
                .startsWith(
                        "the request to bank was sent and not answered, and it is unknown whether"
                                + " it was consumed: ")
                .endsWith("ended the connection: bank ends");
        CompletableFuture<Optional<Body>> waits = client.ask(body(2), 2);
        Side young = bank();
        client.dial(Optional.of(young.listen()));
        answer(asked(young, 2), 20);
        assertThat(number(done(waits).orElseThrow())).isEqualTo(20);
        // At most once: what is unknown is not sent again.
        assertThat(young.told.stream().filter(told -> told instanceof Side.Got)).hasSize(1);
    }

    @Test
    void whatWasSentIsUnknownAfterTheServiceHasMoved() throws IOException {
        Side old = bank();
        Side young = bank();
        AskingClient client = client();
        client.dial(Optional.of(old.listen()));
        CompletableFuture<Optional<Body>> sent = client.ask(body(1), 1);
        asked(old, 1);
        client.dial(Optional.of(young.listen()));
        assertThat(failure(sent))
                .contains("unknown whether it was consumed: bank has moved to 127.0.0.1:");
        CompletableFuture<Optional<Body>> next = client.ask(body(2), 2);
        answer(asked(young, 2), 20);
        assertThat(done(next)).isPresent();
        assertThat(young.told.stream().filter(told -> told instanceof Side.Got)).hasSize(1);
    }

    @Test
    void soManyWaitAndAreSentInOrderAndMoreAreRefusedAtOnce() throws IOException {
        AskingClient client = client();
        List<CompletableFuture<Optional<Body>>> waiting = new ArrayList<>();
        for (int n = 0; n < AskingClient.MOST_WAITING; n++) {
            waiting.add(client.ask(body(n), n));
        }
        CompletableFuture<Optional<Body>> refused = client.ask(body(9999), 9999);
        assertThat(refused).isDone();
        assertThat(failure(refused))
                .isEqualTo(
                        "the request to bank was not sent: 1024 requests of 4096 bytes wait to be"
                                + " sent already, and 1024 requests of 16777216 bytes"
                                + " (unsentBytes) may");
        // Who gave up makes room, and is not sent.
        assertThat(waiting.remove(7).cancel(false)).isTrue();
        waiting.add(client.ask(body(AskingClient.MOST_WAITING), AskingClient.MOST_WAITING));
        assertThat(client.ask(body(9999), 9999)).isCompletedExceptionally();
        Side bank = bank();
        client.dial(Optional.of(bank.listen()));
        Side.Got last = asked(bank, AskingClient.MOST_WAITING);
        List<Integer> heard =
                bank.frames(last.link()).stream().map(f -> number(((Frame.Ask) f).body())).toList();
        List<Integer> asked = new ArrayList<>();
        for (int n = 0; n <= AskingClient.MOST_WAITING; n++) {
            if (n != 7) {
                asked.add(n);
            }
        }
        assertThat(heard).isEqualTo(asked);
        answer(last, 1);
        assertThat(done(waiting.get(waiting.size() - 1))).isPresent();
        assertThat(waiting.get(0)).isNotDone();
    }

    @Test
    void aRefusalForWantOfRoomSaysWhyTheServiceCannotBeReached() throws IOException {
        Side gone = bank();
        Address address = gone.listen();
        gone.close();
        AskingClient client = client();
        client.dial(Optional.of(address));
        for (int n = 0; n < AskingClient.MOST_WAITING; n++) {
            assertThat(client.ask(body(n), n)).isNotDone();
        }
        Awaited.until(
                "the reason",
                () -> failure(client.ask(body(9999), 9999)).contains("; it cannot be reached: "));
    }

    /** The service hangs: its client holds so many bytes and no more (K13). */
    @Test
    void bytesThatWaitAreBounded() throws IOException {
        NetOptions plain = NetOptions.plain();
        NetOptions options =
                new NetOptions(
                        64 << 10,
                        1 << 20,
                        64 << 10,
                        10,
                        10,
                        plain.connectTimeout(),
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        plain.backoffMin(),
                        plain.backoffMax(),
                        Optional.empty());
        Side bank = bank(options);
        CountDownLatch hung = new CountDownLatch(1);
        Future<?> turn =
                bank.turns.submit(
                        () -> {
                            hung.await();
                            return null;
                        });
        AskingClient client = client(options);
        client.dial(Optional.of(bank.listen()));
        Body large = new Body("Large", new byte[32 << 10]);
        List<CompletableFuture<Optional<Body>>> asked = new ArrayList<>();
        CompletableFuture<Optional<Body>> newest = client.ask(large, large);
        Awaited.until("the connection", () -> bank.peers.accepted() == 1);
        while (!newest.isDone()) {
            asked.add(newest);
            assertThat(asked).hasSizeLessThan(4000);
            newest = client.ask(large, large);
        }
        assertThat(failure(newest)).contains("requests of 1048576 bytes (unsentBytes) may");
        hung.countDown();
        Awaited.until("the turn's end", turn::isDone);
        Awaited.until("all", () -> bank.told.size() == 1 + asked.size());
        assertThat(asked).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void closingFailsAllThatWait() throws IOException {
        Side bank = bank();
        AskingClient client = client();
        client.dial(Optional.of(bank.listen()));
        CompletableFuture<Optional<Body>> sent = client.ask(body(1), 1);
        asked(bank, 1);
        client.close();
        assertThat(sent).isDone();
        assertThat(failure(sent)).endsWith("whether it was consumed: this client was closed");
        AskingClient never = client();
        CompletableFuture<Optional<Body>> waits = never.ask(body(1), 1);
        never.close();
        never.close();
        assertThat(waits).isDone();
        assertThat(failure(waits))
                .isEqualTo("the request to bank was not sent: its client was closed");
        assertThat(failure(never.ask(body(2), 2)))
                .isEqualTo("the request to bank was not sent: its client is closed");
    }

    @Test
    void threadsMayAskAtTheSameTime() throws Exception {
        AskingClient client = client();
        client.dial(Optional.of(echo()));
        ExecutorService threads = Executors.newFixedThreadPool(4);
        open.add(threads::shutdownNow);
        List<Future<?>> running = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            int first = thread * 2000;
            running.add(
                    threads.submit(
                            () -> {
                                List<CompletableFuture<Optional<Body>>> asked = new ArrayList<>();
                                // Fewer at a time than may wait.
                                for (int from = first; from < first + 2000; from += 200) {
                                    asked.clear();
                                    for (int n = from; n < from + 200; n++) {
                                        asked.add(client.ask(body(n), n));
                                    }
                                    for (int i = 0; i < 200; i++) {
                                        Optional<Body> answer =
                                                asked.get(i).get(30, TimeUnit.SECONDS);
                                        assertThat(number(answer.orElseThrow()))
                                                .isEqualTo(from + i);
                                    }
                                }
                                return null;
                            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
    }

    @Test
    void whatCannotBeSentIsRefusedBeforeItWaits() throws IOException {
        AskingClient client = client();
        int bytes = NetOptions.plain().bodyBytes();
        assertThatThrownBy(() -> client.ask(new Body("Note", new byte[bytes + 1]), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "has " + (bytes + 1) + " bytes, and " + bytes + " are allowed");
        assertThatThrownBy(() -> client.ask(new Body("a\nb", new byte[1]), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the name of a type");
        CompletableFuture<Optional<Body>> largest =
                client.ask(new Body("Note", new byte[bytes]), 0);
        Side bank = bank();
        client.dial(Optional.of(bank.listen()));
        bank.await(Side.Got.class);
        assertThat(largest).isNotDone();
    }
}
