package io.saucr.services.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.saucr.services.Measures;
import io.saucr.services.MemberStatus;
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
import java.util.function.ToDoubleFunction;
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
 * which a thread of its own takes every few seconds: who reads a gauge waits for no turn. They are
 * NaN while the service does not answer, and once this is closed. Any thread.
 */
public final class ServiceMetrics implements MeterBinder, AutoCloseable {

    /** How often the service is looked at where nothing else is said. */
    public static final Duration PERIOD = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(ServiceMetrics.class);

    /** Stands for all clients together: their births would be tags without an end. */
    private static final String CLIENTS = "#clients";

    private static final String PREFIX = "saucr.services.";

    private final RunningService service;
    private final Tags tags;
    private final ScheduledExecutorService looking;
    private final List<Bound> bound = new CopyOnWriteArrayList<>();
    private volatile ServiceStatus status;

    /** What there is in one registry. */
    private record Bound(
            Timer ran,
            Counter failed,
            Counter again,
            Timer becameFinal,
            Timer forced,
            MultiGauge outbox,
            MultiGauge ages) {}

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

    @Override
    public void bindTo(MeterRegistry registry) {
        bound.add(
                new Bound(
                        timer(registry, "turn.run", "An input, up to the writing of its record"),
                        Counter.builder(PREFIX + "turn.failed")
                                .description("Handlers that threw")
                                .tags(tags)
                                .register(registry),
                        Counter.builder(PREFIX + "turn.again")
                                .description("Handlers that ran again, as what they saw changed")
                                .tags(tags)
                                .register(registry),
                        timer(registry, "turn.final", "A turn, until nothing can undo it"),
                        timer(registry, "fsync", "An fsync of the disk"),
                        MultiGauge.builder(PREFIX + "outbox")
                                .description("Messages that a peer has not acked")
                                .tags(tags)
                                .register(registry),
                        MultiGauge.builder(PREFIX + "outbox.age")
                                .description("For how long the oldest of these has waited")
                                .baseUnit("seconds")
                                .tags(tags)
                                .register(registry)));
        TimeGauge.builder(
                        PREFIX + "fsync.last",
                        this,
                        TimeUnit.MICROSECONDS,
                        it -> it.now(ServiceStatus::lastFsyncMicros))
                .description("How long the last fsync took")
                .tags(tags)
                .register(registry);
        gauge(
                registry,
                "nonfinal.turns",
                "Turns that are not final",
                it -> it.turn() - it.finalTurn());
        bytes(
                registry,
                "nonfinal.bytes",
                "Bytes of turns that are not final",
                ServiceStatus::bytesNotFinal);
        bytes(
                registry,
                "journal.bytes",
                "Bytes of turns behind the newest base",
                ServiceStatus::bytesAboveBase);
        bytes(
                registry,
                "outbox.bytes",
                "Bytes of messages that wait for peers in files",
                ServiceStatus::bytesInFiles);
        members(registry);
        group(registry);
        gauge(registry, "dead.letters", "Dead letters", it -> it.deadLetters().size());
        gauge(
                registry,
                "stopped",
                "Channels that wait for a person or another release",
                it -> it.stopped().size());
        gauge(
                registry,
                "outputs",
                "Calls to the world that have not returned",
                ServiceStatus::outputs);
        counter(
                registry,
                "duplicates",
                "Messages that came again and were dropped, since the start",
                ServiceStatus::duplicates);
        showOutboxes();
    }

    private Timer timer(MeterRegistry registry, String name, String description) {
        return Timer.builder(PREFIX + name).description(description).tags(tags).register(registry);
    }

    private double now(ToDoubleFunction<ServiceStatus> value) {
        ServiceStatus newest = status;
        return newest == null ? Double.NaN : value.applyAsDouble(newest);
    }

    /** Of a member of a service with standbys; of another service they are 0. */
    private void members(MeterRegistry registry) {
        gauge(
                registry,
                "member.primary",
                "1 while this member is primary",
                it -> it.member().role().equals("primary") ? 1 : 0);
        gauge(
                registry,
                "member.ready",
                "1 while this member is primary, or could take over",
                it -> it.member().ready() ? 1 : 0);
        gauge(
                registry,
                "member.epoch",
                "How often a member became primary",
                it -> it.member().epoch());
        gauge(
                registry,
                "member.segment",
                "The newest segment that the head names",
                it -> it.member().segment());
        gauge(
                registry,
                "member.behind",
                "Segments that the head names and this member's state has not",
                it -> Math.max(0, it.member().segment() - it.member().applied()));
        gauge(
                registry,
                "member.followers",
                "Standbys that follow this member",
                it -> it.member().followers().size());
        gauge(
                registry,
                "member.alone",
                "1 while this member is primary and fewer members than asked for have its turns",
                it -> isAlone(it.member()) ? 1 : 0);
    }

    /** Of a member of a group; of another service they are 0. */
    private void group(MeterRegistry registry) {
        gauge(registry, "group.world", "Decisions of the group, and 1", it -> it.group().world());
        gauge(
                registry,
                "group.coordinates",
                "1 while this process coordinates its group",
                it -> it.group().coordinates() ? 1 : 0);
        gauge(
                registry,
                "group.nonfinal",
                "Versions that are sealed and not final",
                it -> it.group().notFinal());
        gauge(
                registry,
                "group.lag",
                "For how long the oldest of these has waited",
                "seconds",
                it -> it.group().lagMillis() / 1e3);
        gauge(
                registry,
                "group.waits",
                "1 while messages to members wait until they are final",
                it -> it.group().waits().isEmpty() ? 0 : 1);
        counter(
                registry,
                "group.rollbacks",
                "How many times turns were undone, since the start",
                it -> it.group().rollbacks());
        counter(
                registry,
                "group.undone",
                "Turns that were undone, since the start",
                it -> it.group().undoneTurns());
    }

    private static boolean isAlone(MemberStatus member) {
        return member.role().equals("primary") && member.copies().equals("alone");
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String description,
            ToDoubleFunction<ServiceStatus> value) {
        gauge(registry, name, description, null, value);
    }

    private void bytes(
            MeterRegistry registry,
            String name,
            String description,
            ToDoubleFunction<ServiceStatus> value) {
        gauge(registry, name, description, "bytes", value);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String description,
            String unit,
            ToDoubleFunction<ServiceStatus> value) {
        Gauge.builder(PREFIX + name, this, it -> it.now(value))
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    /** One that the service counts, since its start. */
    private void counter(
            MeterRegistry registry,
            String name,
            String description,
            ToDoubleFunction<ServiceStatus> value) {
        FunctionCounter.builder(
                        PREFIX + name,
                        this,
                        it -> {
                            ServiceStatus newest = it.status;
                            return newest == null ? 0 : value.applyAsDouble(newest);
                        })
                .description(description)
                .tags(tags)
                .register(registry);
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
        for (Bound each : bound) {
            each.outbox().register(messages, true);
            each.ages().register(ages, true);
        }
    }

    /** Looks no more; what is registered stays. */
    @Override
    public void close() {
        service.measure(Measures.NONE);
        looking.shutdownNow();
        status = null;
        showOutboxes();
    }

    /** Tells all registries. */
    private final class AllBound implements Measures {

        @Override
        public void ran(long nanos) {
            bound.forEach(it -> it.ran().record(nanos, TimeUnit.NANOSECONDS));
        }

        @Override
        public void failed() {
            bound.forEach(it -> it.failed().increment());
        }

        @Override
        public void again() {
            bound.forEach(it -> it.again().increment());
        }

        @Override
        public void becameFinal(long nanos) {
            bound.forEach(it -> it.becameFinal().record(nanos, TimeUnit.NANOSECONDS));
        }

        @Override
        public void forced(long nanos) {
            bound.forEach(it -> it.forced().record(nanos, TimeUnit.NANOSECONDS));
        }
    }
}
