package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.replay.ReplayExplorer.Found;
import io.saucr.services.core.replay.ReplayWorld.Size;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every way through small worlds: every schedule, every cut, every crash. */
class ReplayModelTest {

    /**
     * Parses a size: members, lanes, crashes, primaries that are replaced, quiet cuts, other cuts,
     * and a handler for each channel. A line of a handler is its first letters and a resource.
     */
    static Size size(String numbers, String handlers) {
        String[] each = numbers.split(" ");
        List<List<List<Op>>> channels = new ArrayList<>();
        for (String channel : handlers.split(";")) {
            List<List<Op>> requests = new ArrayList<>();
            for (String request : channel.split("/")) {
                requests.add(lines(request.strip()));
            }
            channels.add(requests);
        }
        return new Size(
                Integer.parseInt(each[0]),
                Integer.parseInt(each[1]),
                channels,
                Integer.parseInt(each[2]),
                Integer.parseInt(each[3]),
                Integer.parseInt(each[4]),
                Integer.parseInt(each[5]));
    }

    private static List<Op> lines(String request) {
        List<Op> lines = new ArrayList<>();
        for (String line : request.split(" ")) {
            int at = line.charAt(line.length() - 1) - '0';
            lines.add(
                    switch (line.substring(0, line.length() - 1)) {
                        case "lock" -> Op.of(Op.Kind.LOCK, at);
                        case "unlock" -> Op.of(Op.Kind.UNLOCK, at);
                        case "rlock" -> Op.of(Op.Kind.READ_LOCK, at);
                        case "runlock" -> Op.of(Op.Kind.READ_UNLOCK, at);
                        case "read" -> Op.of(Op.Kind.READ, at);
                        case "write" -> Op.of(Op.Kind.WRITE, at);
                        case "call" -> Op.of(Op.Kind.CALL, at);
                        case "try" -> new Op(Op.Kind.TRY, at, 2);
                        case "await" -> Op.of(Op.Kind.AWAIT, at);
                        case "awaits" -> Op.of(Op.Kind.AWAIT_TIMED, at);
                        case "signal" -> Op.of(Op.Kind.SIGNAL, at);
                        case "throw" -> Op.of(Op.Kind.THROW);
                        case "poison" -> Op.of(Op.Kind.POISON);
                        default -> throw new IllegalArgumentException(line);
                    });
        }
        return lines;
    }

    private static Found explore(String numbers, String handlers, Broken broken, int most) {
        return new ReplayExplorer(size(numbers, handlers), broken, most).explore();
    }

    /** Two members, or lanes, and three; a crash, or a takeover, at every point. */
    @ParameterizedTest
    @CsvSource({
        // A lock, two in the other order, a condition, a quiet cut, a message that kills.
        "2 2 1 0 0 2, lock0 write0 unlock0; lock0 write0 unlock0",
        "2 2 0 0 0 3, lock0 lock1 unlock1 unlock0; lock1 lock0 unlock0 unlock1",
        "2 2 0 1 0 2, lock0 await0 unlock0; lock0 signal0 unlock0",
        "2 2 0 0 1 3, call4 / call4; call4",
        "2 2 0 0 0 3, lock0 poison0 unlock0; call4",
        "2 3 0 0 0 1, call4; call4; call5",
    })
    void everyWayLeadsToOneState(String numbers, String handlers) {
        leadsToOneState(numbers, handlers);
    }

    /** More of it; {@link ReplayModelCampaign} explores any size. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({
        "2 2 0 1 0 2, try0 write0 unlock0; lock0 write0 unlock0",
        "2 2 0 1 0 2, rlock3 read3 runlock3; lock3 write3 unlock3",
        "3 2 0 1 0 1, call4; call4",
    })
    void everyWayLeadsToOneStateInLargerWorlds(String numbers, String handlers) {
        leadsToOneState(numbers, handlers);
    }

    private static void leadsToOneState(String numbers, String handlers) {
        Found found = explore(numbers, handlers, Broken.NOTHING, 1_000_000);
        assertThat(found.violation()).as(found.path().toString()).isNull();
        assertThat(found.atRest()).isPositive();
    }

    /** The signal is in the trace, and the wake-up is not. */
    @Test
    void x9AWaiterThatIsNotWokenIsMissed() {
        Found found =
                explore(
                        "2 2 0 1 0 3",
                        "lock0 await0 unlock0; lock0 signal0 unlock0",
                        Broken.X9_WAITER_NOT_WOKEN,
                        1_000_000);
        assertThat(found.violation()).isNotNull().isNotEqualTo(ReplayExplorer.MORE_STATES);
    }
}
