package io.saucr.services.tests.replay;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.ensemble.LineProcess;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Member;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two members as processes, which run by {@code Protection.replay}, over a server of ZooKeeper. One
 * primary after the other is killed while clients ask: what was answered stays, and nothing is
 * handled twice (X4, X5, X9).
 */
class ReplayProcessesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TICK_MILLIS = 500;
    private static final int CLIENTS = 8;
    private static final int LANES = 4;
    private static final int BETWEEN_KILLS = 150;
    private static final int KILLS = 3;

    /** So many clients look at what became of the requests. */
    private static final int LOOKING = 32;

    @TempDir private Path work;

    private final List<TicketsProcess> members = new ArrayList<>();
    private final List<Client> looking = new ArrayList<>();

    /** Tickets by request, as clients have them. */
    private final Map<String, Long> answered = new ConcurrentHashMap<>();

    /** Requests of which clients do not know what became. */
    private final Queue<String> unknown = new ConcurrentLinkedQueue<>();

    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;
    private NIOServerCnxnFactory ensemble;
    private String service;

    private final class TicketsProcess {

        private final String name;
        private LineProcess lines;

        TicketsProcess(String name) throws IOException {
            this.name = name;
            members.add(this);
            start();
        }

        void start() throws IOException {
            List<String> flags = new ArrayList<>(Member.SMALL_JVM);
            flags.addAll(
                    List.of(
                            "-XX:-UsePerfData",
                            "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml"));
            lines =
                    new LineProcess(
                            name,
                            LineProcess.java(
                                    flags,
                                    TicketsProgram.class.getName(),
                                    service,
                                    work.resolve(name).toString(),
                                    Integer.toString(LANES)),
                            Map.of(),
                            work.resolve(name + ".log"),
                            PATIENCE,
                            line -> {});
            String unused = lines.await(0, "started");
        }

        /** SIGKILL. */
        void kill() {
            lines.close();
        }

        String status() {
            return lines.ask("status", "status ");
        }
    }

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        service = "127.0.0.1:" + ensemble.getLocalPort() + "/apps/tickets";
    }

    @AfterEach
    void end() {
        stopping = true;
        looking.forEach(Client::close);
        members.forEach(TicketsProcess::kill);
        ensemble.shutdown();
    }

    /** The member that is primary, once the other one follows it. */
    private TicketsProcess primary() {
        await().atMost(PATIENCE)
                .until(
                        () ->
                                members.stream()
                                        .map(TicketsProcess::status)
                                        .sorted()
                                        .toList()
                                        .equals(
                                                List.of(
                                                        "status primary false",
                                                        "status standby true")));
        return members.stream()
                .filter(it -> it.status().startsWith("status primary"))
                .findFirst()
                .orElseThrow();
    }

    private Thread client(int number) {
        Thread client = new Thread(() -> ask(number), "client " + number);
        client.start();
        return client;
    }

    private void ask(int number) {
        try (Client client = Services.at(service).client()) {
            for (int request = 1; !stopping; request++) {
                String id = number + "-" + request;
                try {
                    long ticket =
                            client.ask(new Tickets.Take(id))
                                    .get(PATIENCE.toSeconds(), SECONDS)
                                    .number();
                    answered.put(id, ticket);
                } catch (ExecutionException e) {
                    // At most once: nobody knows whether it was handled.
                    assertThat(e).hasMessageContaining("unknown whether it was consumed");
                    unknown.add(id);
                }
            }
        } catch (Exception | AssertionError e) {
            failures.add(e);
        }
    }

    private void awaitAnswers(int more) {
        int until = answered.size() + more;
        await().atMost(PATIENCE).until(() -> answered.size() >= until || !failures.isEmpty());
        assertThat(failures).isEmpty();
    }

    /** Of thousands of requests: each of these clients looks at one at a time. */
    private Map<String, Tickets.Seen> all() throws Exception {
        List<String> ids = new ArrayList<>(answered.keySet());
        ids.addAll(unknown);
        Map<String, Tickets.Seen> seen = new HashMap<>();
        for (int from = 0; from < ids.size(); from += looking.size()) {
            Map<String, CompletableFuture<Tickets.Seen>> asked = new HashMap<>();
            for (int i = 0; i < looking.size() && from + i < ids.size(); i++) {
                String id = ids.get(from + i);
                asked.put(id, looking.get(i).ask(new Tickets.Look(id)));
            }
            for (Map.Entry<String, CompletableFuture<Tickets.Seen>> each : asked.entrySet()) {
                seen.put(each.getKey(), each.getValue().get(PATIENCE.toSeconds(), SECONDS));
            }
        }
        return seen;
    }

    @Test
    void x4WhatWasAnsweredStaysAndNothingIsHandledTwiceThoughPrimariesAreKilled() throws Exception {
        TicketsProcess first = new TicketsProcess("one");
        await().atMost(PATIENCE).until(() -> first.status().startsWith("status primary"));
        TicketsProcess second = new TicketsProcess("two");
        assertThat(second.status()).isNotEmpty();
        List<Thread> clients = new ArrayList<>();
        for (int number = 1; number <= CLIENTS; number++) {
            clients.add(client(number));
        }
        for (int kill = 0; kill < KILLS; kill++) {
            TicketsProcess primary = primary();
            awaitAnswers(BETWEEN_KILLS);
            primary.kill();
            awaitAnswers(BETWEEN_KILLS);
            primary.start();
        }
        stopping = true;
        for (Thread each : clients) {
            each.join(PATIENCE.toMillis());
            assertThat(each.isAlive()).isFalse();
        }
        assertThat(failures).isEmpty();
        assertThat(answered.values()).as("tickets").doesNotHaveDuplicates();
        for (int i = 0; i < LOOKING; i++) {
            looking.add(Services.at(service).client());
        }
        Map<String, Tickets.Seen> seen = all();
        answered.forEach(
                (id, ticket) -> {
                    assertThat(seen.get(id).times()).as(id).isEqualTo(1);
                    assertThat(seen.get(id).number()).as(id).isEqualTo(ticket);
                });
        long handled = answered.size();
        for (String id : unknown) {
            assertThat(seen.get(id).times()).as(id).isLessThanOrEqualTo(1);
            handled += seen.get(id).times();
        }
        long given =
                looking.get(0)
                        .ask(new Tickets.Look("none"))
                        .get(PATIENCE.toSeconds(), SECONDS)
                        .all();
        assertThat(given).as("tickets that were given").isEqualTo(handled);
        // The other member has the same state.
        TicketsProcess last = primary();
        assertThat(last.lines.ask("stop", "stopped")).isNotEmpty();
        assertThat(all()).isEqualTo(seen);
    }
}
