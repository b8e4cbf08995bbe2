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
import picocli.CommandLine.Option;

/** What the head of a group says, whether its members run or not. */
@Command(
        name = "group",
        description = {
            "Shows a group of services, as its head in the ensemble says: who coordinates, how many"
                    + " decisions there were, and each member with its newest version that the last"
                    + " decision left. A member under LEFT was closed, and nobody waits for it."
                    + " Changes nothing.",
            "Exits with 1 if there is no such group, or the ensemble does not answer."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services group --ensemble zk1:2181,zk2:2181/groups/travel",
            "  saucr-services group --ensemble zk1:2181/groups/travel --json"
        })
final class GroupCommand implements Callable<Integer> {

    @Option(
            names = "--ensemble",
            required = true,
            paramLabel = "SERVERS/PATH",
            description = "Of the group, as in zk1:2181,zk2:2181/groups/travel.")
    private String ensemble;

    @Mixin private CredentialsOption credentials;
    @Mixin private Output output;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        ServicePath place = credentials.place(ensemble).servicePath(Optional.empty());
        try (GroupOrder order = new GroupOrder(place)) {
            Optional<GroupHead> head = order.look();
            if (head.isEmpty()) {
                throw new FailureException(
                        "there is no group at "
                                + place.path()
                                + ": its first member makes it, with Protection.speculative(\""
                                + place.path()
                                + "\")");
            }
            if (output.json()) {
                output.print(json(place.path(), head.get()));
            } else {
                print(place.path(), head.get());
            }
            return ServicesCommand.FINE;
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }

    private static ObjectNode json(String path, GroupHead head) {
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
        }
        return json;
    }

    private void print(String path, GroupHead head) {
        output.out()
                .printf(
                        "%s: world %d; in epoch %d %s coordinates, at %s%n%n",
                        path,
                        head.world(),
                        head.epoch(),
                        head.members().get(head.leader()).name(),
                        head.address());
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("MEMBER", "GENERATION", "CUT", "LEFT"));
        for (GroupHead.Member each : head.members()) {
            rows.add(
                    List.of(
                            each.name(),
                            each.birth().toString(),
                            Long.toString(each.cut()),
                            each.left().isPresent()
                                    ? "at version " + each.left().getAsLong()
                                    : "-"));
        }
        output.print(rows);
    }
}
