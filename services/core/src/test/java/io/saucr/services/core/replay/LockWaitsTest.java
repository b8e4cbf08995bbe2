package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.replay.LockWaits.Waiting;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which lane of a circle is killed. */
class LockWaitsTest {

    private static Waiting on(long request, boolean reacquires, Integer... lanes) {
        return new Waiting(Set.of(lanes), request, reacquires);
    }

    @Test
    void x11TheYoungestOfACircleIsKilled() {
        assertThat(
                        LockWaits.victim(
                                Map.of(
                                        1, on(5, false, 2),
                                        2, on(3, false, 3),
                                        3, on(4, false, 1),
                                        // Waits for the circle, and is none of it.
                                        4, on(9, false, 1))))
                .hasValue(1);
    }

    @Test
    void x11AWaitThatIsNoCircleKillsNobody() {
        assertThat(LockWaits.victim(Map.of(1, on(5, false, 2), 2, on(3, false, 3)))).isEmpty();
        assertThat(LockWaits.victim(Map.of())).isEmpty();
    }

    @Test
    void x11ALaneWhoseConditionWasSignalledHasNotItsLockYetAndIsNotKilled() {
        assertThat(LockWaits.victim(Map.of(1, on(5, true, 2), 2, on(3, false, 1)))).hasValue(2);
    }

    @Test
    void x11AReaderThatWantsToWriteWaitsForItself() {
        assertThat(LockWaits.victim(Map.of(1, on(5, false, 1, 2)))).hasValue(1);
    }
}
