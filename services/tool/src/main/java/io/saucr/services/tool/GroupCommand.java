package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.ensemble.GroupOrder;
import io.saucr.services.ensemble.ServicePath;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What the head of a group says, whether its members run or not. */
@Command(
        name = "group",
        description = {
            "Shows a group of services, as its head in the ensemble says: who coordinates, how many"
                    + " decisions there were, and each member with its newest version that the last"
                    + " decision left. A member with an entry under LEFT was closed or given up."
                    + " RUNS is where a member runs, or did until its session ended. Without a command it"
                    + " changes nothing.",
            "Exits with 1 if there is no such group, or the ensemble does not answer."
        },
        subcommands = {GroupGiveUpCommand.class, GroupRemoveCommand.class},
        footer = {
            "",
            "Examples:",
            "  saucr-services group --ensemble zk1:2181,zk2:2181/groups/travel",
            "  saucr-services group --ensemble zk1:2181/groups/travel --json",
            "  saucr-services group give-up hotels --ensemble zk1:2181/groups/travel"
        })
final class GroupCommand implements Callable<Integer> {

    @Mixin private GroupOption group;

    @Mixin private Output output;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        ServicePath place = group.group();
        try (GroupOrder order = new GroupOrder(place)) {
            GroupOrder.Found found = look(order, place);
            if (output.json()) {
                output.print(json(place.path(), found));
            } else {
                print(place.path(), found);
            }
            return ServicesCommand.FINE;
        } catch (IOException e) {
            throw FailureException.of(e);
        }
    }

    /** What there is; a group has to be. */
    static GroupOrder.Found look(GroupOrder order, ServicePath place)
            throws FailureException, IOException, InterruptedException {
        Optional<GroupOrder.Found> found = order.look();
        if (found.isEmpty()) {
            throw new FailureException(
                    "there is no group at "
                            + place.path()
                            + ": its first member makes it, with Protection.speculative(\""
                            + place.path()
                            + "\")");
        }
        return found.get();
    }

    private static ObjectNode json(String path, GroupOrder.Found found) {
        GroupHead head = found.head();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("group", path);
        json.put("world", head.world());
        json.put("epoch", head.epoch());
        json.put("coordinator", head.members().get(head.leader()).name());
        json.put("address", head.address());
        ArrayNode members = json.putArray("members");
        for (GroupHead.Member each : head.members()) {
            ObjectNode member = members.addObject();
            member.put("name", each.name());
            member.put("generation", each.birth().toString());
            member.put("cut", each.cut());
            each.left().ifPresent(it -> member.put("left", it));
            each.gone().ifPresent(it -> member.put("givenUp", it));
            if (!each.isGone() && found.running().containsKey(each.name())) {
                member.put("runs", found.running().get(each.name()));
            }
        }
        return json;
    }

    private void print(String path, GroupOrder.Found found) {
        GroupHead head = found.head();
        output.out()
                .printf(
                        "%s: world %d; in epoch %d %s coordinates, at %s%n%n",
                        path,
                        head.world(),
                        head.epoch(),
                        head.members().get(head.leader()).name(),
                        head.address());
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("MEMBER", "GENERATION", "CUT", "LEFT", "RUNS"));
        for (GroupHead.Member each : head.members()) {
            rows.add(
                    List.of(
                            each.name(),
                            each.birth().toString(),
                            Long.toString(each.cut()),
                            left(each),
                            each.isGone() ? "-" : found.running().getOrDefault(each.name(), "-")));
        }
        output.print(rows);
    }

    private static String left(GroupHead.Member member) {
        if (member.isGone()) {
            return "given up in world " + member.gone().getAsLong();
        }
        return member.left().isPresent() ? "at version " + member.left().getAsLong() : "-";
    }
}
