package io.saucr.services.tool;

import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.ensemble.GroupOrder;
import io.saucr.services.ensemble.GroupOrder.Found;
import io.saucr.services.ensemble.ServicePath;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A group continues without a member that never comes back (D19). */
@Command(
        name = "give-up",
        description = {
            "Lets a group continue without a member that never comes back, as its disk is lost. Without"
                    + " --generation it reports what may be lost, and changes nothing.",
            "The member is refused from then on. Turns of other members that depend on turns of it which"
                    + " are not final are undone. Exits with 1 if the member runs, or there is no such"
                    + " member."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services group give-up hotels --ensemble zk1:2181/groups/travel",
            "  saucr-services group give-up hotels --ensemble zk1:2181/groups/travel \\",
            "      --generation 5c1f0a7b3d9e284639a4c1d0e5f6a7b8",
        })
final class GroupGiveUpCommand implements Callable<Integer> {

    /** A coordinator may change the head between look and order. */
    private static final int ATTEMPTS = 20;

    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "MEMBER", description = "The name of the member.")
    private String name;

    @Mixin private GroupOption group;

    @Option(
            names = "--generation",
            paramLabel = "GENERATION",
            description =
                    "Executes the command. The value must be the generation that the first call"
                            + " printed.")
    private String generation;

    @Option(
            names = "--dead",
            paramLabel = "HOST:PORT",
            description = "The process that is said to run there is dead.")
    private String dead;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        ServicePath place = group.group();
        PrintWriter out = spec.commandLine().getOut();
        try (GroupOrder order = new GroupOrder(place)) {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                Found found = GroupCommand.look(order, place);
                int index = index(found.head(), place);
                GroupHead.Member member = found.head().members().get(index);
                if (member.isGone()) {
                    isGone(member, attempt, out);
                    return ServicesCommand.FINE;
                }
                check(member, found);
                if (generation == null) {
                    report(member, found, place).forEach(out::println);
                    return ServicesCommand.FINE;
                }
                if (order.giveUp(found, index)) {
                    out.println(name + " is given up");
                    return ServicesCommand.FINE;
                }
            }
            throw new FailureException(
                    "the head of the group "
                            + place.path()
                            + " changes all the time, so "
                            + name
                            + " was not given up. Repeat the command");
        } catch (IOException e) {
            throw FailureException.of(e);
        }
    }

    private int index(GroupHead head, ServicePath place) throws FailureException {
        OptionalInt index = head.indexOf(name);
        if (index.isEmpty()) {
            List<String> names = head.members().stream().map(GroupHead.Member::name).toList();
            throw new FailureException(
                    name + " is no member of the group " + place.path() + ", which has " + names);
        }
        return index.getAsInt();
    }

    /** Nobody knows whether an earlier attempt was this order. */
    private void isGone(GroupHead.Member member, int attempt, PrintWriter out)
            throws FailureException {
        checkGeneration(member);
        out.println(
                attempt > 0
                        ? name + " is given up"
                        : name
                                + " was given up before, in world "
                                + member.gone().getAsLong()
                                + ". Nothing was changed");
    }

    private void checkGeneration(GroupHead.Member member) throws FailureException {
        if (generation != null && !generation.equals(member.birth().toString())) {
            throw new FailureException(
                    name
                            + " is generation "
                            + member.birth()
                            + ", not "
                            + generation
                            + ". Nothing was changed");
        }
    }

    private void check(GroupHead.Member member, Found found) throws FailureException {
        checkGeneration(member);
        String at = found.running().get(name);
        if (at != null && !at.equals(dead)) {
            throw new FailureException(
                    name
                            + " runs at "
                            + at
                            + ", or did until its session ended. Stop it, or repeat the command once its"
                            + " session has ended. If that process is dead: --dead "
                            + at);
        }
        if (at == null && dead != null) {
            throw new FailureException(name + " does not run at " + dead + ": leave out --dead");
        }
    }

    private List<String> report(GroupHead.Member member, Found found, ServicePath place) {
        String loss =
                member.left().isPresent()
                        ? "It left the group at version "
                                + member.left().getAsLong()
                                + ": no turn of another member is undone."
                        : "What only it has is lost. Turns of other members that depend on turns of it"
                                + " which are not final are undone.";
        List<String> others =
                found.head().members().stream()
                        .filter(
                                it ->
                                        !it.isGone()
                                                && it.left().isEmpty()
                                                && !it.name().equals(name))
                        .map(
                                it ->
                                        it.name()
                                                + (found.running().containsKey(it.name())
                                                        ? ""
                                                        : " (does not run)"))
                        .toList();
        return List.of(
                name + " of the group " + place.path() + " is generation " + member.birth() + ".",
                loss,
                "It never comes back: this folder of it is refused from then on.",
                member.left().isPresent() || others.isEmpty()
                        ? "Nobody waits for it."
                        : "The group decides once each of these runs: "
                                + String.join(", ", others)
                                + ".",
                "Nothing was changed. To execute the command: --generation " + member.birth());
    }
}
