package io.saucr.services.ensemble;

import io.saucr.services.Address;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Claim;
import io.saucr.services.core.head.Claim.Decision;
import io.saucr.services.core.head.Claim.Seen;
import io.saucr.services.core.head.Head;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The head of one start of a service (K14): takes it, holds it, keeps the service's address while
 * the session lives, and says when another took the head.
 *
 * <p>Without the ensemble a service that has its head continues: a connection that is lost, or a
 * session that expires, is opened again for as long as it takes, and the head is then looked at
 * anew. Only a head that is read and names another start, or is lost, ends it, once.
 *
 * <p>One thread of its own does all requests, one after the other. {@link #take} waits for it and
 * may be called once; {@link #close} by any thread. The callback is called by that thread and must
 * not block.
 */
public final class Leadership implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

    /**
     * Between two attempts while the ensemble does not answer, or another one's address is in the
     * way.
     */
    private static final long RETRY_MILLIS = 200;

    /** So long an address that may still be answered is tried. */
    private static final int CONNECT_MILLIS = 2_000;

    private static final HeadText<Head> TEXT = new HeadText<>(Head::encode, Head::decode);

    private final ServicePath place;
    private final Claim claim;
    private final Consumer<String> lost;
    private final CountDownLatch decided = new CountDownLatch(1);
    private final ScheduledThreadPoolExecutor thread;
    private final HeadNode<Head> node;

    private volatile boolean closed;
    private volatile String refusal;
    private volatile boolean taken;

    /** Whether the head may name this start, whatever became of it. */
    private volatile boolean written;

    // Of the thread: a request is under way, and what it finds may be of before a change.
    private boolean looking;
    private boolean lookAgain;

    /**
     * A start must not continue: its head is another's, gone or unreadable, or the ensemble does
     * not allow it.
     */
    public static final class RefusedException extends Exception {

        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    /**
     * A head not yet taken; nothing is sent before {@link #take}.
     *
     * @param place where
     * @param self this start, forced in its folder already (K14)
     * @param known all starts of the folder
     * @param confirmed the highest number that is known to have held the head, 0 for none
     * @param replaces the head of another birth that may be replaced (K11)
     * @param lost told once when a head that was held is seen to be another's or gone: the process
     *     has to halt
     */
    public Leadership(
            ServicePath place,
            Incarnation self,
            List<Incarnation> known,
            long confirmed,
            Optional<Incarnation> replaces,
            Consumer<String> lost) {
        this.place = place;
        this.claim = new Claim(place.path(), self, known, confirmed, replaces);
        this.lost = lost;
        this.thread = new Requests();
        this.node =
                new HeadNode<>(
                        place, TEXT, thread, new Answers(), place.address(), HeadNode.MOST_VERSION);
    }

    /**
     * Takes the head; waits for the ensemble as long as it takes, and logs every ten seconds for
     * what. Once it returns, the folder has to note this start as holder, forced, before anything
     * leaves.
     *
     * @throws RefusedException where the head is another's, gone or unreadable, or the ensemble
     *     refuses the request
     * @throws InterruptedException where the thread is interrupted; this is then closed
     */
    public void take() throws RefusedException, InterruptedException {
        node.run(this::look);
        long waited = 0;
        try {
            while (!decided.await(10, TimeUnit.SECONDS)) {
                waited += 10;
                LOG.info(
                        "{}: no answer of {} for {} s; waiting for the head",
                        place.path(),
                        place.connect(),
                        waited);
            }
        } catch (InterruptedException e) {
            close();
            throw e;
        }
        if (refusal != null) {
            throw new RefusedException(refusal);
        }
    }

    /**
     * Tells clients where the service answers, where that was not known when the head was taken.
     * Once it is taken; returns at once.
     *
     * @param address host:port
     */
    public void publish(String address) {
        node.run(
                () -> {
                    node.address(address);
                    look();
                });
    }

    /** Whether this start wrote the head, or tried to: somebody may know of it then. */
    public boolean mayBeKnown() {
        return written;
    }

    /** Ends the session, so that the address goes at once; the head stays. */
    @Override
    public void close() {
        if (!closed) {
            end("the holder of the head of " + place.path() + " was closed before it had the head");
        }
    }

    /** Ends all requests. */
    private void end(String reason) {
        closed = true;
        if (!taken && refusal == null) {
            refusal = reason;
        }
        decided.countDown();
        node.run(node::close);
        thread.shutdown();
    }

    /** Looks at the head, once what is under way is answered. */
    private void look() {
        if (looking) {
            lookAgain = true;
        } else if (!closed) {
            looking = true;
            node.read();
        }
    }

    /** What was under way is answered. */
    private void answered() {
        looking = false;
        if (lookAgain) {
            lookAgain = false;
            look();
        }
    }

    private void lookLater() {
        looking = false;
        node.again(this::look, RETRY_MILLIS);
    }

    private void decide(Decision decision) {
        if (decision instanceof Decision.Create create) {
            written = true;
            node.create(create.head());
        } else if (decision instanceof Decision.Take take) {
            node.address(at -> takeUnlessAnotherRuns(take, at));
        } else if (decision instanceof Decision.Taken holding) {
            taken = true;
            decided.countDown();
            node.publish(holding.version());
        } else if (decision instanceof Decision.Refuse refuse) {
            refuse(refuse.reason());
        }
    }

    /**
     * The start that holds the head may still run, if this folder is a copy that was made
     * meanwhile: the process that answers at its address does. At an address that is this start's
     * own nobody else answers: a service that always listens at the same port was killed, and the
     * session of its last start is not over yet.
     */
    private void takeUnlessAnotherRuns(Decision.Take take, Optional<String> at) {
        if (at.isPresent() && !at.equals(place.address()) && isAnswered(at.get())) {
            refuse(
                    place.path()
                            + " runs at "
                            + at.get()
                            + ". Stop it there first; a folder that was copied while its service"
                            + " ran must not continue");
            return;
        }
        written = true;
        node.write(take.head(), take.version(), false);
    }

    private boolean isAnswered(String at) {
        try (Socket socket = new Socket()) {
            Address address = Address.parse(at);
            socket.connect(new InetSocketAddress(address.host(), address.port()), CONNECT_MILLIS);
            return true;
        } catch (IOException | IllegalArgumentException e) {
            LOG.debug("{}: nobody answers at {}", place.path(), at);
            return false;
        }
    }

    private void refuse(String reason) {
        if (closed) {
            return;
        }
        boolean held = taken;
        end(reason);
        if (held) {
            LOG.error("{}", reason);
            lost.accept(reason);
        }
    }

    /** Hears the ensemble. */
    private final class Answers implements HeadNode.Listener<Head> {

        @Override
        public void read(Optional<Head> head, int version) {
            Optional<Seen> seen = head.map(it -> new Seen(it, version));
            decide(taken ? claim.changed(seen) : claim.seen(seen));
        }

        @Override
        public void wrote(int version) {
            // What was written counts once it is read.
            lookAgain |= !taken;
            answered();
        }

        @Override
        public void unknown(String why) {
            LOG.debug("{}: {}, once more", place.path(), why);
            lookLater();
        }

        @Override
        public void refused(String reason) {
            if (!taken) {
                refuse(reason);
                return;
            }
            // A start that holds the head continues without the ensemble.
            LOG.warn("{}: {}; asking again", place.path(), reason);
            node.end();
            lookLater();
        }

        @Override
        public void unreadable(String reason) {
            refuse(reason);
        }

        @Override
        public void changed() {
            look();
        }
    }

    /** The thread; it ends the service if it fails, as nobody would notice a successor. */
    private final class Requests extends ScheduledThreadPoolExecutor {

        Requests() {
            super(
                    1,
                    task -> {
                        Thread made = new Thread(task, "leadership " + place.path());
                        made.setDaemon(true);
                        return made;
                    });
        }

        @Override
        protected void afterExecute(Runnable task, Throwable thrown) {
            if (task instanceof Future<?> done && done.isDone()) {
                try {
                    done.get();
                } catch (ExecutionException e) {
                    LOG.error("{}: a defect", place.path(), e.getCause());
                    refuse(
                            "the holder of the head of "
                                    + place.path()
                                    + " failed: "
                                    + e.getCause());
                } catch (InterruptedException | CancellationException e) {
                    LOG.debug("{}: closed", place.path());
                }
            }
        }
    }
}
