package io.saucr.services.turns;

import io.saucr.services.Halt;
import io.saucr.services.ServiceException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a service that must not continue, while its process does (K8, K14): its owner hears of
 * it, and what belongs to it is closed. Any thread.
 */
public final class Halting implements Halt {

    private static final Logger LOG = LoggerFactory.getLogger(Halting.class);

    private final String service;
    private final Halt owner;
    private final Runnable close;
    private final AtomicReference<String> reason = new AtomicReference<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    /**
     * Of a service that continues.
     *
     * @param owner hears of the end, on a thread of its own
     * @param close closes what belongs to the service; may take long, as a turn that hangs does
     */
    public Halting(String service, Halt owner, Runnable close) {
        this.service = service;
        this.owner = owner;
        this.close = close;
    }

    /** Ends it; the first reason counts. Returns at once. */
    @Override
    public void halt(String why, Throwable cause) {
        String said = service + " halts: " + why;
        if (!reason.compareAndSet(null, said)) {
            return;
        }
        LOG.error("{}", said, cause);
        // Not a daemon: a process whose last threads those of this service are hears of it, too.
        new Thread(() -> tell(said, cause), "halt of " + service).start();
        Thread closing = new Thread(this::closeAll, "end of " + service);
        closing.setDaemon(true);
        closing.start();
    }

    private void tell(String said, Throwable cause) {
        try {
            owner.halt(said, cause);
        } catch (RuntimeException e) {
            LOG.error("{}: who was to hear that it halts failed", service, e);
        }
    }

    private void closeAll() {
        try {
            close.run();
        } finally {
            closed.countDown();
        }
    }

    /** Why it ended; empty while it continues. */
    public Optional<String> reason() {
        return Optional.ofNullable(reason.get());
    }

    /**
     * Waits until all that belongs to it is closed.
     *
     * @return whether it is
     */
    public boolean awaitClosed(Duration patience) {
        try {
            if (closed.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                return true;
            }
            LOG.warn(
                    "{}: a turn of it still runs; its folder stays in use until that ends",
                    service);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /**
     * Nothing where it continues.
     *
     * @throws ServiceException where it ended
     */
    public void throwIfHalted() {
        String said = reason.get();
        if (said != null) {
            throw new ServiceException(said);
        }
    }
}
