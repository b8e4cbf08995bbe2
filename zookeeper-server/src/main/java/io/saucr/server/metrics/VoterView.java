package io.saucr.server.metrics;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A leader's view of a connected server. Immutable.
 *
 * @param server its id
 * @param voter whether it votes in the current configuration
 * @param situationAware whether it announced SAUCR (H12)
 * @param synced whether it has everything up to the leader's epoch (H5)
 * @param keepsViews whether it has said that it keeps sealed views, so that it may be in one (R23)
 * @param inView whether it is in the sealed view, as it is connected now (R23)
 * @param mayCount whether it counts towards fast mode if it is prompt
 * @param prompt whether it was heard in time and acks in time (R9, R24)
 * @param heard whether it was heard in time: if so, and it is not prompt, it acks too late
 * @param silentMillis time since its last packet
 */
public record VoterView(
        long server,
        boolean voter,
        boolean situationAware,
        boolean synced,
        boolean keepsViews,
        boolean inView,
        boolean mayCount,
        boolean prompt,
        boolean heard,
        long silentMillis) {

    /** Whether fast mode can rely on it. */
    public boolean counts() {
        return mayCount && prompt;
    }

    public Map<String, Object> readable() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("server", server);
        result.put("voter", voter);
        result.put("situationAware", situationAware);
        result.put("synced", synced);
        result.put("keepsViews", keepsViews);
        result.put("inView", inView);
        result.put("prompt", prompt);
        result.put("heard", heard);
        result.put("silentMillis", silentMillis);
        return result;
    }
}
