package io.saucr.services.client;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;
import io.saucr.services.ensemble.Names;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.local.OwnDisk;
import io.saucr.services.net.Peers;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.turns.ClientGuard;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Links;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.TurnLoop;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client with a birth of its own, in a folder of its own or in memory: what it sends is consumed
 * exactly once, across this client's crashes or for as long as its process lives. A disk that
 * fails, or a folder that is an old copy, ends the client, not the process. Any thread.
 */
public final class BirthClient implements Client {

    private static final Logger LOG = LoggerFactory.getLogger(BirthClient.class);

    /** A client's journal is short. */
    private static final int SEGMENT_BYTES = 4 << 20;

    /** Before the name of a service whose head was not seen. */
    private static final String UNMET = "- ";

    private static final String ANOTHER_FOLDER =
            "One folder is for one service: use another folder, or give this one a new generation"
                    + " (Services.newGeneration), which says what may be lost";

    private static final String ANOTHER_CLIENT = "One client is for one service: open another one";

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Place place;
    private final String name;
    private final Optional<Path> folder;
    private ClientGuard guard;
    private boolean confirming;
    private final ClientMessages messages = new ClientMessages();
    private final Losses losses;
    private ClientTurns turns;
    private TurnLoop loop;
    private final Set<CompletableFuture<?>> calls = ConcurrentHashMap.newKeySet();
    private volatile String over;

    private BirthClient(Place place, String name, Optional<Path> folder) {
        this.place = place;
        this.folder = folder;
        this.name = name;
        this.losses = new Losses(place.name());
    }

    /**
     * Opens one.
     *
     * @param folder its own; empty for one that lives in memory
     * @throws IOException where folder or keys cannot be used; says what to do
     */
    public static BirthClient open(Place place, String name, Optional<Path> folder)
            throws IOException {
        BirthClient client = new BirthClient(place, name, folder);
        boolean done = false;
        try {
            client.begin();
            done = true;
            return client;
        } finally {
            if (!done) {
                client.withdraw();
                client.closeOpened();
            }
        }
    }

    private void begin() throws IOException {
        SecureRandom random = new SecureRandom();
        guard = folder.isPresent() ? inFolder(folder.get(), random) : new InMemory(random);
        opened.push(guard);
        checkService();
        ExecutorService folding =
                Executors.newSingleThreadExecutor(
                        task -> {
                            Thread thread = new Thread(task, "folding " + name);
                            thread.setDaemon(true);
                            return thread;
                        });
        opened.push(folding::shutdown);
        turns =
                ClientTurns.open(
                        name,
                        place.name(),
                        guard,
                        options(),
                        losses,
                        new Turns.Surroundings(
                                Turns.Surroundings::moment,
                                random,
                                folding,
                                event -> loop.post(event)));
        loop = new TurnLoop(name, turns, why -> end(why.reason()));
        Links links = new Links(place, Optional.empty());
        links.serve(turns);
        Peers peers =
                Peers.openClient(
                        Transport.shared(),
                        name,
                        place.net(),
                        links,
                        loop::post,
                        new Random(random.nextLong()));
        opened.push(peers);
        links.over(peers);
        loop.post(() -> turns.begin(new ClientBorder(links)));
        confirming = true;
        guard.confirm();
        if (guard.bound().isEmpty()) {
            guard.bind(UNMET + place.name());
        }
        guard.begin(loop);
        loop.begin();
        Optional<Names> names =
                PlainClient.follow(
                        place, (address, head) -> loop.post(() -> dial(peers, address, head)));
        names.ifPresent(opened::push);
    }

    private OwnDisk inFolder(Path path, SecureRandom random) throws IOException {
        return OwnDisk.open(
                Disk.local(),
                path,
                name,
                new JournalOptions(ForceMode.always(), SEGMENT_BYTES),
                random);
    }

    /** All that waits without files has to stay in memory. */
    private TurnOptions options() {
        TurnOptions options = place.options().foldBytes(SEGMENT_BYTES);
        return folder.isPresent()
                ? options
                : options.with(
                        options.limits()
                                .outbox(ClientTurns.MOST_WAITING, options.limits().outboxBytes()));
    }

    /** A start that was refused leaves no line in the folder. */
    private void withdraw() {
        if (guard == null || confirming) {
            return;
        }
        try {
            guard.withdraw();
        } catch (IOException e) {
            LOG.warn("client {}: a start that was refused stays in its list of starts", name, e);
        }
    }

    /**
     * Numbers are of one pair of births, and what waits is for one service: a folder that were used
     * with another one of that name would send it there.
     */
    private void checkService() throws IOException {
        String bound = guard.bound();
        if (!bound.isEmpty() && !bound.substring(bound.indexOf(' ') + 1).equals(place.name())) {
            throw new IOException(
                    folder.orElseThrow()
                            + " is the folder of a client of "
                            + bound.substring(bound.indexOf(' ') + 1)
                            + ", not of "
                            + place.name()
                            + ". "
                            + ANOTHER_FOLDER);
        }
    }

    /** Turn thread. */
    private void dial(Peers peers, Optional<Address> address, Optional<String> head) {
        if (over != null) {
            return;
        }
        String met = head.map(it -> it + " " + place.name()).orElse("");
        String bound = guard.bound();
        if (!met.isEmpty() && bound.startsWith(UNMET)) {
            try {
                guard.bind(met);
            } catch (IOException e) {
                end("the disk of " + where() + " failed: " + e.getMessage());
                return;
            }
        } else if (!met.isEmpty() && !met.equals(bound)) {
            end(
                    where()
                            + " is of a client of another "
                            + place.name()
                            + " than the one at "
                            + place.path(place.name())
                            + " of "
                            + place.ensemble().orElse("")
                            + ". Nothing was sent there. "
                            + (folder.isPresent() ? ANOTHER_FOLDER : ANOTHER_CLIENT));
            return;
        }
        peers.dial(place.name(), address);
    }

    private String where() {
        return folder.map(it -> "the folder " + it).orElse("what is in memory");
    }

    /** Any thread. */
    private void end(String reason) {
        LOG.error("client {} of {} ends: {}", name, place.name(), reason);
        fail(reason);
    }

    private void fail(String reason) {
        over = reason;
        losses.end(reason);
        // The one that is not in the set yet looks at the reason after it is.
        calls.forEach(it -> it.completeExceptionally(new ServiceException(reason)));
    }

    @Override
    public <A> CompletableFuture<A> ask(Object message, Class<A> answer) {
        TurnGuard.refuse("ask", "send to the service, which answers by a message");
        messages.check(answer);
        Body body = messages.encode(message, place.options().largestMessageBytes());
        CompletableFuture<Body> given = new CompletableFuture<>();
        ClientTurns.About about =
                new ClientTurns.About(message, it -> messages.decode(place.name(), it, answer));
        submit(body, about, Optional.of(given), new CompletableFuture<>(), given);
        return PlainClient.told(given, it -> messages.decode(place.name(), it, answer));
    }

    @Override
    public CompletableFuture<Void> send(Object message) {
        TurnGuard.refuse("send", "send by the turn");
        Body body = messages.encode(message, place.options().largestMessageBytes());
        CompletableFuture<Void> consumed = new CompletableFuture<>();
        ClientTurns.About about = new ClientTurns.About(message, it -> it);
        submit(body, about, Optional.empty(), consumed, consumed);
        return PlainClient.told(consumed, it -> null);
    }

    private void submit(
            Body body,
            ClientTurns.About about,
            Optional<CompletableFuture<Body>> answer,
            CompletableFuture<Void> consumed,
            CompletableFuture<?> call) {
        calls.add(call);
        CompletableFuture<?> unused = call.whenComplete((result, e) -> calls.remove(call));
        if (over != null) {
            call.completeExceptionally(new ServiceException(over));
            return;
        }
        loop.post(() -> turns.call(body, about, answer, consumed));
    }

    @Override
    public void onLost(LossHandler handler) {
        losses.decidedBy(handler);
    }

    @Override
    public long lostReplies() {
        return losses.count();
    }

    @Override
    public void close() {
        TurnGuard.refuse("close", "a client's end waits");
        loop.stop();
        fail(
                "client "
                        + name
                        + " was closed; what it sent is "
                        + (folder.isPresent()
                                ? "sent again by its next start"
                                : "sent no more, and was perhaps consumed"));
        closeOpened();
    }

    private void closeOpened() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("client {}: not everything of it could be closed", name, e);
            }
        }
    }

    /** What leaves the client. */
    private final class ClientBorder implements Endpoint.Border {

        private final Links links;

        ClientBorder(Links links) {
            this.links = links;
        }

        @Override
        public void send(Link link, Frame frame) {
            links.send(link, frame);
        }

        @Override
        public void flush() {
            links.flush();
        }

        @Override
        public void close(Link link, String reason) {
            links.close(link, reason);
        }

        @Override
        public void reach(String service) {
            // It dials its service always.
        }

        @Override
        public void leave(String service, String reason) {
            links.leave(service, reason);
            end(reason + ". What was sent and has no answer was perhaps consumed");
        }

        @Override
        public void call(long output, String id, Body call) {
            throw new IllegalStateException("a client makes no calls to the world");
        }

        @Override
        public void halt(String reason) {
            loop.over(new Ending.Failed(reason, null));
        }
    }
}
