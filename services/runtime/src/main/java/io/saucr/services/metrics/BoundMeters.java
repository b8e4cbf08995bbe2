package io.saucr.services.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.saucr.services.Measures;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * The meters of one service in one registry, until {@link #remove}. A registry gives meters with
 * the same name and tags to all that ask for them, so there is one of these for a service in it.
 * Any thread.
 */
final class BoundMeters implements Measures {

    private static final String PREFIX = "saucr.services.";
    private static final String RUN = "turn.run";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Supplier<ServiceStatus> newest;
    private final Timer ran;
    private final Counter failed;
    private final Counter again;
    private final Timer becameFinal;
    private final Timer forced;
    private final MultiGauge outbox;
    private final MultiGauge ages;

    /** All but the rows of the outbox. */
    private final List<Meter> meters = new ArrayList<>();

    /**
     * Registers all of them.
     *
     * @param tags of each
     * @param newest what the service answered last; null where it did not
     * @throws IllegalStateException where the registry has them already
     */
    BoundMeters(MeterRegistry registry, Tags tags, Supplier<ServiceStatus> newest) {
        this.registry = registry;
        this.tags = tags;
        this.newest = newest;
        if (registry.find(PREFIX + RUN).tags(tags).meter() != null) {
            throw new IllegalStateException(
                    "the registry has meters of the service %s already: close their ServiceMetrics first, or take another registry"
                            .formatted(tags.stream().map(Tag::getValue).findFirst().orElse("")));
        }
        ran = timer(RUN, "An input, up to the writing of its record");
        failed = counter("turn.failed", "Handlers that threw");
        again = counter("turn.again", "Handlers that ran again, as what they saw changed");
        becameFinal = timer("turn.final", "A turn, until nothing can undo it");
        forced = timer("fsync", "An fsync of the disk");
        outbox =
                MultiGauge.builder(PREFIX + "outbox")
                        .description("Messages that a peer has not acked")
                        .tags(tags)
                        .register(registry);
        ages =
                MultiGauge.builder(PREFIX + "outbox.age")
                        .description("For how long the oldest of these has waited")
                        .baseUnit("seconds")
                        .tags(tags)
                        .register(registry);
        service();
        members();
        group();
    }

    /** Shows what waits for each peer. */
    void showOutboxes(List<Row<?>> messages, List<Row<?>> waiting) {
        outbox.register(messages, true);
        ages.register(waiting, true);
    }

    /** Removes all of them from the registry. */
    void remove() {
        showOutboxes(List.of(), List.of());
        meters.forEach(registry::remove);
    }

    private <M extends Meter> M kept(M meter) {
        meters.add(meter);
        return meter;
    }

    private void service() {
        kept(
                TimeGauge.builder(
                                PREFIX + "fsync.last",
                                this,
                                TimeUnit.MICROSECONDS,
                                it -> it.now(ServiceStatus::lastFsyncMicros))
                        .description("How long the last fsync took")
                        .tags(tags)
                        .register(registry));
        gauge("nonfinal.turns", "Turns that are not final", it -> it.turn() - it.finalTurn());
        bytes("nonfinal.bytes", "Bytes of turns that are not final", ServiceStatus::bytesNotFinal);
        bytes(
                "journal.bytes",
                "Bytes of turns behind the newest base",
                ServiceStatus::bytesAboveBase);
        bytes(
                "outbox.bytes",
                "Bytes of messages that wait for peers in files",
                ServiceStatus::bytesInFiles);

        gauge("dead.letters", "Dead letters", it -> it.deadLetters().size());
        gauge(
                "stopped",
                "Channels that wait for a person or another release",
                it -> it.stopped().size());
        gauge("outputs", "Calls to the world that have not returned", ServiceStatus::outputs);
        counter(
                "duplicates",
                "Messages that came again and were dropped, since the start",
                ServiceStatus::duplicates);
    }

    /** Of a member of a service with standbys; of another service they are 0. */
    private void members() {
        gauge(
                "member.primary",
                "1 while this member is primary",
                it -> it.member().role().equals("primary") ? 1 : 0);
        gauge(
                "member.ready",
                "1 while this member is primary, or could take over",
                it -> it.member().ready() ? 1 : 0);
        gauge("member.epoch", "How often a member became primary", it -> it.member().epoch());
        gauge(
                "member.segment",
                "The newest segment that the head names",
                it -> it.member().segment());
        gauge(
                "member.behind",
                "Segments that the head names and this member's state has not",
                it -> Math.max(0, it.member().segment() - it.member().applied()));
        gauge(
                "member.followers",
                "Standbys that follow this member",
                it -> it.member().followers().size());
        gauge(
                "member.alone",
                "1 while this member is primary and fewer members than asked for have its turns",
                it -> isAlone(it.member()) ? 1 : 0);
        gauge(
                "member.quarantined",
                "1 while this member's state differs from the primary's",
                it -> it.member().differs().isEmpty() ? 0 : 1);
        counter(
                "member.divergences",
                "How often this member's state differed from the primary's, since the start",
                it -> it.member().divergences());
        gauge(
                "member.replay.behind",
                "How far the replay of a trace is behind the primary",
                "seconds",
                it -> it.member().millisBehind() / 1e3);
    }

    /** Of a member of a group; of another service they are 0. */
    private void group() {
        gauge("group.world", "Decisions of the group, and 1", it -> it.group().world());
        gauge(
                "group.coordinates",
                "1 while this process coordinates its group",
                it -> it.group().coordinates() ? 1 : 0);
        gauge(
                "group.nonfinal",
                "Versions that are sealed and not final",
                it -> it.group().notFinal());
        gauge(
                "group.lag",
                "For how long the oldest of these has waited",
                "seconds",
                it -> it.group().lagMillis() / 1e3);
        gauge(
                "group.waits",
                "1 while messages to members wait until they are final",
                it -> it.group().waits().isEmpty() ? 0 : 1);
        counter(
                "group.rollbacks",
                "How many times turns were undone, since the start",
                it -> it.group().rollbacks());
        counter(
                "group.undone",
                "Turns that were undone, since the start",
                it -> it.group().undoneTurns());
    }

    private static boolean isAlone(MemberStatus member) {
        return member.role().equals("primary") && member.copies().equals("alone");
    }

    private Timer timer(String name, String description) {
        return kept(
                Timer.builder(PREFIX + name)
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    private Counter counter(String name, String description) {
        return kept(
                Counter.builder(PREFIX + name)
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    private double now(ToDoubleFunction<ServiceStatus> value) {
        ServiceStatus status = newest.get();
        return status == null ? Double.NaN : value.applyAsDouble(status);
    }

    private void gauge(String name, String description, ToDoubleFunction<ServiceStatus> value) {
        gauge(name, description, null, value);
    }

    private void bytes(String name, String description, ToDoubleFunction<ServiceStatus> value) {
        gauge(name, description, "bytes", value);
    }

    private void gauge(
            String name, String description, String unit, ToDoubleFunction<ServiceStatus> value) {
        kept(
                Gauge.builder(PREFIX + name, this, it -> it.now(value))
                        .description(description)
                        .baseUnit(unit)
                        .tags(tags)
                        .register(registry));
    }

    /** One that the service counts, since its start. */
    private void counter(String name, String description, ToDoubleFunction<ServiceStatus> value) {
        kept(
                FunctionCounter.builder(
                                PREFIX + name,
                                this,
                                it -> {
                                    ServiceStatus status = it.newest.get();
                                    return status == null ? 0 : value.applyAsDouble(status);
                                })
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    @Override
    public void ran(long nanos) {
        ran.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void failed() {
        failed.increment();
    }

    @Override
    public void again() {
        again.increment();
    }

    @Override
    public void becameFinal(long nanos) {
        becameFinal.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void forced(long nanos) {
        forced.record(nanos, TimeUnit.NANOSECONDS);
    }
}
