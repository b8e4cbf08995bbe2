package io.saucr.crash.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.crash.campaign.Activity;
import io.saucr.crash.campaign.Campaign;
import io.saucr.crash.campaign.FaultPlan;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Sequence;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.reaction.ReactionPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The page, from made-up results. */
class ReportTest {
    private static Outcome young(Verdict verdict, String reason) {
        return new Outcome(
                "zk-disk",
                "3.9.5",
                3,
                Sequence.parse("123>1>123"),
                "simultaneous, young",
                "root",
                verdict,
                reason,
                10,
                0,
                List.of(),
                true,
                List.of(),
                4000,
                List.of(new Outcome.Event(100, "end", "123", Map.of("server 1", "ended"))),
                new Activity(
                        100, Map.of(1, 7), List.of(Map.of(0, 1, 1, 2), Map.of(), Map.of(0, 3))));
    }

    private static NemesisOutcome nemesis(NemesisOutcome.Verdict verdict, List<String> evidence) {
        return new NemesisOutcome(
                "saucr",
                "0.1.0",
                5,
                7,
                60,
                "partition,pause",
                "root",
                verdict,
                "",
                evidence,
                9,
                1000,
                10,
                5,
                1200,
                30,
                70_000,
                List.of(new NemesisOutcome.Injected(1500, "pause", List.of(1, 4))),
                List.of(new NemesisOutcome.Refusal(2500, 4, "ended, status 12: no space left")),
                "h.edn");
    }

    @Test
    void aPageOfItsOwnWithASectionForEachKindOfResult() throws Exception {
        List<Outcome> sequences = new ArrayList<>();
        FaultPlan plan = FaultPlan.oneByOne();
        sequences.add(Campaign.viewstamped(Sequence.parse("12345>345>12345"), plan));
        sequences.add(Campaign.viewstamped(Sequence.parse("12345>45>12345"), plan));
        sequences.add(
                young(
                        Verdict.UNAVAILABLE,
                        "server 1 ended: No snapshot found, but there are log entries."));
        sequences.add(young(Verdict.CORRECT, ""));
        List<ReactionPoint> points = new ArrayList<>();
        for (String order : List.of("leader first", "followers first")) {
            for (long gap : new long[] {0, 50, 200}) {
                points.add(
                        new ReactionPoint(
                                "0.1.0", 5, 50, order, gap, gap, 1, "root", gap > 0 ? 4 : 0, 2));
            }
        }
        Results results =
                new Results(
                        sequences,
                        List.of(
                                nemesis(NemesisOutcome.Verdict.LINEARIZABLE, List.of()),
                                nemesis(
                                        NemesisOutcome.Verdict.NOT_LINEARIZABLE,
                                        List.of("process <3>"))),
                        points);
        String page = Report.html(results);
        assertThat(page)
                .contains("vr-ideal 5 one by one")
                .contains("<td>6 / 94 / 0 %</td>")
                .contains("<title>7 writes acknowledged</title>")
                .contains("<title>3 forces</title>")
                .contains("Of 2 sequences with young ensembles, 1 ended that way")
                .contains("not linearizable: 1")
                .contains("process &lt;3&gt;")
                .contains("heartbeat   50 ms, leader first")
                .contains("servers safe on disk")
                .doesNotContain("<script")
                .doesNotContain("src=")
                .doesNotContain("href=\"http");
        assertThat(page.split("<svg", -1).length - 1).isGreaterThanOrEqualTo(5);
        assertThat(TextReport.of(results))
                .containsPattern(
                        "vr-ideal 5 one by one +2 +1 +1 +0 +0 +50 / 50 / 0 % +6 / 94 / 0 %")
                .contains("held    zk-disk, young: loses nothing")
                .contains("saucr linearizable 1; saucr not linearizable 1")
                .containsPattern("heartbeat   50 ms, leader first +0\\.0 ! +4\\.0 +4\\.0");
    }

    @Test
    void whatIsNotThereHasNoSection() throws Exception {
        Results nothing = new Results(List.of(), List.of(), List.of());
        assertThat(TextReport.of(nothing)).isEmpty();
        assertThat(Report.html(nothing)).doesNotContain("<h2>").endsWith("</html>\n");
    }
}
