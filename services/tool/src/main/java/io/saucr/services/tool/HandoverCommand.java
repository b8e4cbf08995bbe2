package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceStatus;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Hands the primary's role to another member, for example before a restart. */
@Command(
        name = "handover",
        description = {
            "Hands the primary's role of a service with standbys to another member, for example"
                    + " before a restart, and waits until a member is primary. No request is lost"
                    + " or repeated. Give the page of the primary. Exits with 1 if its member is"
                    + " not primary, if no standby is ready, or if no member becomes primary in"
                    + " time."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services handover --url localhost:8085",
            "  saucr-services handover --to 0123456789abcdef --url localhost:8085"
        })
final class HandoverCommand implements Callable<Integer> {

    /** Time between two queries whether a member is primary. */
    private static final Duration LOOK = Duration.ofMillis(20);

    /** How long a member may take to become primary, once the role was handed over. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Option(
            names = "--to",
            paramLabel = "MEMBER",
            description = "The member that is to take over, 16 hexadecimal digits; else any.")
    private String to;

    @Mixin private PageOptions pages;
    @Mixin private Output output;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        Page page = pages.one();
        ServiceStatus status = page.status().status();
        check(status);
        long begun = System.nanoTime();
        page.order("handover", to == null ? Map.of() : Map.of("member", to));
        MemberStatus now = successor(page, status.member());
        checkSuccessor(status.member().member(), now);
        long millis = Duration.ofNanos(System.nanoTime() - begun).toMillis();
        if (output.json()) {
            output.print(
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("page", page.address().toString())
                            .put("service", status.service())
                            .put("from", status.member().member())
                            .put("to", now.primary())
                            .put("at", now.primaryAt())
                            .put("epoch", now.epoch())
                            .put("millis", millis));
        } else {
            output.out()
                    .println(
                            "member %s of %s, at %s, is primary in epoch %s, %s after the order"
                                    .formatted(
                                            now.primary(),
                                            status.service(),
                                            now.primaryAt(),
                                            now.epoch(),
                                            Output.millis(millis)));
        }
        return ServicesCommand.FINE;
    }

    /** The role may have gone to another member than the one that was meant to take it. */
    private void checkSuccessor(String before, MemberStatus now) throws FailureException {
        boolean asAsked = to == null ? !now.primary().equals(before) : now.primary().equals(to);
        if (!asAsked) {
            throw new FailureException(
                    "the successor did not come: member "
                            + now.primary()
                            + ", at "
                            + now.primaryAt()
                            + ", is primary "
                            + (now.primary().equals(before) ? "again " : "")
                            + "in epoch "
                            + now.epoch());
        }
    }

    /** Before anything is held up. */
    private void check(ServiceStatus status) throws FailureException {
        MemberStatus member = status.member();
        // A page of an earlier release says nothing of members.
        if (member == null || member.role().isEmpty()) {
            throw new FailureException(
                    status.service()
                            + " has no standbys that could take over. Nothing was"
                            + " changed");
        }
        if (!member.role().equals("primary")) {
            throw new FailureException(
                    "this is the page of member "
                            + member.member()
                            + " of "
                            + status.service()
                            + ", which is not primary. "
                            + (member.primary().isEmpty() || !member.linked()
                                    ? "Nobody is, as far as it knows"
                                            + (member.lacks().isEmpty()
                                                    ? ""
                                                    : "; to take over it lacks "
                                                            + Output.line(member.lacks()))
                                    : "Member "
                                            + member.primary()
                                            + " is, whose process members reach at "
                                            + member.primaryAt()
                                            + ": run the command with its page")
                            + ". Nothing was changed");
        }
        TreeSet<String> there = new TreeSet<>(member.followers().keySet());
        if (there.isEmpty()) {
            throw new FailureException(
                    "no standby of "
                            + status.service()
                            + " is there to take over. Nothing was changed");
        }
        if (to != null && !there.contains(to)) {
            throw new FailureException(
                    (to.equals(member.member())
                                    ? "member " + to + " is primary already"
                                    : "no standby " + to + " of " + status.service() + " is there")
                            + ". These are: "
                            + String.join(", ", there)
                            + ". Nothing was changed");
        }
    }

    /** The status of the former primary, once it names a primary of a later epoch. */
    private static MemberStatus successor(Page page, MemberStatus before)
            throws FailureException, InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            MemberStatus now = page.status().status().member();
            // Its own epoch ended with the order; a later one may be its own, too, where none came.
            if (now != null && now.epoch() > before.epoch()) {
                return now;
            }
            if (System.nanoTime() - until > 0) {
                throw new FailureException(
                        "the primary's role was handed over, and within "
                                + Output.millis(PATIENCE.toMillis())
                                + " nobody took it: look at the members' status");
            }
            Thread.sleep(LOOK.toMillis());
        }
    }
}
