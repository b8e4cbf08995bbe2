package io.saucr.services.tests.replay;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.MemberStatus;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Lines;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The process of one member of {@link Tickets}. Orders: {@code status}, {@code stop}. It says
 * {@code started}, {@code status <role> <linked>}, and {@code stopped}.
 */
final class TicketsProgram {

    private TicketsProgram() {}

    /**
     * Runs until it is stopped or killed.
     *
     * @param args servers and path of the service; folder; lanes
     */
    public static void main(String[] args) throws Exception {
        RunningService running =
                Services.at(args[0])
                        .folder(Path.of(args[1]))
                        .listen(new Address("127.0.0.1", 0))
                        .sessionTimeout(Duration.ofSeconds(4))
                        .onHalt(Halt.process())
                        .run(
                                Tickets::new,
                                Protection.replay(Integer.parseInt(args[2]), "tickets-1"));
        Lines.say("started");
        Lines.take(
                order -> {
                    switch (order) {
                        case "status" -> status(running.status().member());
                        case "stop" -> {
                            running.close();
                            Lines.say("stopped");
                        }
                        default -> throw new IllegalArgumentException("no such order: " + order);
                    }
                });
    }

    private static void status(MemberStatus member) {
        Lines.say("status " + member.role() + " " + member.linked());
    }
}
