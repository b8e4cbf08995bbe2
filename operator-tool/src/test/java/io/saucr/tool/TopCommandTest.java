package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.tool.AdminAnswers.End;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code saucr top} and {@code saucr slow-requests} of two servers, and bad input. */
class TopCommandTest {
    private AdminAnswers first;
    private AdminAnswers second;

    @BeforeEach
    void listen() throws Exception {
        first = new AdminAnswers();
        second = new AdminAnswers();
    }

    @AfterEach
    void close() throws Exception {
        first.close();
        second.close();
    }

    private Run run(String... command) {
        String[] all = new String[command.length + 2];
        System.arraycopy(command, 0, all, 0, command.length);
        all[command.length] = "--endpoints=127.0.0.1:1,127.0.0.1:2";
        all[command.length + 1] = "--admin=" + first.address() + "," + second.address();
        return Run.of(all);
    }

    private static void answer(AdminAnswers server, String command, String json) {
        server.answer(
                command, json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), "", End.WHOLE);
    }

    private static String counts(int reads, int writes, int sum, int max) {
        return "'reads': %d, 'writes': %d, 'bytesRead': 10, 'bytesWritten': 20, 'sumMillis': %d, 'maxMillis': %d"
                .formatted(reads, writes, sum, max);
    }

    private static String top(int server, int millis, String entries) {
        return "{'command': 'top', 'error': null, 'server': %d, 'millis': %d, 'entries': [%s], 'rest': {%s}}"
                .formatted(server, millis, entries, counts(2, 0, 4, 3));
    }

    @Test
    void theLoadOfAllServersIsAddedUpByKey() throws Exception {
        String entries =
                "{'key': '/a', 'client': null, "
                        + counts(0, 10, 30, 5)
                        + "}, {'key': '/b', 'client': null, "
                        + counts(8, 0, 8, 2)
                        + "}";
        answer(first, "saucr/top", top(1, 2000, entries));
        answer(second, "saucr/top", top(2, 1000, entries));
        Run run = run("top", "--once", "--rows=1", "-o", "json");
        assertThat(run.exitCode()).isZero();
        JsonNode json = new ObjectMapper().readTree(run.out());
        JsonNode busiest = json.path("entries").path(0);
        assertThat(json.path("entries")).hasSize(1);
        assertThat(busiest.path("key").asText()).isEqualTo("/a");
        assertThat(busiest.path("writesPerSecond").asDouble()).isEqualTo(15);
        assertThat(busiest.path("meanMillis").asDouble()).isEqualTo(3);
        assertThat(busiest.path("maxMillis").asInt()).isEqualTo(5);
        // Of the servers' rest, and the row that is not printed.
        assertThat(json.path("other").path("readsPerSecond").asDouble()).isEqualTo(3 + 12);
        assertThat(json.path("total").path("readsPerSecond").asDouble()).isEqualTo(15);
        assertThat(json.path("total").path("writesPerSecond").asDouble()).isEqualTo(15);
        assertThat(first.asked()).containsExactly("saucr/top?by=prefix&depth=1&millis=2000&most=4");
        assertThat(run("top", "--once", "--rows=1").out())
                .isEqualTo(
                        """
                        PREFIX  READS/S  WRITES/S  READ B/S  WRITTEN B/S  MEAN MS  MAX MS
                        /a      0        15        15        30           3.0      5
                        other   15       0         30        60           1.2      3
                        total   15       15        45        90           2.1      5
                        """);
    }

    /** Sessions of two servers are two rows; which is which says the endpoint. */
    @Test
    void aSessionIsOfOneServer() throws Exception {
        String entry = "{'key': '0x1', 'client': '10.0.0.9:5', " + counts(0, 10, 30, 5) + "}";
        answer(first, "saucr/top", top(1, 1000, entry));
        answer(second, "saucr/top", top(2, 1000, entry));
        assertThat(run("top", "--by=session", "--once").out().lines())
                .anyMatch(line -> line.startsWith("0x1      10.0.0.9:5  127.0.0.1:1"))
                .anyMatch(line -> line.startsWith("0x1      10.0.0.9:5  127.0.0.1:2"));
    }

    @Test
    void aServerThatDoesNotCountIsNamed() {
        answer(first, "saucr/top", top(1, 1000, ""));
        Run run = run("top", "--once");
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err())
                .contains("saucr: 127.0.0.1:2: AdminServer")
                .contains("counts no requests: this is a server of Apache's");
        assertThat(run.out()).contains("total");
    }

    /** Without --once it would ask again at once, for ever. */
    @Test
    void withoutAnyAnswerItEnds() {
        assertThat(run("top").exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(first.asked()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "top, --by=path, by",
        "top, --depth=0, --depth: give 1 to 100",
        "top, --depth=101, --depth: give 1 to 100",
        "top, --rows=0, --rows: give 1 to 1000",
        "top, --interval=99ms, --interval: give 100ms to 10s",
        "top, --interval=11s, --interval: give 100ms to 10s",
        "top, --interval=soon, --interval: 'soon'",
        "slow-requests, --rows=0, --rows: give 1 to 1000",
        "slow-requests, --threshold=never, --threshold: give a time from 1ms to 1h",
        "slow-requests, '--threshold=1s now', --threshold: give a time from 1ms to 1h"
    })
    void wrongOptionsAreRefusedBeforeAnybodyIsAsked(String command, String option, String said) {
        Run run = run(command, option);
        assertThat(run.exitCode()).isEqualTo(OperatorTool.USAGE);
        assertThat(run.err()).contains(said);
        assertThat(first.asked()).isEmpty();
    }

    private static String slow(String requests, String waiting) {
        return "{'command': 'slowRequests', 'error': null, 'server': 1, 'thresholdMillis': 500, 'slow': 3,"
                + " 'leftOut': 1, 'waiting': ["
                + waiting
                + "], 'requests': ["
                + requests
                + "]}";
    }

    private static String request(String zxid, String of, String commit, String stages) {
        return ("{'at': 1000, 'operation': 'setData', 'path': '/a', 'session': '0x1', 'client': "
                        + (of.equals("null") ? "'10.0.0.9:5'" : "null")
                        + ", 'clientOf': %s, 'bytes': 3, 'zxid': %s, 'millis': 700, 'stageMillis': {%s},"
                        + " 'replication': %s}")
                .formatted(
                        of,
                        zxid,
                        stages,
                        commit == null
                                ? "null"
                                : ("{'mode': 'slow', 'queueMillis': 0, 'proposalMillis': 1, 'commitMillis': %s,"
                                                + " 'acks': [{'server': 1, 'millis': 2}, {'server': 3, 'millis': 690}],"
                                                + " 'completedBy': 3, 'missing': [2]}")
                                        .formatted(commit));
    }

    @Test
    void whatTheLeaderKnowsIsJoinedWithWhatTheClientsServerKnows() throws Exception {
        answer(
                first,
                "saucr/slowRequests",
                slow(
                        request("'0x100000007'", "2", "690", "")
                                + ", "
                                + request("'0x100000009'", "4", "690", ""),
                        request("'0x10000000a'", "2", "null", "")));
        answer(
                second,
                "saucr/slowRequests",
                slow(request("'0x100000007'", "null", null, "'queue': 0, 'commit': 699"), ""));
        Run json = run("slow-requests", "-o", "json");
        assertThat(json.exitCode()).isZero();
        JsonNode all = new ObjectMapper().readTree(json.out());
        assertThat(all.path("requests")).hasSize(2);
        JsonNode joined = all.path("requests").path(0);
        assertThat(joined.path("endpoint").asText()).isEqualTo("127.0.0.1:2");
        assertThat(joined.path("replication").path("completedBy").asInt()).isEqualTo(3);
        assertThat(all.path("waiting")).hasSize(1);
        assertThat(all.path("servers").path(0).path("leftOut").asInt()).isEqualTo(1);
        Run table = run("slow-requests");
        assertThat(table.out())
                .contains("700 ms so far")
                .contains("queue 0, commit 699  slow mode, queue 0, proposal 1, commit 690,")
                .contains("acks of 1: 2, 3: 690 (last needed), none yet of 2")
                .contains("of server 4");
    }
}
