package io.saucr.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.MemberChange.Known;
import io.saucr.tool.Membership.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code saucr member}: the members of an ensemble, and changes of them. */
@Command(
        name = "member",
        description = "Lists the members of the ensemble, and changes them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            MemberCommand.ListCommand.class,
            MemberCommand.AddCommand.class,
            MemberCommand.PromoteCommand.class,
            MemberCommand.RemoveCommand.class,
        })
final class MemberCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }

    /** The members. */
    @Command(
            name = "list",
            description = {
                "Lists the members, as a majority has committed them.",
                "Exits with 1 if a voter does not respond, or if no majority serves."
            })
    static final class ListCommand implements Callable<Integer> {
        @Mixin private ConnectionOptions options;
        @Mixin private Output output;

        @Override
        public Integer call() throws InterruptedException {
            Members ensemble = new Members(options.connection());
            Membership members = ensemble.now();
            Known known = ensemble.known(members);
            if (output.json()) {
                ArrayNode json = JsonNodeFactory.instance.arrayNode();
                for (Member each : members.members()) {
                    ObjectNode row = json.addObject();
                    row.put("server", each.id());
                    row.put("role", each.role());
                    row.put("peers", each.peers());
                    row.put("client", each.client());
                    if (each.voter()) {
                        row.put("responds", known.responsive().contains(each.id()));
                    }
                }
                output.print(json);
            } else {
                List<List<String>> rows = new ArrayList<>();
                rows.add(List.of("SERVER", "ROLE", "RESPONDS", "ADDRESSES", "CLIENTS"));
                for (Member each : members.members()) {
                    boolean responds = known.responsive().contains(each.id());
                    rows.add(
                            List.of(
                                    Long.toString(each.id()),
                                    each.role(),
                                    each.voter() ? (responds ? "yes" : "no") : "-",
                                    each.peers(),
                                    each.client().isEmpty() ? "-" : each.client()));
                }
                output.out().println(Output.table(rows));
            }
            return known.responsive().containsAll(members.voters())
                    ? OperatorTool.FINE
                    : OperatorTool.FAILED;
        }
    }

    /** A change of members, which begins with a look at them. */
    abstract static class Changing implements Callable<Integer> {
        @Spec private CommandSpec spec;
        @Mixin private ConnectionOptions options;

        @Option(
                names = "--allow-slow",
                description = "Makes the change even if the ensemble must then stay in slow mode.")
        private boolean allowSlow;

        private Members ensemble;

        @Override
        public Integer call() throws InterruptedException {
            ensemble = new Members(options.connection());
            check();
            String hint =
                    "saucr: stopped; each step is made as a whole or not at all: 'saucr member list'"
                            + " shows the members, and the same command continues";
            AtExit stopped = new AtExit("hint", () -> spec.commandLine().getErr().println(hint));
            try {
                return change(ensemble.now());
            } finally {
                stopped.close();
            }
        }

        /** Throws what is wrong with the arguments, before a server is queried. */
        void check() {}

        abstract int change(Membership before) throws InterruptedException;

        /** Throws the reason if the change must not be made. */
        void check(MemberChange change, Membership before) throws InterruptedException {
            Optional<String> refusal = ensemble.refusal(change, before, allowSlow);
            if (refusal.isPresent()) {
                throw new FailureException(refusal.get());
            }
        }

        Members ensemble() {
            return ensemble;
        }

        /** Whether it can be seen that a member has caught up. */
        boolean reachable(Member member) {
            return ensemble.endpoint(member).isPresent();
        }

        void say(String sentence) {
            spec.commandLine().getOut().println(sentence);
            spec.commandLine().getOut().flush();
        }

        ParameterException usage(String sentence) {
            return new ParameterException(spec.commandLine(), sentence);
        }

        /** Refuses it, or makes it. */
        Membership make(MemberChange change, Membership before) throws InterruptedException {
            if (change.isIn(before)) {
                return before;
            }
            check(change, before);
            if (change.leaving() != null
                    && before.voters().contains(change.leaving())
                    && handOver(change.leaving())) {
                check(change, before);
            }
            return ensemble.make(change, before);
        }

        /**
         * A leader that leaves hands over first: that takes less time than an election. Returns
         * whether it led, and so another one may lead now.
         */
        private boolean handOver(long leaving) throws InterruptedException {
            HandOver handOver = new HandOver(options.connection());
            Optional<ServerStatus> leader =
                    handOver.leader().filter(each -> HandOver.id(each) == leaving);
            if (leader.isPresent()) {
                try {
                    say(
                            "server %d leads now instead of server %d"
                                    .formatted(handOver.from(leader.get(), 0, null), leaving));
                } catch (FailureException e) {
                    say(
                            "server %d leads, and leaves without handing over: %s"
                                    .formatted(leaving, e.getMessage()));
                }
            }
            return leader.isPresent();
        }

        void voters(Membership now, String sentence) {
            say(sentence + "; voters: " + list(now.voters()));
        }

        private static String list(Set<Long> ids) {
            String list = ids.toString();
            return list.substring(1, list.length() - 1);
        }
    }

    /** A change at whose end a server votes. */
    abstract static class Promoting extends Changing {
        @Option(
                names = "--replace",
                paramLabel = "ID",
                description =
                        "The voter that leaves in the same moment in which the new one votes.")
        private Long replaced;

        @Option(
                names = "--wait",
                paramLabel = "TIME",
                description = "How long it may take to catch up: " + Durations.FORM + "; else 10m.")
        private String wait;

        private Duration limit;

        @Override
        void check() {
            try {
                limit = wait == null ? Duration.ofMinutes(10) : Durations.period(wait);
            } catch (IllegalArgumentException e) {
                throw usage("--wait: " + e.getMessage());
            }
        }

        /** With the voter that leaves for it, if one does. */
        MemberChange voting(Member member) {
            return new MemberChange(member, replaced);
        }

        /** Only the voter that leaves is left to do. */
        int votesAlready(long id, Membership before) throws InterruptedException {
            voters(make(voting(null), before), "server " + id + " is a voter");
            return OperatorTool.FINE;
        }

        /** Waits for an observer, and makes it a voter. */
        int promote(Member observer) throws InterruptedException {
            say("waits until server " + observer.id() + " has caught up");
            Optional<String> late = ensemble().awaitCaughtUp(observer, limit);
            if (late.isPresent()) {
                throw new FailureException(
                        ("server %d has not caught up within %s: %s; it is an observer: the same"
                                        + " command continues, 'saucr member remove %d' undoes it")
                                .formatted(
                                        observer.id(),
                                        Durations.readable(limit),
                                        late.get(),
                                        observer.id()));
            }
            voters(
                    make(voting(observer.as(true)), ensemble().now()),
                    "server %d is a voter".formatted(observer.id())
                            + (replaced == null ? "" : " in the place of server " + replaced));
            return OperatorTool.FINE;
        }
    }

    /** A new one. */
    @Command(
            name = "add",
            description = {
                "Adds a server: as an observer, and once it has caught up as a voter.",
                "Start it before, with peerType=observer and a zoo.cfg that has all members and, with",
                ":observer, itself. A command that was killed can be given again: it continues.",
                "Refuses what would lose the quorum or the fast mode."
            })
    static final class AddCommand extends Promoting {
        @Parameters(
                paramLabel = "MEMBER",
                description =
                        "server.ID=HOST:2888:3888;2181, in quotes: ports for servers, elections and"
                                + " clients.")
        private String text;

        @Option(names = "--observer", description = "It stays an observer.")
        private boolean observer;

        private Member added;

        @Override
        void check() {
            added = parsed();
            super.check();
        }

        @Override
        int change(Membership before) throws InterruptedException {
            Optional<Member> present = before.member(added.id());
            if (present.isPresent() && !present.get().peers().equals(added.peers())) {
                throw new FailureException(
                        "server %d is a member already, with the addresses %s: remove it first, or give the new server another number"
                                .formatted(added.id(), present.get().peers()));
            }
            if (present.filter(Member::voter).isPresent()) {
                return votesAlready(added.id(), before);
            }
            if (!observer) {
                // Before anything changes: what cannot end well must not begin.
                check(voting(added.as(true)), before);
            }
            make(new MemberChange(added.as(false), null), before);
            say("server " + added.id() + " is an observer");
            return observer ? OperatorTool.FINE : promote(added.as(false));
        }

        private Member parsed() {
            try {
                Member member = Member.parse(text);
                if (!reachable(member)) {
                    throw new IllegalArgumentException(
                            "'"
                                    + text
                                    + "' has no port for clients: give server.ID=HOST:2888:3888;2181,"
                                    + " in quotes, or HOST among the endpoints");
                }
                return member;
            } catch (IllegalArgumentException e) {
                throw usage(e.getMessage());
            }
        }
    }

    /** From an observer to a voter. */
    @Command(
            name = "promote",
            description = {
                "Makes an observer a voter, once it has caught up.",
                "Refuses what would lose the quorum or the fast mode."
            })
    static final class PromoteCommand extends Promoting {
        @Parameters(paramLabel = "ID", description = "The observer.")
        private long id;

        @Override
        int change(Membership before) throws InterruptedException {
            Member member =
                    before.member(id)
                            .orElseThrow(
                                    () ->
                                            new FailureException(
                                                    "server "
                                                            + id
                                                            + " is no member: bin/saucr member add adds"
                                                            + " it"));
            if (member.voter()) {
                return votesAlready(id, before);
            }
            if (!reachable(member)) {
                throw new FailureException(
                        "server %d has no port for clients in its line, so it cannot be seen whether it has caught up: give its whole line to bin/saucr member add, or its host among the endpoints"
                                .formatted(id));
            }
            return promote(member);
        }
    }

    /** Away with it. */
    @Command(
            name = "remove",
            description = {
                "Removes a member, a leader after it has handed over; stop the server afterwards.",
                "Refuses what would lose the quorum or the fast mode."
            })
    static final class RemoveCommand extends Changing {
        @Parameters(paramLabel = "ID", description = "The member.")
        private long id;

        @Override
        int change(Membership before) throws InterruptedException {
            if (before.member(id).isEmpty()) {
                voters(before, "server " + id + " is no member: there is nothing to do");
                return OperatorTool.FINE;
            }
            voters(
                    make(new MemberChange(null, id), before),
                    "server " + id + " is removed: stop it now if it runs");
            return OperatorTool.FINE;
        }
    }
}
