package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.checkpoint.Damage;
import io.saucr.services.checkpoint.SharedReport;
import io.saucr.services.core.standby.SegmentId;
import java.nio.file.Path;
import java.util.List;

/** What a folder that members share holds, for people and for programs. One thread. */
final class SharedFolderReport {

    private final Path folder;
    private final List<SharedReport> births;

    SharedFolderReport(Path folder, List<SharedReport> births) {
        this.folder = folder;
        this.births = births;
    }

    /** Whether nothing in it is damaged or missing. */
    boolean isWhole() {
        return births.stream().allMatch(SharedReport::isWhole);
    }

    /** Whether a member could take over from it, for each birth. */
    boolean leadsToLast() {
        return births.stream().allMatch(SharedReport::leadsToLast);
    }

    private static String text(SharedReport of) {
        String last =
                of.last().equals(SegmentId.NONE) ? "no segment" : "segment " + of.last().toString();
        if (of.isWhole()) {
            return "whole, up to " + last;
        }
        return of.leadsToLast() ? "damaged, but it leads to " + last : "nothing leads to " + last;
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("folder", folder.toString());
        json.put("kind", "shared");
        json.put("whole", isWhole());
        json.put("starts", leadsToLast());
        ArrayNode all = json.putArray("generations");
        for (SharedReport of : births) {
            ObjectNode row = all.addObject();
            row.put("generation", of.birth().toString())
                    .put("name", of.service().orElse(null))
                    .put("segments", of.segments())
                    .put("bases", of.bases().size())
                    .put("unfinished", of.unfinished())
                    .put("restoredFrom", of.restoredFrom().map(SegmentId::number).orElse(null));
            row.putObject("last")
                    .put("epoch", of.last().epoch())
                    .put("number", of.last().number())
                    .put("digest", of.last().digest());
            ArrayNode problems = row.putArray("problems");
            of.damages().forEach(it -> problems.add(it.toString()));
            if (!of.missing().isEmpty()) {
                problems.add(of.missing());
            }
        }
        return json;
    }

    void print(Output output) {
        for (SharedReport of : births) {
            output.out()
                    .println(
                            of.path()
                                    + ": shared by members of "
                                    + of.service().orElse("?")
                                    + ", "
                                    + text(of)
                                    + "; "
                                    + of.segments()
                                    + " segments, "
                                    + of.bases().size()
                                    + " bases");
            String kind = of.leadsToLast() ? "damaged, but not needed: " : "WRONG: ";
            for (Damage damage : of.damages()) {
                output.out().println(kind + damage);
            }
            if (!of.missing().isEmpty()) {
                output.out().println("WRONG: " + of.missing());
            }
            if (of.unfinished() > 0) {
                output.out()
                        .println(
                                "note: "
                                        + of.unfinished()
                                        + " files that were being written; the primary deletes"
                                        + " what a crash left of them");
            }
        }
    }
}
