package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.GroupStatus;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code bin/saucr-services status}. */
@Command(
        name = "status",
        description = {
            "Asks running services how they are: turns, channels, what waits and for how long.",
            "Exits with 1 if a service does not answer, or if a channel of it stands still until "
                    + "somebody helps."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services status --url localhost:8085",
            "  saucr-services status --url localhost:8085,localhost:8086 --json"
        })
final class StatusCommand implements Callable<Integer> {

    @Mixin private PageOptions pages;
    @Mixin private Output output;

    @Override
    public Integer call() throws InterruptedException {
        boolean fine = true;
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        List<ServiceStatus> all = new ArrayList<>();
        for (Page page : pages.all()) {
            ObjectNode row = json.addObject();
            row.put("page", page.address().toString());
            try {
                Page.Said said = page.status();
                row.set("status", said.json());
                all.add(said.status());
                fine &= said.status().stopped().isEmpty();
            } catch (FailureException e) {
                row.put("problem", e.getMessage());
                fine = false;
                if (!output.json()) {
                    output.err().println("saucr-services: " + e.getMessage());
                }
            }
        }
        if (output.json()) {
            output.print(json);
        } else {
            print(all);
        }
        return fine ? ServicesCommand.FINE : ServicesCommand.FAILED;
    }

    private void print(List<ServiceStatus> all) {
        if (all.isEmpty()) {
            return;
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(
                List.of(
                        "SERVICE",
                        "ADDRESS",
                        "GENERATION",
                        "START",
                        "TURN",
                        "FINAL",
                        "FSYNC",
                        "UNACKED",
                        "DEAD-LETTERS",
                        "STOPPED"));
        for (ServiceStatus status : all) {
            rows.add(
                    List.of(
                            status.service(),
                            status.address(),
                            status.generation(),
                            Long.toString(status.incarnation()),
                            Long.toString(status.turn()),
                            Long.toString(status.finalTurn()),
                            status.lastFsyncMicros() + " us",
                            Long.toString(
                                    status.channels().stream()
                                            .mapToLong(ServiceStatus.Channel::unacked)
                                            .sum()),
                            Integer.toString(status.deadLetters().size()),
                            Integer.toString(status.stopped().size())));
        }
        output.print(rows);
        all.forEach(this::details);
    }

    private void details(ServiceStatus status) {
        MemberStatus member = status.member();
        // A page of an earlier release says nothing of members.
        if (member != null && !member.role().isEmpty()) {
            member(status.service(), member);
        }
        GroupStatus group = status.group();
        if (group != null && !group.group().isEmpty()) {
            group(status.service(), group);
        }
        output.print(
                "Channels of " + status.service() + ":",
                List.of(
                        "PEER",
                        "GENERATION",
                        "CONNECTED",
                        "SENT",
                        "UNACKED",
                        "OLDEST",
                        "CONSUMED",
                        "WAITING"),
                status.channels().stream()
                        .map(
                                it ->
                                        List.of(
                                                FolderReport.peer(it.peer(), it.outside()),
                                                it.generation().isEmpty() ? "-" : it.generation(),
                                                it.connected() ? "yes" : "no",
                                                Long.toString(it.sent()),
                                                Long.toString(it.unacked()),
                                                it.unacked() == 0
                                                        ? "-"
                                                        : Output.millis(it.oldestUnackedMillis()),
                                                Long.toString(it.consumed()),
                                                Integer.toString(it.waiting())))
                        .toList());
        List<List<String>> problems = new ArrayList<>();
        status.stopped()
                .forEach(
                        it ->
                                problems.add(
                                        List.of(
                                                it,
                                                "stands still: 'resume' has its next message tried"
                                                        + " again; a release that knows its type takes"
                                                        + " it, too")));
        status.waitsFor().stream()
                .filter(it -> !status.unreachable().containsKey(it))
                .forEach(it -> problems.add(List.of(it, "takes nothing at the moment")));
        for (Map.Entry<String, String> it : status.unreachable().entrySet()) {
            problems.add(List.of(it.getKey(), "cannot be reached: " + Output.line(it.getValue())));
        }
        output.print(
                "What holds " + status.service() + " up:", List.of("CHANNEL", "REASON"), problems);
        if (!status.deadLetters().isEmpty()) {
            output.out()
                    .printf(
                            "%nDead letters: %d; 'dead-letters' lists them.%n",
                            status.deadLetters().size());
        }
    }

    private void group(String service, GroupStatus group) {
        output.print(
                "Member of the group " + group.group() + ": " + service,
                List.of(
                        "WORLD",
                        "COORDINATOR",
                        "EPOCH",
                        "VERSION",
                        "FINAL",
                        "LAG",
                        "ROLLBACKS",
                        "UNDONE",
                        "MESSAGES"),
                List.of(
                        List.of(
                                Long.toString(group.world()),
                                group.coordinator(),
                                Long.toString(group.epoch()),
                                Long.toString(group.version()),
                                Long.toString(group.finalVersion()),
                                Output.millis(group.lagMillis()),
                                Long.toString(group.rollbacks()),
                                Long.toString(group.undoneTurns()),
                                group.waits().isEmpty()
                                        ? "leave at once"
                                        : "wait: " + Output.line(group.waits()))));
    }

    private void member(String service, MemberStatus member) {
        output.print(
                "Member of " + service + ":",
                List.of(
                        "MEMBER",
                        "ROLE",
                        "EPOCH",
                        "PRIMARY",
                        "SEGMENT",
                        "STORED",
                        "COPIES",
                        "FOLLOWERS",
                        "LACKS"),
                List.of(
                        List.of(
                                member.member(),
                                member.role(),
                                Long.toString(member.epoch()),
                                member.primary().isEmpty() ? "-" : member.primary(),
                                Long.toString(member.segment()),
                                Long.toString(member.stored()),
                                member.copies().isEmpty() ? "-" : member.copies(),
                                Integer.toString(member.followers().size()),
                                member.lacks().isEmpty() ? "-" : Output.line(member.lacks()))));
        if (!member.replays().isEmpty()) {
            output.out().printf("%nThis member replays with %s%n", Output.line(member.replays()));
        }
        if (!member.stopped().isEmpty()) {
            output.out().printf("%nThis member stopped: %s%n", Output.line(member.stopped()));
        }
    }
}
