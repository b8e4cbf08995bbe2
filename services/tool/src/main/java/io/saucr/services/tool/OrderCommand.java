package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.ServiceStatus;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Orders to one running service, by its status page. What an order is about is looked up first, so
 * that nothing is changed where one of the names or numbers is wrong. Done means final (K4).
 */
abstract class OrderCommand implements Callable<Integer> {

    @Mixin private PageOptions pages;
    @Mixin private Output output;

    /** What is given to the service, and how it is told to programs and to people. */
    private record Order(Map<String, String> parameters, ObjectNode json, String done) {}

    private final String name;

    private OrderCommand(String name) {
        this.name = name;
    }

    /**
     * The orders to give.
     *
     * @throws FailureException where one of them makes no sense now; says which ones do
     */
    abstract List<Order> orders(ServiceStatus status) throws FailureException;

    private static ObjectNode node() {
        return JsonNodeFactory.instance.objectNode();
    }

    @Override
    public Integer call() throws FailureException, InterruptedException {
        Page page = pages.one();
        ServiceStatus status = page.status().status();
        ObjectNode json = node();
        json.put("page", page.address().toString()).put("service", status.service());
        ArrayNode done = json.putArray(name);
        try {
            for (Order order : orders(status)) {
                page.order(name, order.parameters());
                if (output.json()) {
                    done.add(order.json());
                } else {
                    output.out().println(order.done());
                    output.out().flush();
                }
            }
        } catch (FailureException e) {
            if (!output.json()) {
                throw e;
            }
            json.put("problem", e.getMessage());
            output.print(json);
            return ServicesCommand.FAILED;
        }
        if (output.json()) {
            output.print(json);
        }
        return ServicesCommand.FINE;
    }

    /** About dead letters. */
    abstract static class OfDeadLetters extends OrderCommand {

        @ArgGroup(multiplicity = "1")
        private Which which;

        private final String done;

        /** These, or all. */
        static final class Which {

            @Parameters(
                    arity = "1..*",
                    paramLabel = "ID",
                    description = "Of dead letters, as 'dead-letters' lists them.")
            private List<Long> ids = List.of();

            @Option(names = "--all", description = "All dead letters.")
            private boolean all;
        }

        OfDeadLetters(String name, String done) {
            super(name);
            this.done = done;
        }

        @Override
        List<Order> orders(ServiceStatus status) throws FailureException {
            Set<Long> there = new LinkedHashSet<>();
            status.deadLetters().forEach(it -> there.add(it.id()));
            Set<Long> wanted = which.all ? there : new LinkedHashSet<>(which.ids);
            for (long id : wanted) {
                if (!there.contains(id)) {
                    throw new FailureException(
                            "no dead letter has the id %s at %s. %s Nothing was changed"
                                    .formatted(id, status.service(), known(status)));
                }
            }
            if (wanted.isEmpty()) {
                throw new FailureException("there are no dead letters at " + status.service());
            }
            List<Order> orders = new ArrayList<>();
            for (ServiceStatus.DeadLetter it : status.deadLetters()) {
                if (wanted.contains(it.id())) {
                    orders.add(
                            new Order(
                                    Map.of("message", Long.toString(it.id())),
                                    node().put("id", it.id()).put("type", it.type()),
                                    it.id() + ", " + it.type() + " of " + it.channel() + done));
                }
            }
            return orders;
        }

        private static String known(ServiceStatus status) {
            return status.deadLetters().isEmpty()
                    ? "Nothing else is, either."
                    : "These are: "
                            + status.deadLetters().stream()
                                    .map(it -> it.id() + " (" + it.type() + ")")
                                    .collect(Collectors.joining(", "))
                            + ".";
        }
    }

    /** Once more. */
    @Command(
            name = "retry",
            description = {
                "Retries dead letters, as messages of the service to itself: they were returned"
                        + " to their senders. What fails again becomes a dead letter again, under"
                        + " another id. Exits with 1 if there is no such message."
            },
            footer = {
                "",
                "Examples:",
                "  saucr-services retry 3 4 --url localhost:8085",
                "  saucr-services retry --all --url localhost:8085"
            })
    static final class Retry extends OfDeadLetters {
        Retry() {
            super("retry", ": is retried");
        }
    }

    /** No more. */
    @Command(
            name = "discard",
            description = {"Deletes dead letters.", "Exits with 1 if there is no such message."},
            footer = {
                "",
                "Examples:",
                "  saucr-services discard 3 --url localhost:8085",
                "  saucr-services discard --all --url localhost:8085"
            })
    static final class Discard extends OfDeadLetters {
        Discard() {
            super("discard", ": was deleted");
        }
    }

    /** Never again. */
    @Command(
            name = "declare-lost",
            description = {
                "Declares a generation of a peer lost: messages that it has not acknowledged return to"
                        + " the service's handlers, \"perhaps consumed\", and none of them goes to a"
                        + " successor of the same name. This cannot be undone. Exits with 1 if the"
                        + " service has no such peer, or if the peer is connected."
            },
            footer = {
                "",
                "Example:",
                "  saucr-services declare-lost shop 0123456789abcdef0123456789abcdef --url localhost:8085"
            })
    static final class DeclareLost extends OrderCommand {

        @Parameters(index = "0", paramLabel = "PEER", description = "The name of a service.")
        private String peer;

        @Parameters(
                index = "1",
                paramLabel = "GENERATION",
                description = "Its generation, 32 hexadecimal digits, as 'status' shows it.")
        private String generation;

        @Option(names = "--force", description = "Also if the peer is connected.")
        private boolean force;

        DeclareLost() {
            super("declare-lost");
        }

        @Override
        List<Order> orders(ServiceStatus status) throws FailureException {
            List<ServiceStatus.Channel> met =
                    status.channels().stream()
                            .filter(it -> !it.outside() && !it.generation().isEmpty())
                            .toList();
            ServiceStatus.Channel channel =
                    met.stream()
                            .filter(
                                    it ->
                                            it.peer().equals(peer)
                                                    && it.generation().equals(generation))
                            .findAny()
                            .orElse(null);
            if (channel == null) {
                throw new FailureException(
                        status.service()
                                + " has met no service "
                                + peer
                                + " of generation "
                                + generation
                                + (met.isEmpty() ? ", and no other one." : ". It has met:")
                                + met.stream()
                                        .map(it -> " " + it.peer() + " " + it.generation())
                                        .collect(Collectors.joining(","))
                                + " Nothing was changed. What waits for a name that was never met"
                                + " comes back by 'return-undelivered'");
            }
            if (channel.connected() && !force) {
                throw new FailureException(
                        peer
                                + " is connected, so it is not lost: --force declares it lost all the same. Nothing was changed");
            }
            long unacked = channel.unacked();
            return List.of(
                    new Order(
                            Map.of("service", peer, "generation", generation),
                            node().put("peer", peer)
                                    .put("generation", generation)
                                    .put("unacked", unacked),
                            peer
                                    + " of generation "
                                    + generation
                                    + " is declared lost; messages that return to "
                                    + status.service()
                                    + ": "
                                    + unacked));
        }
    }

    /** Not at all. */
    @Command(
            name = "return-undelivered",
            description = {
                "Returns messages that wait for a name under which the service has met no peer, such"
                        + " as a misspelt one: to the service's handlers, as certainly not consumed. Exits with 1 if nothing waits for that name, or somebody has it."
            },
            footer = {
                "",
                "Example:",
                "  saucr-services return-undelivered shpo --url localhost:8085"
            })
    static final class ReturnUndelivered extends OrderCommand {

        @Parameters(paramLabel = "PEER", description = "The name.")
        private String peer;

        ReturnUndelivered() {
            super("return-undelivered");
        }

        @Override
        List<Order> orders(ServiceStatus status) throws FailureException {
            List<ServiceStatus.Channel> unmet =
                    status.channels().stream()
                            .filter(it -> !it.outside() && it.generation().isEmpty())
                            .filter(it -> it.unacked() > 0)
                            .filter(it -> !it.peer().equals(status.service()))
                            .toList();
            ServiceStatus.Channel channel =
                    unmet.stream().filter(it -> it.peer().equals(peer)).findAny().orElse(null);
            if (channel == null) {
                throw new FailureException(
                        "nothing of "
                                + status.service()
                                + " waits for a name "
                                + peer
                                + " that it has not met"
                                + (unmet.isEmpty() ? ", nor for another one." : ". These wait:")
                                + unmet.stream()
                                        .map(it -> " " + it.peer())
                                        .collect(Collectors.joining(","))
                                + " Nothing was changed");
            }
            return List.of(
                    new Order(
                            Map.of("service", peer),
                            node().put("service", peer).put("returned", channel.unacked()),
                            "messages for %s that come back to %s: %s"
                                    .formatted(peer, status.service(), channel.unacked())));
        }
    }

    /** Onwards. */
    @Command(
            name = "resume",
            description = {
                "Lets a channel continue that waits for a person, as the service keeps no"
                        + " dead letters: its first message is retried. Exits with 1 if no channel of that name waits."
            },
            footer = {"", "Example:", "  saucr-services resume shop --url localhost:8085"})
    static final class Resume extends OrderCommand {

        @Parameters(
                paramLabel = "CHANNEL",
                description = "As 'status' names it below 'What holds ... up'.")
        private String channel;

        Resume() {
            super("resume");
        }

        @Override
        List<Order> orders(ServiceStatus status) throws FailureException {
            if (!status.stopped().contains(channel)) {
                throw new FailureException(
                        "no channel "
                                + channel
                                + " of "
                                + status.service()
                                + " waits for a person"
                                + (status.stopped().isEmpty()
                                        ? ", and no other one"
                                        : "; these do: " + String.join(", ", status.stopped()))
                                + ". Nothing was changed");
            }
            return List.of(
                    new Order(
                            Map.of("channel", channel),
                            node().put("channel", channel),
                            channel + ": its next message is tried"));
        }
    }
}
