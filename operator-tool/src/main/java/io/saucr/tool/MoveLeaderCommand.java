package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code saucr move-leader}: another server leads, with a shorter pause than after a kill. */
@Command(
        name = "move-leader",
        description = {
            "Lets another server lead, for example before maintenance of the leader's machine.",
            "The leader stops proposing until everything is committed and the next one has it, names",
            "it to the voters, and leaves. If that takes more than a second, it stays leader.",
            "Exits with 1 if it stays leader, or if another server than TO was elected."
        })
final class MoveLeaderCommand implements Callable<Integer> {
    @Mixin private ConnectionOptions options;
    @Mixin private Output output;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "TO",
            description = "The number of the server that is to lead. Default: one that can.")
    private Long to;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "REASON",
            description = "For the leader's log; by default the user that runs this tool.")
    private String reason;

    @Override
    public Integer call() throws InterruptedException {
        HandOver handOver = new HandOver(options.connection());
        ServerStatus leader =
                handOver.leader()
                        .orElseThrow(
                                () ->
                                        new FailureException(
                                                "none of the endpoints leads: name all servers"
                                                        + " (--endpoints)"));
        long from = HandOver.id(leader);
        if (to != null && to == from) {
            return say(from, from, 0);
        }
        long begin = System.nanoTime();
        long leads = handOver.from(leader, to == null ? 0 : to, reason);
        return say(from, leads, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }

    private int say(long from, long leads, long millis) {
        if (output.json()) {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.put("from", from);
            json.put("leads", leads);
            json.put("millis", millis);
            output.print(json);
        } else {
            output.out().println("server " + leads + " leads");
        }
        if (to == null ? leads == from : leads != to) {
            output.err().println("saucr: server " + leads + " was elected instead; try again");
            return OperatorTool.FAILED;
        }
        return OperatorTool.FINE;
    }
}
