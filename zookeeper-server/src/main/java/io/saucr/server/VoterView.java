package io.saucr.server;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A leader's view of a connected server. Immutable.
 *
 * @param server its id
 * @param voter whether it votes in the current configuration
 * @param situationAware whether it announced SAUCR (H12)
 * @param synced whether it has everything up to the leader's epoch (H5)
 * @param prompt whether it was heard in time (R9); only then it counts towards fast mode
 * @param silentMillis time since its last packet
 */
public record VoterView(
        long server,
        boolean voter,
        boolean situationAware,
        boolean synced,
        boolean prompt,
        long silentMillis) {

    /** Whether fast mode can rely on it. */
    public boolean counts() {
        return voter && situationAware && synced && prompt;
    }

    Map<String, Object> readable() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("server", server);
        result.put("voter", voter);
        result.put("situationAware", situationAware);
        result.put("synced", synced);
        result.put("prompt", prompt);
        result.put("silentMillis", silentMillis);
        return result;
    }
}
