package io.saucr.services.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.saucr.services.Measures;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.ServiceStatus.Channel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service's metrics, each with the tag {@code service}; {@code docs/services/metrics.md} says
 * what they mean.
 *
 * <pre>{@code
 * ServiceMetrics metrics = new ServiceMetrics(running);
 * metrics.bindTo(registry);
 * }</pre>
 *
 * <p>Timers and counters are exact. Gauges are of the newest look at {@link RunningService#status},
 * which a thread of its own takes every few seconds: reading a gauge waits for no turn. They are
 * NaN while the service does not answer. Any thread.
 */
public final class ServiceMetrics implements MeterBinder, AutoCloseable {

    /** How often the service is looked at where nothing else is said. */
    public static final Duration PERIOD = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(ServiceMetrics.class);

    /** Stands for all clients together: their births would be tags without an end. */
    private static final String CLIENTS = "#clients";

    private final RunningService service;
    private final Tags tags;
    private final ScheduledExecutorService looking;
    private final List<BoundMeters> bound = new CopyOnWriteArrayList<>();
    private volatile ServiceStatus status;

    /** Guarded by this. */
    private boolean closed;

    /** Begins to look at a service, every {@link #PERIOD}. */
    public ServiceMetrics(RunningService service) {
        this(service, PERIOD);
    }

    /**
     * The same at another pace.
     *
     * @param period between two looks, at least 1 ms
     */
    public ServiceMetrics(RunningService service, Duration period) {
        if (period.toMillis() < 1) {
            throw new IllegalArgumentException("a period is at least 1 ms, not " + period);
        }
        this.service = service;
        tags = Tags.of("service", service.name());
        looking =
                Executors.newSingleThreadScheduledExecutor(
                        task -> {
                            Thread thread = new Thread(task, "metrics of " + service.name());
                            thread.setDaemon(true);
                            return thread;
                        });
        service.measure(new AllBound());
        long millis = period.toMillis();
        Future<?> unused =
                looking.scheduleWithFixedDelay(this::look, 0, millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Shows the service in this registry, until {@link #close}.
     *
     * @throws IllegalStateException where this is closed, or the registry shows a service of that
     *     name already
     */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        if (closed) {
            throw new IllegalStateException("the metrics of " + service.name() + " are closed");
        }
        bound.add(new BoundMeters(registry, tags, () -> status));
        showOutboxes();
    }

    private void look() {
        try {
            status = service.status();
        } catch (ServiceException e) {
            status = null;
            LOG.debug("{} does not say how it is", service.name(), e);
        }
        showOutboxes();
    }

    private synchronized void showOutboxes() {
        List<MultiGauge.Row<?>> messages = new ArrayList<>();
        List<MultiGauge.Row<?>> ages = new ArrayList<>();
        ServiceStatus newest = status;
        if (newest != null) {
            long ofClients = 0;
            long oldestMillis = 0;
            boolean clients = false;
            for (Channel channel : newest.channels()) {
                if (channel.outside()) {
                    clients = true;
                    ofClients += channel.unacked();
                    oldestMillis = Math.max(oldestMillis, channel.oldestUnackedMillis());
                } else {
                    Tags peer = Tags.of("peer", channel.peer());
                    messages.add(MultiGauge.Row.of(peer, channel.unacked()));
                    ages.add(MultiGauge.Row.of(peer, channel.oldestUnackedMillis() / 1e3));
                }
            }
            if (clients) {
                Tags all = Tags.of("peer", CLIENTS);
                messages.add(MultiGauge.Row.of(all, ofClients));
                ages.add(MultiGauge.Row.of(all, oldestMillis / 1e3));
            }
        }
        for (BoundMeters each : bound) {
            each.showOutboxes(messages, ages);
        }
    }

    /** Looks no more, and removes all that it registered: nothing of the service is shown. */
    @Override
    public void close() {
        service.measure(Measures.NONE);
        looking.shutdownNow();
        synchronized (this) {
            // A look that comes to its end later finds no registry.
            closed = true;
            bound.forEach(BoundMeters::remove);
            bound.clear();
        }
    }

    /** Tells all registries. */
    private final class AllBound implements Measures {

        @Override
        public void ran(long nanos) {
            bound.forEach(it -> it.ran(nanos));
        }

        @Override
        public void failed() {
            bound.forEach(it -> it.failed());
        }

        @Override
        public void again() {
            bound.forEach(it -> it.again());
        }

        @Override
        public void becameFinal(long nanos) {
            bound.forEach(it -> it.becameFinal(nanos));
        }

        @Override
        public void forced(long nanos) {
            bound.forEach(it -> it.forced(nanos));
        }
    }
}
