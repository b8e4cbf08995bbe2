package io.saucr.crash.report;

import io.saucr.crash.campaign.Campaign;
import io.saucr.crash.campaign.OutFolder;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.nemesis.NemesisCampaign;
import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.paper.ReactionCampaign;
import io.saucr.crash.paper.ReactionPoint;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Everything that a report is about. Written to JSON as it stands. Immutable. */
public record Results(
        List<Outcome> sequences, List<NemesisOutcome> nemesis, List<ReactionPoint> figure11) {
    /** The part of a folder's results that a user without rights made. */
    public static final String UNPRIVILEGED = "unprivileged";

    public Results {
        sequences = List.copyOf(sequences);
        nemesis = List.copyOf(nemesis);
        figure11 = List.copyOf(figure11);
    }

    /**
     * Of a folder and, if there is one, of the folder {@value #UNPRIVILEGED} in it.
     *
     * @param progress is told of incomplete lines, which are dropped
     */
    public static Results in(Path out, PrintStream progress) throws IOException {
        OutFolder folder = new OutFolder(out, progress);
        List<Outcome> sequences = folder.read(Campaign.OUTCOMES, Outcome.class);
        List<NemesisOutcome> nemesis = folder.read(NemesisCampaign.OUTCOMES, NemesisOutcome.class);
        List<ReactionPoint> figure11 = folder.read(ReactionCampaign.POINTS, ReactionPoint.class);
        Path unprivileged = out.resolve(UNPRIVILEGED);
        if (Files.isDirectory(unprivileged)) {
            Results more = in(unprivileged, progress);
            sequences = joined(sequences, more.sequences());
            nemesis = joined(nemesis, more.nemesis());
            figure11 = joined(figure11, more.figure11());
        }
        return new Results(sequences, nemesis, figure11);
    }

    private static <T> List<T> joined(List<T> first, List<T> second) {
        List<T> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }

    public boolean isEmpty() {
        return sequences.isEmpty() && nemesis.isEmpty() && figure11.isEmpty();
    }
}
