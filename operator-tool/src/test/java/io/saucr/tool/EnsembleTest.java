package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class EnsembleTest {
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
