package io.saucr.ensemble;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The TCP ports that one server of a local ensemble listens on, all of them on the loopback
 * address.
 */
public record Ports(int client, int quorum, int election, int admin) {
    /**
     * Value of a port base that stands for the usual ports: 2181, 2881, 3881, 8081 and following.
     */
    public static final int DEFAULT_BASE = 0;

    private static final int CLIENT = 2180;
    private static final int QUORUM = 2880;
    private static final int ELECTION = 3880;
    private static final int ADMIN = 8080;
    private static final int SPACING = 100;

    /**
     * Ports of a server: with a base b, b plus the id for clients, and a hundred, two hundred,
     * three hundred more for quorum, election and admin server.
     *
     * @param id from 1 to 99
     * @param base {@link #DEFAULT_BASE} or 1024 to 65000
     */
    public static Ports of(int id, int base) {
        if (base == DEFAULT_BASE) {
            return new Ports(CLIENT + id, QUORUM + id, ELECTION + id, ADMIN + id);
        }
        if (base < 1024 || base > 65_000) {
            throw new EnsembleException(
                    "--port-base " + base + " is out of range; allowed are 1024 to 65000");
        }
        return new Ports(
                base + id, base + SPACING + id, base + 2 * SPACING + id, base + 3 * SPACING + id);
    }

    /** The ports by what they serve, in the order in which a user meets them. */
    public Map<String, Integer> byPurpose() {
        Map<String, Integer> ports = new LinkedHashMap<>();
        ports.put("client port", client);
        ports.put("quorum port", quorum);
        ports.put("election port", election);
        ports.put("admin server's port", admin);
        return ports;
    }
}
