package io.saucr.ensemble;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Which ports of loopback the servers of {@code ./saucr up} listen on. Stateless. */
final class Ports {
    private static final int CLIENT = 2180;
    private static final int QUORUM = 2880;
    private static final int ELECTION = 3880;
    private static final int ADMIN = 8080;
    private static final int SPACING = 100;

    private Ports() {}

    /**
     * Where a server listens: with a base b, b plus the id for clients, and a hundred, two hundred,
     * three hundred more for quorum, election and admin server.
     *
     * @param id from 1 to 99
     * @param base {@link LocalEnsemble#USUAL_PORTS} or 1024 to 65000
     */
    static ServerAddress of(int id, int base) {
        if (base == LocalEnsemble.USUAL_PORTS) {
            return ServerAddress.onLoopback(
                    id, CLIENT + id, QUORUM + id, ELECTION + id, ADMIN + id);
        }
        if (base < 1024 || base > 65_000) {
            throw new EnsembleException(
                    "--port-base " + base + " is out of range; allowed are 1024 to 65000");
        }
        int first = base + id;
        return ServerAddress.onLoopback(
                id, first, first + SPACING, first + 2 * SPACING, first + 3 * SPACING);
    }

    /**
     * Looks whether a process listens where an ensemble is about to.
     *
     * @throws EnsembleException naming the ports that are taken, and a base whose ports are free
     */
    static void requireFree(int servers, int base) {
        List<String> taken =
                addresses(servers, base)
                        .flatMap(
                                address ->
                                        address.ports().entrySet().stream()
                                                .filter(port -> !isFree(port.getValue()))
                                                .map(
                                                        port ->
                                                                "%s (%s of server %s)"
                                                                        .formatted(
                                                                                port.getValue(),
                                                                                port.getKey(),
                                                                                address.id())))
                        .toList();
        if (!taken.isEmpty()) {
            throw new EnsembleException(
                    ("another program uses port %s.\nEnd it, or choose other ports:"
                                    + " ./saucr up --port-base %s")
                            .formatted(String.join(", ", taken), freeBase(servers)));
        }
    }

    /** The first round number from which the ports of so many servers are all free. */
    static int freeBase(int servers) {
        return IntStream.iterate(12_000, base -> base < 60_000, base -> base + 1000)
                .filter(
                        base ->
                                addresses(servers, base)
                                        .flatMap(address -> address.ports().values().stream())
                                        .allMatch(Ports::isFree))
                .findFirst()
                .orElse(12_000);
    }

    private static Stream<ServerAddress> addresses(int servers, int base) {
        return IntStream.rangeClosed(1, servers).mapToObj(id -> of(id, base));
    }

    /** Whether nobody listens there on loopback. */
    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
