package io.saucr.services.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.services.ServiceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code bin/saucr-services dead-letters}. */
@Command(
        name = "dead-letters",
        description = {
            "Lists the dead letters of running services, and why they failed. No content is shown.",
            "Exits with 1 if there is one, or if a service does not answer."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services dead-letters --url localhost:8085",
            "  saucr-services retry 3 --url localhost:8085"
        })
final class DeadLettersCommand implements Callable<Integer> {

    @Mixin private PageOptions pages;
    @Mixin private Output output;

    @Override
    public Integer call() throws InterruptedException {
        boolean none = true;
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SERVICE", "ID", "CHANNEL", "TYPE", "BYTES", "REASON"));
        for (Page page : pages.all()) {
            ObjectNode node = json.addObject();
            node.put("page", page.address().toString());
            try {
                Page.Said said = page.status();
                ServiceStatus status = said.status();
                node.put("service", status.service());
                node.set("deadLetters", said.json().path("deadLetters"));
                none &= status.deadLetters().isEmpty();
                for (ServiceStatus.DeadLetter it : status.deadLetters()) {
                    rows.add(
                            List.of(
                                    status.service(),
                                    Long.toString(it.id()),
                                    it.channel(),
                                    it.type(),
                                    Integer.toString(it.bytes()),
                                    Output.line(it.reason())));
                }
            } catch (FailureException e) {
                node.put("problem", e.getMessage());
                none = false;
                if (!output.json()) {
                    output.err().println("saucr-services: " + e.getMessage());
                }
            }
        }
        if (output.json()) {
            output.print(json);
        } else if (rows.size() > 1) {
            output.print(rows);
        } else if (none) {
            output.out().println("There are no dead letters.");
        }
        return none ? ServicesCommand.FINE : ServicesCommand.FAILED;
    }
}
