package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.journal.FolderReader;
import io.saucr.services.journal.Membership;
import io.saucr.services.turns.FolderContents;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a folder holds, for people and for programs. No message's content is shown. One thread. */
final class FolderReport {

    private static final int SHOWN_STARTS = 5;

    private final FolderContents contents;
    private final FolderReader files;

    FolderReport(FolderContents contents) {
        this.contents = contents;
        this.files = contents.files();
    }

    /** Whether nothing in it is damaged or missing. */
    boolean isWhole() {
        return files.starts()
                && contents.unread().isEmpty()
                && files.problems().stream().noneMatch(FolderReader.Problem::needed);
    }

    private List<FolderReader.Problem> problems() {
        List<FolderReader.Problem> all = new ArrayList<>(files.problems());
        contents.unread()
                .ifPresent(
                        it ->
                                all.add(
                                        new FolderReader.Problem(
                                                files.path(),
                                                -1,
                                                files.path()
                                                        + ": behind turn "
                                                        + contents.turn()
                                                        + ": "
                                                        + it,
                                                true)));
        return all;
    }

    /** What is remarkable and no problem. */
    private List<String> notes() {
        List<String> notes = new ArrayList<>();
        files.sharedJournal()
                .ifPresent(
                        it ->
                                notes.add(
                                        ("its newest turns are in the journal of generation %s, which partitions"
                                                        + " share: this is as of its snapshot. It starts next to that journal only")
                                                .formatted(it)));
        List<FolderReader.SegmentFile> segments = files.segments();
        if (!segments.isEmpty() && files.inUseBy().isEmpty() && files.starts()) {
            FolderReader.SegmentFile last = segments.get(segments.size() - 1);
            if (last.torn()) {
                notes.add(
                        last.file()
                                + ", byte "
                                + last.end()
                                + ": behind turn "
                                + last.lastTurn()
                                + " is the torn end of a crash. Nothing that left depends on it;"
                                + " the next start cuts it off");
            }
        }
        return notes;
    }

    private String verdictText() {
        if (isWhole()) {
            return "whole, up to turn " + files.lastTurn();
        }
        return files.starts() && contents.unread().isEmpty()
                ? "damaged, but a start would continue after turn " + files.lastTurn()
                : "a start would refuse it; it can be read up to turn " + files.lastTurn();
    }

    // ---- for programs

    ObjectNode verdict() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("folder", files.path().toString());
        json.put("whole", isWhole());
        json.put("starts", files.starts() && contents.unread().isEmpty());
        json.put("turn", files.lastTurn());
        json.put("inUseBy", files.inUseBy().orElse(null));
        ArrayNode problems = json.putArray("problems");
        for (FolderReader.Problem problem : problems()) {
            problems.addObject()
                    .put("file", problem.file().toString())
                    .put("offset", problem.offset())
                    .put("needed", problem.needed())
                    .put("message", problem.message());
        }
        ArrayNode notes = json.putArray("notes");
        notes().forEach(notes::add);
        return json;
    }

    /** The group of which the service is a member. */
    private Optional<String> group() {
        return files.membership().filter(Membership::in).map(Membership::group);
    }

    ObjectNode json() {
        ObjectNode json = verdict();
        json.put("kind", contents.kind().toString());
        json.put("name", files.name().orElse(null));
        json.put("group", group().orElse(null));
        json.put("generation", birth().map(Birth::toString).orElse(null));
        json.put("confirmedStart", files.confirmed());
        ArrayNode starts = json.putArray("starts");
        for (Incarnation start : files.incarnations()) {
            starts.addObject()
                    .put("number", start.number())
                    .put("nonce", String.format("%016x", start.nonce()));
        }
        json.put("baseTurn", files.baseTurn());
        json.put("syncedTurn", files.forcedTurn());
        ArrayNode bases = json.putArray("bases");
        for (FolderReader.BaseFile base : files.bases()) {
            ObjectNode row = bases.addObject();
            row.put("file", relative(base.file()))
                    .put("bytes", base.bytes())
                    .put("turn", base.turn())
                    .put("whole", base.whole());
            ArrayNode sections = row.putArray("sections");
            base.sections()
                    .forEach(
                            it ->
                                    sections.addObject()
                                            .put("name", it.name())
                                            .put("bytes", it.bytes())
                                            .put("content", it.content()));
        }
        ArrayNode segments = json.putArray("segments");
        for (FolderReader.SegmentFile segment : files.segments()) {
            segments.addObject()
                    .put("file", relative(segment.file()))
                    .put("bytes", segment.bytes())
                    .put("start", segment.start().map(Incarnation::number).orElse(null))
                    .put("firstTurn", segment.firstTurn())
                    .put("lastTurn", segment.lastTurn())
                    .put("records", segment.records())
                    .put("recordBytes", segment.recordBytes())
                    .put("torn", segment.torn())
                    .put("needed", segment.needed());
        }
        ArrayNode others = json.putArray("others");
        files.others()
                .forEach(
                        it ->
                                others.addObject()
                                        .put("file", relative(it.file()))
                                        .put("bytes", it.bytes()));
        jsonOfService(json);
        return json;
    }

    private void jsonOfService(ObjectNode json) {
        ArrayNode peers = json.putArray("peers");
        for (Change.PeerIs peer : contents.all(Change.PeerIs.class)) {
            ObjectNode row = peers.addObject();
            row.put("peer", peer.peer())
                    .put("outside", peer.outside())
                    .put("generation", peer.birth().map(Birth::toString).orElse(null))
                    .put("sent", peer.sent())
                    .put("unacked", contents.unacked(peer))
                    .put("unackedBytes", outboxBytes(peer))
                    .put("oldestSentMillis", contents.oldestMillis(peer))
                    .put("consumed", peer.consumed().number())
                    .put("heardMillis", peer.heardMillis());
            ArrayNode gone = row.putArray("lost");
            peer.gone().forEach(it -> gone.add(it.toString()));
        }
        ArrayNode parked = json.putArray("deadLetters");
        for (Change.ParkedIs it : contents.all(Change.ParkedIs.class)) {
            parked.addObject()
                    .put("id", it.id())
                    .put("channel", it.channel())
                    .put("type", it.body().type())
                    .put("bytes", it.body().bytes().length)
                    .put("reason", it.reason());
        }
        ArrayNode tried = json.putArray("tried");
        for (Change.Tried it : contents.all(Change.Tried.class)) {
            tried.addObject()
                    .put("channel", it.channel())
                    .put("input", it.input())
                    .put("times", it.times());
        }
        ArrayNode timers = json.putArray("timers");
        for (Change.TimerSet it : contents.all(Change.TimerSet.class)) {
            timers.addObject()
                    .put("id", it.id())
                    .put("dueMillis", it.dueMillis())
                    .put("type", it.body().type());
        }
        json.put("outputs", contents.all(Change.OutputIs.class).size());
        json.put("returned", contents.returned());
    }

    // ---- for people

    void printVerdict(Output output) {
        output.out()
                .println(
                        files.path()
                                + ": "
                                + verdictText()
                                + files.inUseBy().map(it -> ", in use by " + it).orElse(""));
        problemsAndNotes(output);
    }

    private void problemsAndNotes(Output output) {
        for (FolderReader.Problem problem : problems()) {
            output.out()
                    .println(
                            (problem.needed() ? "WRONG: " : "damaged, but covered by a base: ")
                                    + problem.message());
        }
        if (files.inUseBy().isPresent() && !problems().isEmpty()) {
            output.out()
                    .println(
                            "note: the process that runs on it changes files meanwhile; look again"
                                    + " when it has stopped");
        }
        notes().forEach(it -> output.out().println("note: " + it));
    }

    void print(Output output) {
        List<List<String>> head = new ArrayList<>();
        head.add(List.of("folder", files.path().toString()));
        head.add(List.of("name", files.name().orElse("?") + " (" + contents.kind() + ")"));
        head.add(List.of("generation", birth().map(Birth::toString).orElse("?")));
        head.add(List.of("starts", starts()));
        head.add(List.of("in use", files.inUseBy().map(it -> "by " + it).orElse("no")));
        group().ifPresent(
                        it ->
                                head.add(
                                        List.of(
                                                "group",
                                                it
                                                        + ": a member. The numbers here are those"
                                                        + " of records; the newest turn is "
                                                        + contents.turn())));
        head.add(List.of("newest turn", Long.toString(files.lastTurn())));
        head.add(List.of("known synced", "up to turn " + files.forcedTurn()));
        head.add(List.of("base", files.baseTurn() == 0 ? "none" : "of turn " + files.baseTurn()));
        head.add(List.of("verdict", verdictText()));
        output.print(head);
        problemsAndNotes(output);
        printFiles(output);
        printService(output);
    }

    private void printFiles(Output output) {
        List<List<String>> rows = new ArrayList<>();
        for (FolderReader.BaseFile base : files.bases()) {
            rows.add(
                    List.of(
                            relative(base.file()),
                            Output.bytes(base.bytes()),
                            "-",
                            "up to " + base.turn(),
                            "-",
                            base.whole() ? "whole" : "DAMAGED"));
        }
        for (FolderReader.SegmentFile segment : files.segments()) {
            rows.add(
                    List.of(
                            relative(segment.file()),
                            Output.bytes(segment.bytes()),
                            segment.start().map(it -> Long.toString(it.number())).orElse("?"),
                            segment.records() == 0
                                    ? "none"
                                    : segment.firstTurn() + " to " + segment.lastTurn(),
                            segment.records() + ", " + Output.bytes(segment.recordBytes()),
                            state(segment)));
        }
        for (FolderReader.Other other : files.others()) {
            rows.add(
                    List.of(
                            relative(other.file()),
                            Output.bytes(other.bytes()),
                            "-",
                            "-",
                            "-",
                            "other"));
        }
        output.print("Files:", List.of("FILE", "SIZE", "START", "TURNS", "RECORDS", "STATE"), rows);
        List<List<String>> sections = new ArrayList<>();
        files.bases().stream()
                .filter(it -> it.turn() == files.baseTurn())
                .flatMap(it -> it.sections().stream())
                .forEach(
                        it ->
                                sections.add(
                                        List.of(
                                                it.name(),
                                                Output.bytes(it.bytes()),
                                                it.content())));
        output.print(
                "In the base of turn " + files.baseTurn() + ":",
                List.of("SECTION", "SIZE", "CONTENT"),
                sections);
    }

    private static String state(FolderReader.SegmentFile segment) {
        if (segment.start().isEmpty()) {
            return "DAMAGED";
        }
        return segment.needed() ? segment.torn() ? "torn end" : "needed" : "covered by the base";
    }

    private void printService(Output output) {
        String asOf = " as of turn " + contents.turn();
        List<List<String>> peers = new ArrayList<>();
        for (Change.PeerIs peer : contents.all(Change.PeerIs.class)) {
            peers.add(
                    List.of(
                            peer(peer.peer(), peer.outside()),
                            peer.birth().map(Birth::toString).orElse("-"),
                            Long.toString(peer.sent()),
                            Long.toString(contents.unacked(peer)),
                            Output.bytes(outboxBytes(peer)),
                            oldest(peer),
                            Long.toString(peer.consumed().number()),
                            peer.gone().isEmpty() ? "-" : peer.gone().size() + " generations"));
        }
        output.print(
                "Channels" + asOf + ":",
                List.of(
                        "PEER",
                        "GENERATION",
                        "SENT",
                        "UNACKED",
                        "SIZE",
                        "OLDEST SENT",
                        "CONSUMED",
                        "LOST"),
                peers);
        output.print(
                "Dead letters" + asOf + ":",
                List.of("ID", "CHANNEL", "TYPE", "SIZE", "REASON"),
                contents.all(Change.ParkedIs.class).stream()
                        .map(
                                it ->
                                        List.of(
                                                Long.toString(it.id()),
                                                Output.line(it.channel()),
                                                it.body().type(),
                                                Output.bytes(size(it.body())),
                                                Output.line(it.reason())))
                        .toList());
        output.print(
                "Tried by starts that died" + asOf + ":",
                List.of("CHANNEL", "INPUT", "TIMES"),
                contents.all(Change.Tried.class).stream()
                        .map(
                                it ->
                                        List.of(
                                                Output.line(it.channel()),
                                                Output.line(it.input()),
                                                Integer.toString(it.times())))
                        .toList());
        if (contents.kind() == FolderContents.Kind.SERVICE) {
            output.out()
                    .printf(
                            "%nTimers: %d; calls without an answer: %d; messages that came back:"
                                    + " %d%n",
                            contents.all(Change.TimerSet.class).size(),
                            contents.all(Change.OutputIs.class).size(),
                            contents.returned());
        }
    }

    /** A client's name is followed by its birth, which is shown next to it. */
    static String peer(String key, boolean outside) {
        int end = key.indexOf(ServiceCore.RESERVED);
        return outside && end > 0 ? Output.line(key.substring(0, end)) + " (client)" : key;
    }

    private String starts() {
        List<Incarnation> all = files.incarnations();
        if (all.isEmpty()) {
            return "?";
        }
        StringBuilder text = new StringBuilder();
        int from = Math.max(0, all.size() - SHOWN_STARTS);
        for (Incarnation start : all.subList(from, all.size())) {
            text.append(text.isEmpty() ? from > 0 ? "..., " : "" : ", ")
                    .append(start.number())
                    .append(String.format(" (%016x)", start.nonce()));
        }
        return text
                + (files.confirmed() == 0
                        ? "; none held the head"
                        : "; " + files.confirmed() + " is the last that held the head");
    }

    private Optional<Birth> birth() {
        return files.incarnations().stream().map(Incarnation::birth).findFirst();
    }

    private String relative(Path file) {
        return files.path().relativize(file).toString();
    }

    private static long size(Body body) {
        return body.bytes().length;
    }

    private static long outboxBytes(Change.PeerIs peer) {
        return peer.unacked().stream().mapToLong(it -> size(it.body())).sum();
    }

    private String oldest(Change.PeerIs peer) {
        long millis = contents.oldestMillis(peer);
        return millis == 0 ? "-" : Instant.ofEpochMilli(millis).toString();
    }
}
