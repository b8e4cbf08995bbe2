package io.saucr.services.spring;

import io.saucr.services.Halt;
import io.saucr.services.Partitions;
import io.saucr.services.Protection;
import io.saucr.services.RunningPartitions;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.SmartLifecycle;

/**
 * The services of an application. They start before its web server and end after it: the end of a
 * primary hands the service over to another member. A service that must not continue halts, and
 * health says so; the application and its other services continue. Any thread.
 */
public final class SaucrServices implements SmartLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(SaucrServices.class);

    private final BeanFactory beans;
    private final List<String> names;
    private final SaucrServicesProperties properties;
    private final Protection protection;
    private final List<ServicesCustomizer> customizers;
    private final List<Function<RunningService, AutoCloseable>> watchers;
    private final Map<String, Run> runs = new ConcurrentHashMap<>();
    private volatile boolean running;

    /** One service, from its start on. */
    private static final class Run {
        final CompletableFuture<Running> started = new CompletableFuture<>();
        Thread thread;
    }

    SaucrServices(
            BeanFactory beans,
            List<String> names,
            SaucrServicesProperties properties,
            Protection protection,
            List<ServicesCustomizer> customizers,
            List<Function<RunningService, AutoCloseable>> watchers) {
        this.beans = beans;
        this.names = names;
        this.properties = properties;
        this.protection = protection;
        this.customizers = customizers;
        this.watchers = watchers;
    }

    /** What runs of a service: one, or its partitions here. */
    private record Running(
            Supplier<Map<String, RunningService>> services,
            Optional<RunningPartitions> partitions,
            Runnable end) {}

    /** How a service is, for health. */
    public record Condition(Optional<RunningService> service, Optional<String> failure) {}

    /**
     * The services that run, by the names of their beans; those that did not start yet are not
     * there. Each partition is a service of its own, such as {@code bank.3}.
     */
    public Map<String, RunningService> running() {
        Map<String, RunningService> all = new TreeMap<>();
        conditions()
                .forEach((name, it) -> it.service().ifPresent(service -> all.put(name, service)));
        return all;
    }

    /** How each service is: it runs, or there is a reason why not. */
    public Map<String, Condition> conditions() {
        Map<String, Condition> all = new TreeMap<>();
        runs.forEach(
                (name, run) -> {
                    Optional<Running> now = now(run.started);
                    if (now.isEmpty()) {
                        all.put(name, new Condition(Optional.empty(), Optional.of(whyNot(run))));
                    } else {
                        now.get()
                                .services()
                                .get()
                                .forEach(
                                        (each, it) ->
                                                all.put(
                                                        each,
                                                        new Condition(
                                                                Optional.of(it), it.halted())));
                    }
                });
        return all;
    }

    private static String whyNot(Run run) {
        return run.started.isCompletedExceptionally()
                ? "it did not start: see the log"
                : "it has not started yet: it waits for the ensemble";
    }

    private static Optional<Running> now(CompletableFuture<Running> started) {
        return started.isDone() && !started.isCompletedExceptionally()
                ? Optional.of(started.join())
                : Optional.empty();
    }

    @Override
    public void start() {
        running = true;
        for (String name : names) {
            Run run = new Run();
            runs.put(name, run);
            run.thread = new Thread(() -> run(name, run), "start of " + name);
            run.thread.setDaemon(true);
            run.thread.start();
        }
        long endNanos = System.nanoTime() + properties.startWait().toNanos();
        try {
            for (Map.Entry<String, Run> each : runs.entrySet()) {
                await(each.getKey(), each.getValue(), endNanos);
            }
        } catch (RuntimeException e) {
            stop();
            throw e;
        }
    }

    private void await(String name, Run run, long endNanos) {
        try {
            long left = Math.max(0, endNanos - System.nanoTime());
            Running unused = run.started.get(left, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            LOG.warn(
                    "{} has not started within {}: it waits for the ensemble, and health is down",
                    name,
                    properties.startWait());
        } catch (ExecutionException e) {
            throw new IllegalStateException(
                    "the service " + name + " did not start: " + e.getCause().getMessage(),
                    e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the start of " + name + " was interrupted", e);
        }
    }

    private void run(String name, Run run) {
        try {
            Services services = at(name).onHalt((reason, cause) -> halted(name, reason, cause));
            Integer count = properties.partitions().get(name);
            Running made =
                    count == null
                            ? watched(run(services, constructor(name)))
                            : watched(partitions(name, services.partitions(count)));
            if (!run.started.complete(made)) {
                made.end().run();
            }
        } catch (InterruptedException e) {
            boolean unused = run.started.completeExceptionally(e);
        } catch (IOException | RuntimeException | Error e) {
            LOG.error("the service {} did not start", name, e);
            boolean unused = run.started.completeExceptionally(e);
        }
    }

    private RunningService run(Services services, Function<State, ? extends Service> constructor)
            throws IOException, InterruptedException {
        if (protection instanceof Protection.Standby standby) {
            return services.run(constructor, standby);
        }
        return protection instanceof Protection.Speculative speculative
                ? services.run(constructor, speculative)
                : services.run(constructor, (Protection.Local) protection);
    }

    private RunningPartitions partitions(String name, Partitions of)
            throws IOException, InterruptedException {
        int[] here =
                properties.partitionsHere().getOrDefault(name, List.of()).stream()
                        .mapToInt(Integer::intValue)
                        .toArray();
        if (protection instanceof Protection.Standby standby) {
            return of.run(constructor(name), standby, here);
        }
        if (protection instanceof Protection.Local local) {
            return of.run(constructor(name), local, here);
        }
        throw new IllegalArgumentException(
                name + " has partitions, which run with local or standby, not with " + protection);
    }

    private Running watched(RunningService service) {
        List<AutoCloseable> watching = watch(service);
        return new Running(
                () -> Map.of(service.name(), service),
                Optional.empty(),
                () -> {
                    watching.forEach(SaucrServices::close);
                    // It ends with its turns final, and hands the primary's role over.
                    service.close();
                });
    }

    private Running watched(RunningPartitions partitions) {
        WatchedPartitions watched = new WatchedPartitions(partitions, this::watch);
        return new Running(watched::services, Optional.of(watched), watched::close);
    }

    private List<AutoCloseable> watch(RunningService service) {
        return watchers.stream().map(it -> it.apply(service)).toList();
    }

    private Function<State, Service> constructor(String name) {
        return state -> CurrentState.with(state, () -> beans.getBean(name, Service.class));
    }

    /**
     * A service of this application, or another one next to it, as the properties and customizers
     * say: for its clients.
     *
     * @param name of the service
     */
    public Services at(String name) {
        if (properties.ensemble() == null) {
            throw new IllegalArgumentException(
                    "saucr.services.ensemble is not set: it says the servers and the path below"
                            + " which services are, such as zk1:2181,zk2:2181/apps");
        }
        Services services =
                Services.at(properties.ensemble() + "/" + name)
                        .folder(Path.of(properties.folder(), name))
                        .listen(properties.listenAddress());
        if (properties.sessionTimeout() != null) {
            services = services.sessionTimeout(properties.sessionTimeout());
        }
        for (Map.Entry<String, Integer> each : properties.partitions().entrySet()) {
            services = services.partitioned(each.getKey(), each.getValue());
        }
        for (ServicesCustomizer each : customizers) {
            services = each.customize(name, services);
        }
        return services;
    }

    /**
     * A service that has partitions by the property {@code saucr.services.partitions}, here or
     * elsewhere: for its clients.
     *
     * @param name of the service
     * @throws IllegalArgumentException where the property does not say how many it has
     */
    public Partitions partitions(String name) {
        Integer count = properties.partitions().get(name);
        if (count == null) {
            throw new IllegalArgumentException(
                    "saucr.services.partitions."
                            + name
                            + " is not set: it says how many partitions "
                            + name
                            + " has. Without partitions a client is of at(\""
                            + name
                            + "\")");
        }
        return at(name).partitions(count);
    }

    /**
     * The partitions of a service that run in this application, to be released and taken.
     *
     * @param name of the service
     * @return empty where it has no partitions, is no bean of this application or has not started
     */
    public Optional<RunningPartitions> runningPartitions(String name) {
        return Optional.ofNullable(runs.get(name))
                .flatMap(run -> now(run.started))
                .flatMap(Running::partitions);
    }

    private void halted(String name, String reason, Throwable cause) {
        LOG.error("the service {} halted: {}", name, reason, cause);
        if (properties.exitOnHalt()) {
            Halt.process().halt(reason, cause);
        }
    }

    @Override
    public void stop() {
        running = false;
        runs.values().forEach(SaucrServices::stop);
        runs.clear();
    }

    private static void stop(Run run) {
        if (!run.started.cancel(false)) {
            now(run.started).ifPresent(it -> it.end().run());
            return;
        }
        run.thread.interrupt();
    }

    static void close(AutoCloseable watching) {
        try {
            watching.close();
        } catch (Exception e) {
            LOG.warn("what watched a service could not be closed", e);
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Before the web server, whose requests may need a service; so they end after it. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 4096;
    }
}
