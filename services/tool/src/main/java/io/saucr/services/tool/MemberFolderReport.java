package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.checkpoint.Damage;
import io.saucr.services.checkpoint.MemberReport;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the folder of a member holds, for people and for programs. One thread. */
final class MemberFolderReport {

    private final MemberReport report;
    private final Optional<String> inUseBy;

    MemberFolderReport(MemberReport report, Optional<String> inUseBy) {
        this.report = report;
        this.inUseBy = inUseBy;
    }

    /** Whether nothing in it is damaged or missing. */
    boolean isWhole() {
        return report.isWhole();
    }

    /** Whether a start could continue with its last segment. */
    boolean leadsToLast() {
        return report.leadsToLast();
    }

    private String last() {
        return report.last().equals(SegmentId.NONE)
                ? "no segment"
                : "segment " + report.last() + ", known named up to " + report.known();
    }

    private String verdictText() {
        if (isWhole()) {
            return "a member's folder, whole, up to " + last();
        }
        return leadsToLast()
                ? "a member's folder, damaged, but it leads to " + last()
                : "a member's folder, of which nothing leads to its last segment, " + last();
    }

    /** What a crash leaves, and is no problem. */
    private List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (inUseBy.isEmpty()) {
            report.torn()
                    .ifPresent(
                            it ->
                                    notes.add(
                                            it
                                                    + ": the torn end of a crash. No head names it;"
                                                    + " the next start cuts it off"));
        }
        return notes;
    }

    // ---- for programs

    ObjectNode verdict() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("folder", report.path().toString());
        json.put("whole", isWhole());
        json.put("starts", leadsToLast());
        put(json, "last", report.last());
        json.put("known", report.known());
        json.put("inUseBy", inUseBy.orElse(null));
        ArrayNode problems = json.putArray("problems");
        for (Damage damage : report.damages()) {
            problems.addObject()
                    .put("file", damage.file().toString())
                    .put("offset", damage.offset())
                    .put("needed", !leadsToLast())
                    .put("message", damage.toString());
        }
        for (String missing : report.missing()) {
            problems.addObject()
                    .put("file", report.path().toString())
                    .put("offset", -1)
                    .put("needed", !leadsToLast())
                    .put("message", missing);
        }
        ArrayNode notes = json.putArray("notes");
        notes().forEach(notes::add);
        return json;
    }

    private static void put(ObjectNode json, String name, SegmentId id) {
        json.putObject(name)
                .put("epoch", id.epoch())
                .put("number", id.number())
                .put("digest", id.digest());
    }

    ObjectNode json() {
        ObjectNode json = verdict();
        json.put("kind", "member");
        json.put("name", report.service().orElse(null));
        json.put("member", report.member().orElse(null));
        json.put("generation", report.birth().map(Birth::toString).orElse(null));
        json.put("from", report.from());
        report.restoredFrom().ifPresent(it -> put(json, "restoredFrom", it));
        ArrayNode bases = json.putArray("bases");
        for (MemberReport.BaseFile base : report.bases()) {
            bases.addObject()
                    .put("file", relative(base.file()))
                    .put("bytes", base.bytes())
                    .put("segment", base.number())
                    .put("whole", base.at().isPresent());
        }
        ArrayNode logs = json.putArray("segments");
        for (MemberReport.LogFile log : report.logs()) {
            logs.addObject()
                    .put("file", relative(log.file()))
                    .put("bytes", log.bytes())
                    .put("first", log.first())
                    .put("whole", log.segments());
        }
        return json;
    }

    // ---- for people

    void printVerdict(Output output) {
        output.out()
                .println(
                        report.path()
                                + ": "
                                + verdictText()
                                + inUseBy.map(it -> ", in use by " + it).orElse(""));
        problemsAndNotes(output);
    }

    private void problemsAndNotes(Output output) {
        String kind = leadsToLast() ? "damaged, but not needed: " : "WRONG: ";
        report.damages().forEach(it -> output.out().println(kind + it));
        report.missing().forEach(it -> output.out().println(kind + it));
        if (inUseBy.isPresent() && !isWhole()) {
            output.out()
                    .println(
                            "note: the process that runs on it changes files meanwhile; look again"
                                    + " when it has stopped");
        }
        notes().forEach(it -> output.out().println("note: " + it));
    }

    void print(Output output) {
        List<List<String>> head = new ArrayList<>();
        head.add(List.of("folder", report.path().toString()));
        head.add(List.of("name", report.service().orElse("?") + " (member)"));
        head.add(List.of("member", report.member().orElse("?")));
        head.add(List.of("generation", report.birth().map(Birth::toString).orElse("none yet")));
        head.add(List.of("in use", inUseBy.map(it -> "by " + it).orElse("no")));
        head.add(List.of("newest segment", report.last().toString()));
        head.add(List.of("known named", "up to segment " + report.known()));
        head.add(List.of("restored from", report.restoredFrom().map(this::base).orElse("nothing")));
        head.add(List.of("verdict", verdictText()));
        output.print(head);
        problemsAndNotes(output);
        List<List<String>> rows = new ArrayList<>();
        for (MemberReport.BaseFile base : report.bases()) {
            rows.add(
                    List.of(
                            relative(base.file()),
                            Output.bytes(base.bytes()),
                            "up to " + base.number(),
                            base.at().isPresent() ? "whole" : "DAMAGED"));
        }
        for (MemberReport.LogFile log : report.logs()) {
            rows.add(
                    List.of(
                            relative(log.file()),
                            Output.bytes(log.bytes()),
                            log.segments() == 0
                                    ? "none"
                                    : log.first() + " to " + (log.first() + log.segments() - 1),
                            state(log)));
        }
        output.print("Files:", List.of("FILE", "SIZE", "SEGMENTS", "STATE"), rows);
    }

    private String base(SegmentId from) {
        return from.equals(SegmentId.NONE)
                ? "segment 1 on"
                : "the base as of segment " + from.number();
    }

    private String state(MemberReport.LogFile log) {
        boolean torn = report.torn().map(it -> it.file().equals(log.file())).orElse(false);
        boolean damaged = report.damages().stream().anyMatch(it -> it.file().equals(log.file()));
        return damaged ? "DAMAGED" : torn ? "torn end" : "whole";
    }

    private String relative(Path file) {
        return report.path().relativize(file).toString();
    }
}
