package io.saucr.crash.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.campaign.Activity;
import io.saucr.crash.campaign.AvailabilityModel;
import io.saucr.crash.campaign.Campaign;
import io.saucr.crash.campaign.FaultPlan;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Sequence;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.paper.ReactionPoint;
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
                        100, Map.of(1, 7), List.of(Map.of(0, 1, 1, 2), Map.of(), Map.of(0, 3))),
                null);
    }

    private static Outcome views(String sequence, Verdict verdict, boolean hadTo, String why) {
        return new Outcome(
                "saucr",
                "0.1.0",
                5,
                Sequence.parse(sequence),
                "simultaneous",
                "root",
                verdict,
                "it says so",
                10,
                0,
                List.of(),
                true,
                List.of(),
                4000,
                List.of(),
                Activity.NONE,
                new AvailabilityModel.Judgement(hadTo, why));
    }

    /** The model's sentence stands in the text, on the page, and in the JSON of an outcome. */
    @Test
    void refusalsAreExplainedByTheModelOfViews() throws Exception {
        String why = "4 of the 5 members of the view {1,2,3,4,5} lost what was in memory";
        List<Outcome> sequences =
                List.of(
                        views("12345>1>12345", Verdict.TOO_FEW_RECOVERED, false, why),
                        views("12345>2>12345", Verdict.CORRECT, false, "not asked for"),
                        views("12345>12>12345", Verdict.CORRECT, true, "enough"),
                        views("12345>23>12345", Verdict.UNAVAILABLE, true, "enough"));
        Results results = new Results(sequences, List.of(), List.of());
        String summary =
                "Model of sealed views: 2 sequences had to be available at the end, 1 were; 2 more"
                        + " might refuse, 1 did, each explained.";
        assertThat(TextReport.of(results))
                .contains(summary)
                .containsOnlyOnce("explained ")
                .contains("explained saucr simultaneous 12345>1>12345: " + why);
        assertThat(Report.html(results))
                .contains(summary)
                .contains(
                        "<code>12345&gt;1&gt;12345</code> simultaneous</td><td class=\"l\">" + why)
                .doesNotContain("not asked for");
        ObjectMapper json = new ObjectMapper();
        String line = json.writeValueAsString(sequences.get(0));
        assertThat(line).contains("\"model\":{\"hadToServe\":false,\"why\":\"" + why);
        assertThat(json.readValue(line, Outcome.class)).isEqualTo(sequences.get(0));
        String older = line.replaceAll(",\"model\":\\{.*?}(?=})", "");
        assertThat(json.readValue(older, Outcome.class).model()).isNull();
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
                .contains("saucr 5 seed 7 60 s partition,pause: ; history: histories/h.edn")
                .contains("            process <3>\n")
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
