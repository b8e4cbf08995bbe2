package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EnsembleTest {
    private static final String OLD_SILENCE = "server 3 is silent";

    private static JsonNode because(String mode, String pin) throws Exception {
        JsonNode leader =
                new ObjectMapper()
                        .readTree(
                                """
{"role": "leading", "mode": "%s", "pinnedSlow": %s, "lastSwitches": [
 {"what": "slow", "reason": "an older one"},
 {"what": "slow", "reason": "%s"}]}\
"""
                                        .formatted(mode, pin, OLD_SILENCE));
        return new ReplicationCommand.ModeCommand()
                .json(new Ensemble(List.of(), Optional.of(new SaucrState(leader)), Map.of()))
                .path("because");
    }

    /** What made it slow before it was pinned is over, perhaps for long. */
    @Test
    void aPinIsTheReasonForTheMode() throws Exception {
        assertThat(because("slow", "{\"reason\": \"operator: a cable\"}").asText())
                .isEqualTo("operator: a cable");
        assertThat(because("slow", "null").asText()).isEqualTo(OLD_SILENCE);
    }

    /** A switch to the other mode explains nothing: a leader begins in slow mode without one. */
    @Test
    void aSwitchToAnotherModeIsNoReason() throws Exception {
        assertThat(because("fast", "null").asText()).isEmpty();
    }

    private static ServerStatus server(SaucrState state) {
        return new ServerStatus(
                new Endpoint("zk1", 2181, false, Optional.empty()),
                state == null ? Map.of() : Map.of("Mode", "follower"),
                state == null ? problem() : null,
                state,
                state == null ? problem() : null);
    }

    private static EndpointException problem() {
        return new EndpointException(EndpointException.Reason.UNREACHABLE, "does not answer");
    }

    private static String mode(SaucrState... states) {
        return new Ensemble(
                        Arrays.stream(states).map(EnsembleTest::server).toList(),
                        Optional.empty(),
                        Map.of())
                .mode();
    }

    /** In a rolling upgrade a server of Apache's follows a leader with SAUCR on. */
    @Test
    void aServerWithoutSaucrDoesNotSpeakForThoseThatDoNotTell() throws Exception {
        SaucrState on = new SaucrState(new ObjectMapper().readTree("{\"role\": \"following\"}"));
        assertThat(mode(SaucrState.OFF, SaucrState.OFF)).isEqualTo("off");
        assertThat(mode(SaucrState.OFF, on)).isEqualTo("unknown");
        assertThat(mode(null, SaucrState.OFF)).isEqualTo("unknown");
    }

    @Test
    void whyTheLeaderIsNotKnown() throws Exception {
        String answer =
                """
                {"asked": 1, "servers": [
                  {"server": 1, "address": "", "status": {"role": "following"}},
                  {"server": 2, "address": "zk2:8080", "error": "refuses connections"},
                  {"server": 3, "address": "zk3:8080", "error": "did not answer"}]}
                """;
        assertThat(Ensemble.whyUnknown(2, new ObjectMapper().readTree(answer)))
                .isEqualTo(
                        "it did not get the mode from the AdminServer of the leader, server 2 at"
                                + " zk2:8080: refuses connections");
        assertThat(Ensemble.whyUnknown(-1, new ObjectMapper().readTree(answer)))
                .isEqualTo("it knows no server that leads");
    }
}
