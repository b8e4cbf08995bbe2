package io.saucr.services.client;

import io.saucr.services.Client.LossHandler;
import io.saucr.services.Lost;
import io.saucr.services.ServiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a client's owner of replies that are lost (C11), and counts them; what the owner does not
 * decide is dropped, and the log says so. Any thread.
 */
public final class Losses {

    private static final Logger LOG = LoggerFactory.getLogger(Losses.class);

    private final String service;
    private final Executor executor;
    private final AtomicLong count = new AtomicLong();
    private final Set<CompletableFuture<Object>> open = ConcurrentHashMap.newKeySet();
    private volatile LossHandler handler;
    private volatile String over;

    /** Nobody decides yet; who does is asked on a thread that nothing waits for. */
    public Losses(String service) {
        this(service, ForkJoinPool.commonPool());
    }

    /**
     * Nobody decides yet.
     *
     * @param executor on which the handler that decides is asked
     */
    public Losses(String service, Executor executor) {
        this.service = service;
        this.executor = executor;
    }

    /** See {@link io.saucr.services.Client#onLost}. */
    public void decidedBy(LossHandler by) {
        handler = by;
    }

    /** How many there were. */
    public long count() {
        return count.get();
    }

    /** What is asked again and has no answer yet has none any more. */
    public void end(String reason) {
        over = reason;
        // The one that is not in the set yet looks at the reason after it is.
        open.forEach(it -> it.completeExceptionally(new ServiceException(reason)));
    }

    private void watch(CompletableFuture<Object> again) {
        open.add(again);
        CompletableFuture<Object> unused = again.whenComplete((answer, e) -> open.remove(again));
        if (over != null) {
            again.completeExceptionally(new ServiceException(over));
        }
    }

    /**
     * Tells of them by the executor.
     *
     * @param lost in the order of the requests
     * @return which of them are asked again, in their order; never fails. What is not has failed
     */
    CompletableFuture<List<Boolean>> decide(List<Lost> lost) {
        count.addAndGet(lost.size());
        lost.forEach(it -> watch(it.again()));
        return CompletableFuture.supplyAsync(
                () -> {
                    List<Boolean> again = new ArrayList<>();
                    for (Lost each : lost) {
                        boolean repeats = repeats(each);
                        again.add(repeats);
                        if (!repeats) {
                            each.again()
                                    .completeExceptionally(
                                            new ServiceException(each + " was dropped"));
                        }
                    }
                    return again;
                },
                executor);
    }

    private boolean repeats(Lost lost) {
        LossHandler by = handler;
        if (by == null) {
            LOG.error(
                    "{} lost {}; nobody decides what becomes of it, so it is dropped: see"
                            + " Client.onLost",
                    service,
                    lost);
            return false;
        }
        try {
            return by.lost(lost) == Lost.Decision.REPEAT;
        } catch (RuntimeException e) {
            LOG.error(
                    "{} lost {}; it is dropped, as the handler of lost replies failed",
                    service,
                    lost,
                    e);
            return false;
        }
    }
}
