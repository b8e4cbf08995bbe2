package io.saucr.services.tests.group;

import io.saucr.services.Address;
import io.saucr.services.GroupStatus;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Lines;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The process of one member of a group. Orders: {@code status}, {@code stop}. It says {@code
 * started}, what {@link Travel} says, {@code status <key>=<value>...}, and {@code stopped}.
 */
final class TravelProgram {

    private TravelProgram() {}

    /**
     * Runs until it is stopped or killed.
     *
     * @param args servers and path of the service; folder; path of the group; milliseconds between
     *     two fsyncs
     */
    public static void main(String[] args) throws Exception {
        RunningService running =
                Services.at(args[0])
                        .folder(Path.of(args[1]))
                        .listen(new Address("127.0.0.1", 0))
                        .segmentBytes(1 << 20)
                        .foldBytes(16 << 10)
                        .sessionTimeout(Duration.ofSeconds(4))
                        .onHalt(Halt.process())
                        .run(
                                state -> new Travel(state, Lines::say),
                                Protection.speculative(args[2])
                                        .every(Duration.ofMillis(Long.parseLong(args[3]))));
        Lines.say("started");
        Lines.take(
                order -> {
                    switch (order) {
                        case "status" -> status(running.status().group());
                        case "stop" -> {
                            running.close();
                            Lines.say("stopped");
                        }
                        default -> throw new IllegalArgumentException("no such order: " + order);
                    }
                });
    }

    private static void status(GroupStatus group) {
        Lines.say(
                "status world="
                        + group.world()
                        + " rollbacks="
                        + group.rollbacks()
                        + " undone="
                        + group.undoneTurns()
                        + " early="
                        + group.waits().isEmpty()
                        + " members="
                        + group.members().size());
    }
}
