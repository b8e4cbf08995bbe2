package io.saucr.services.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** K8, K9, K10: every call to the disk fails once, and then the process or the machine does. */
class EveryFailureTest {

    private static final int APPENDS = 28;

    /** When the power fails. */
    private enum Cut {
        NEVER,
        EACH_TIME,
        /** When the next process has read what the page cache shows after the failure. */
        AFTER_THE_NEXT,
    }

    private static long calls(ForceMode force, int appends) {
        Lives lives = new Lives(1, force);
        lives.disk.failAt(Long.MAX_VALUE);
        lives.live(appends);
        return lives.disk.calls().size();
    }

    private static void everyCallFails(ForceMode force, int step) {
        long calls = calls(force, APPENDS);
        assertThat(calls).isGreaterThan(50);
        int died = 0;
        for (long call = 1; call <= calls; call += step) {
            for (Cut cut : Cut.values()) {
                Lives lives = new Lives(call, force);
                lives.live(8);
                lives.disk.restarted();
                lives.disk.failAt(call);
                lives.live(APPENDS);
                died += lives.diedOfTheDisk ? 1 : 0;
                for (int more = 0; more < 3; more++) {
                    if (cut == Cut.EACH_TIME || (cut == Cut.AFTER_THE_NEXT && more == 1)) {
                        lives.powerFails();
                    } else {
                        lives.disk.restarted();
                    }
                    // The second of these processes dies, too, perhaps in its recovery.
                    boolean fails = more == 1 && cut != Cut.AFTER_THE_NEXT;
                    lives.disk.failAt(fails ? call % 40 + 1 : Long.MAX_VALUE);
                    lives.live(cut == Cut.AFTER_THE_NEXT ? 2 : 10);
                }
            }
        }
        assertThat(died).isGreaterThan((int) calls / step);
    }

    @Test
    void whenEachTurnIsForced() {
        everyCallFails(ForceMode.always(), 1);
    }

    @Test
    void whenTurnsAreForcedInGroups() {
        everyCallFails(ForceMode.group(Duration.ofMillis(1)), 7);
    }

    @Test
    void whenTheSystemForces() {
        everyCallFails(ForceMode.os(), 3);
    }

    /** Whether lives between power cuts show it when a call does nothing. */
    private static boolean isNoticed(String ignored) {
        for (int seed = 1; seed <= 50; seed++) {
            Lives lives = new Lives(seed, ForceMode.always());
            lives.disk.ignore(ignored);
            try {
                for (int life = 0; life < 4; life++) {
                    lives.live(20);
                    lives.powerFails();
                }
            } catch (AssertionError e) {
                return true;
            }
        }
        return false;
    }

    @Test
    void aForceThatIsLeftOutIsNoticed() {
        assertThat(isNoticed("none")).isFalse();
        assertThat(isNoticed("force")).isTrue();
        assertThat(isNoticed("forceFolder")).isTrue();
    }
}
