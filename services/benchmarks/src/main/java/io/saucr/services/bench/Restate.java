package io.saucr.services.bench;

import dev.restate.common.Request;
import dev.restate.common.Target;
import dev.restate.sdk.HandlerRunner;
import dev.restate.sdk.ObjectContext;
import dev.restate.sdk.SharedObjectContext;
import dev.restate.sdk.common.StateKey;
import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.endpoint.definition.HandlerDefinition;
import dev.restate.sdk.endpoint.definition.HandlerType;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.endpoint.definition.ServiceType;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import dev.restate.serde.Serde;
import dev.restate.serde.SerdeFactory;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The same as {@link PingPong} with Restate: for each pair two virtual objects, which send a number
 * to and fro, each adding one and keeping it. Their handlers run in this process, and a hop has
 * happened once the other object takes the message that it sent.
 */
final class Restate implements Contestant {

    private static final String OBJECT = "Player";
    private static final Serde<Long> NUMBER =
            Serde.using(
                    "application/json",
                    number -> number.toString().getBytes(StandardCharsets.UTF_8),
                    bytes -> Long.valueOf(new String(bytes, StandardCharsets.UTF_8)));
    private static final StateKey<Long> MADE = StateKey.of("made", NUMBER);

    private final List<Progress> progress = new ArrayList<>();
    private final RestateServer server;
    private final HttpServer handlers;
    private volatile boolean stopped;

    Restate(Path folder, int pairs) throws Exception {
        for (int pair = 0; pair < pairs; pair++) {
            progress.add(new Progress());
        }
        handlers =
                RestateHttpServer.fromEndpoint(
                        Endpoint.bind(
                                        ServiceDefinition.of(
                                                OBJECT,
                                                ServiceType.VIRTUAL_OBJECT,
                                                List.of(
                                                        HandlerDefinition.of(
                                                                "hop",
                                                                HandlerType.EXCLUSIVE,
                                                                NUMBER,
                                                                Serde.VOID,
                                                                HandlerRunner.of(
                                                                        this::hop,
                                                                        SerdeFactory.NOOP,
                                                                        HandlerRunner.Options
                                                                                .DEFAULT)),
                                                        HandlerDefinition.of(
                                                                "made",
                                                                HandlerType.SHARED,
                                                                Serde.VOID,
                                                                NUMBER,
                                                                HandlerRunner.of(
                                                                        this::made,
                                                                        SerdeFactory.NOOP,
                                                                        HandlerRunner.Options
                                                                                .DEFAULT)))))
                                .build());
        int port =
                handlers.listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(1, TimeUnit.MINUTES)
                        .actualPort();
        server = new RestateServer(folder);
        server.register(port);
        for (int pair = 0; pair < pairs; pair++) {
            String unused = server.call("/" + OBJECT + "/one-" + pair + "/hop/send", "1");
        }
    }

    private void hop(ObjectContext context, Long hop) {
        String[] parts = context.key().split("-");
        long made = context.get(MADE).orElse(0L);
        if (hop > 2 && hop != made + 2) {
            throw new IllegalStateException("hop " + hop + " came after " + made);
        }
        progress.get(Integer.parseInt(parts[1])).durable(hop - 1);
        context.set(MADE, hop);
        if (!stopped) {
            String partner = (parts[0].equals("one") ? "two-" : "one-") + parts[1];
            var unused =
                    context.send(
                            Request.of(
                                    Target.virtualObject(OBJECT, partner, "hop"),
                                    NUMBER,
                                    Serde.VOID,
                                    hop + 1));
        }
    }

    private Long made(SharedObjectContext context) {
        return context.get(MADE).orElse(0L);
    }

    @Override
    public void turn(int pair, long n) throws InterruptedException {
        progress.get(pair).await(n);
    }

    @Override
    public boolean goesOn() {
        return true;
    }

    @Override
    public long reached(int pair, long asked) {
        return Math.max(asked, progress.get(pair).durable());
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public long counter(int pair) throws IOException, InterruptedException {
        return Math.max(kept("one-" + pair), kept("two-" + pair));
    }

    private long kept(String key) throws IOException, InterruptedException {
        return Long.parseLong(server.call("/" + OBJECT + "/" + key + "/made", "").trim());
    }

    @Override
    public void close() {
        server.close();
        handlers.close().toCompletionStage().toCompletableFuture().join();
    }
}
