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

/** {@code bin/saucr-services parked}. */
@Command(
        name = "parked",
        description = {
            "Lists the messages that running services put aside, and why. No content is shown.",
            "Exits with 1 if there is one, or if a service does not answer."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services parked --url localhost:8085",
            "  saucr-services retry 3 --url localhost:8085"
        })
final class ParkedCommand implements Callable<Integer> {

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
                node.set("parked", said.json().path("parked"));
                none &= status.parked().isEmpty();
                for (ServiceStatus.Parked it : status.parked()) {
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
            output.out().println("Nothing is put aside.");
        }
        return none ? ServicesCommand.FINE : ServicesCommand.FAILED;
    }
}
