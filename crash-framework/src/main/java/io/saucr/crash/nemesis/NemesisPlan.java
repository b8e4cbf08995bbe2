package io.saucr.crash.nemesis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How one run goes. The seed decides which fault comes when and to whom, and what the clients ask;
 * the servers' own timing it cannot decide.
 *
 * @param servers 3 to 9
 * @param length of the time with clients and faults
 * @param clients at the same time
 * @param callsPerSecond that all clients together try
 * @param kinds which faults, at least one
 * @param patience how long all servers may take until they serve after the last fault
 */
public record NemesisPlan(
        int servers,
        long seed,
        Duration length,
        int clients,
        int callsPerSecond,
        List<FaultKind> kinds,
        Duration patience) {
    public NemesisPlan {
        kinds = List.copyOf(kinds);
        if (servers < 3 || servers > 9 || clients < 1 || callsPerSecond < 1 || kinds.isEmpty()) {
            throw new IllegalArgumentException(
                    "3 to 9 servers, and at least one client, call a second and fault");
        }
    }

    /** The faults in words, as outcomes name them. */
    public String faults() {
        return kinds.stream().map(FaultKind::toString).collect(Collectors.joining(","));
    }
}
