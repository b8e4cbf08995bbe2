package io.saucr.server.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.core.config.HostPort;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/**
 * Asks the other AdminServers of the ensemble for their status. Only servers of the configuration
 * are asked, all at once, for at most one second, and at most twice a second however often this
 * server is asked. Thread-safe.
 *
 * <p>Every status names the server that gives it, and goes to that one, wherever it was found:
 * where an AdminServer is, is configured by hand or guessed, and on a host with several of them
 * easily wrong.
 */
final class EnsembleView {
    private static final Duration CONNECT_PATIENCE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** How the answer of a TLS port to a client without TLS begins. */
    private static final String TLS_ALERT = "\u0015\u0003";

    private static final String NO_ADDRESS = "the host has no address";

    /**
     * A server of the configuration.
     *
     * @param address host and port where its AdminServer should be; not used for this server itself
     * @param quorumAddresses its addresses for the other servers, HOST:PORT
     */
    record Member(long id, String address, Collection<String> quorumAddresses) {
        /** Hosts have several names, ports have one number. */
        private Set<String> quorumPorts() {
            return ports(quorumAddresses);
        }

        private static Set<String> ports(Collection<?> addresses) {
            return addresses.stream()
                    .map(address -> address.toString().replaceFirst(".*:", ""))
                    .collect(Collectors.toSet());
        }
    }

    /** What came from one address: a status, or what is wrong. */
    private record Found(Member asked, Map<?, ?> status, String problem) {
        long server() {
            return ((Number) status.get("server")).longValue();
        }

        boolean isFrom(Member member) {
            return status != null && server() == member.id();
        }
    }

    private final long self;
    private final String ensemble;
    private final boolean https;
    private final Supplier<Map<String, Object>> ownStatus;
    private final Supplier<List<Member>> members;
    private HttpClient client;
    private List<Map<String, Object>> answer;
    private long answeredNanos;

    /** Made at the first answer: every server's start would pay for it. */
    private static final class Json {
        static final ObjectMapper MAPPER = new ObjectMapper();
    }

    /**
     * @param self the id of this server
     * @param ensemble the name of the ensemble; empty if it has none
     * @param https whether the others are asked as {@link AdminTls} says, not over plain HTTP
     * @param ownStatus the status that this server reports
     * @param members all servers of the configuration, this one included
     */
    EnsembleView(
            long self,
            String ensemble,
            boolean https,
            Supplier<Map<String, Object>> ownStatus,
            Supplier<List<Member>> members) {
        this.self = self;
        this.ensemble = ensemble;
        this.https = https;
        this.ownStatus = ownStatus;
        this.members = members;
    }

    /**
     * One map for each server, by id: {@code server}, {@code address}, {@code status} if it is
     * known, {@code error} if it is not, and {@code warning} if it was not found where it should
     * be, or somebody else was found there.
     */
    synchronized List<Map<String, Object>> servers() {
        if (answer == null || System.nanoTime() - answeredNanos > FRESH_NANOS) {
            answer = ask(members.get());
            answeredNanos = System.nanoTime();
        }
        return answer;
    }

    private List<Map<String, Object>> ask(List<Member> all) {
        Map<Long, Member> byId = new TreeMap<>();
        all.forEach(member -> byId.put(member.id(), member));
        List<CompletableFuture<Found>> asked =
                byId.values().stream()
                        .filter(member -> member.id() != self)
                        .map(member -> ask(member, byId))
                        .toList();
        List<Found> found = asked.stream().map(CompletableFuture::join).toList();
        List<Map<String, Object>> result = new ArrayList<>();
        for (Member member : byId.values()) {
            result.add(member.id() == self ? own() : row(member, found));
        }
        return result;
    }

    private Map<String, Object> own() {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("server", self);
        row.put("address", "");
        row.put("status", ownStatus.get());
        return row;
    }

    private Map<String, Object> row(Member member, List<Found> found) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("server", member.id());
        row.put("address", member.address());
        Found there =
                found.stream()
                        .filter(each -> each.asked().equals(member))
                        .findFirst()
                        .orElseThrow();
        if (there.isFrom(member)) {
            row.put("status", there.status());
            return row;
        }
        String problem =
                there.status() == null
                        ? there.problem()
                        : "server "
                                + there.server()
                                + " answers there, not server "
                                + member.id()
                                + ": saucr.adminServers of server "
                                + self
                                + " must say where server "
                                + member.id()
                                + " has its AdminServer";
        found.stream()
                .filter(each -> each.isFrom(member))
                .findFirst()
                .ifPresentOrElse(
                        elsewhere -> {
                            row.put("status", elsewhere.status());
                            row.put(
                                    "warning",
                                    problem + "; found at " + elsewhere.asked().address());
                        },
                        () -> row.put("error", problem));
        return row;
    }

    private CompletableFuture<Found> ask(Member member, Map<Long, Member> byId) {
        try {
            HttpClient asking = client();
            URI uri =
                    URI.create(
                            (https ? "https://" : "http://")
                                    + member.address()
                                    + System.getProperty("zookeeper.admin.commandURL", "/commands")
                                    + "/saucr");
            return connectable(uri)
                    .thenCompose(found -> send(asking, found))
                    .thenApply(got -> read(member, got, byId))
                    .exceptionally(error -> new Found(member, null, readable(error)));
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedFuture(new Found(member, null, e.getMessage()));
        } catch (IOException e) {
            return CompletableFuture.completedFuture(
                    new Found(
                            member,
                            null,
                            "this server cannot ask over HTTPS, for want of its own keys: "
                                    + e.getMessage()));
        }
    }

    /** The client refuses some names of hosts; these are looked up first. */
    private static CompletableFuture<URI> connectable(URI uri) {
        return uri.getHost() != null
                ? CompletableFuture.completedFuture(uri)
                : CompletableFuture.supplyAsync(() -> lookedUp(uri))
                        .completeOnTimeout(null, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static URI lookedUp(URI uri) {
        try {
            return HostPort.connectable(uri);
        } catch (UnknownHostException e) {
            throw new CompletionException(e);
        }
    }

    private static CompletableFuture<HttpResponse<String>> send(HttpClient asking, URI uri) {
        if (uri == null) {
            return CompletableFuture.failedFuture(new UnknownHostException());
        }
        CompletableFuture<HttpResponse<String>> exchange =
                asking.sendAsync(
                        HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        // The request's own timeout would end with the head of the answer.
        return exchange.copy()
                .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((got, error) -> exchange.cancel(true));
    }

    private Found read(Member asked, HttpResponse<String> response, Map<Long, Member> byId) {
        Map<?, ?> status = Map.of();
        try {
            if (response.statusCode() == 200
                    && Json.MAPPER.readValue(response.body(), Object.class)
                            instanceof Map<?, ?> map) {
                status = map;
            }
        } catch (IOException e) {
            // No JSON; below.
        }
        if (!(status.get("server") instanceof Number id)) {
            return new Found(
                    asked,
                    null,
                    "what answers there is no server with SAUCR (HTTP status "
                            + response.statusCode()
                            + ")");
        }
        Member member = byId.get(id.longValue());
        if (member == null) {
            return new Found(
                    asked, null, "server " + id + " answers there, which is not of this ensemble");
        }
        // Servers of another ensemble have the same ids, and often the same ports. Older releases
        // say neither name nor addresses; and names are given to one server after the other.
        if (status.get("ensemble") instanceof String other
                && !other.isEmpty()
                && !ensemble.isEmpty()
                && !other.equals(ensemble)) {
            return new Found(
                    asked,
                    null,
                    ("a server %s of another ensemble answers there: its"
                                    + " saucr.ensembleName is %s, not %s")
                            .formatted(id, other, ensemble));
        }
        if (status.get("quorumAddresses") instanceof Collection<?> addresses
                && !Member.ports(addresses).equals(member.quorumPorts())) {
            return new Found(
                    asked,
                    null,
                    ("a server %s of another ensemble answers there: its quorum"
                                    + " address is %s, not %s")
                            .formatted(id, addresses, member.quorumAddresses()));
        }
        return new Found(asked, status, null);
    }

    private static String readable(Throwable error) {
        Throwable cause =
                error instanceof CompletionException && error.getCause() != null
                        ? error.getCause()
                        : error;
        if (cause instanceof HttpConnectTimeoutException) {
            return "no connection within " + CONNECT_PATIENCE.toMillis() + " ms";
        }
        if (cause instanceof TimeoutException) {
            return "it takes connections, but does not answer within "
                    + PATIENCE.toMillis()
                    + " ms";
        }
        if (cause instanceof UnknownHostException) {
            return NO_ADDRESS;
        }
        if (cause instanceof ConnectException) {
            return cause.getCause() instanceof UnresolvedAddressException
                    ? NO_ADDRESS
                    : "nothing listens there";
        }
        if (cause instanceof SSLException) {
            return "no connection over HTTPS: " + cause.getMessage();
        }
        if (!(cause instanceof IOException)) {
            return cause.toString();
        }
        String answered = String.valueOf(cause.getMessage());
        return answered.contains(TLS_ALERT)
                ? "what answers there speaks TLS, and was asked over plain HTTP"
                : "what answers there does not speak HTTP: "
                        + answered.replaceAll("\\p{Cntrl}", "?");
    }

    private HttpClient client() throws IOException {
        if (client == null) {
            HttpClient.Builder builder =
                    HttpClient.newBuilder()
                            .version(HttpClient.Version.HTTP_1_1)
                            .connectTimeout(CONNECT_PATIENCE);
            if (https) {
                builder.sslContext(AdminTls.context());
            }
            client = builder.build();
        }
        return client;
    }
}
