package io.saucr.services.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * C2, C4, C14, C16: every call to the disk fails once, and then the process or the machine does.
 */
class MemberCrashTest {

    private static final int STEPS = 24;

    /** When the power fails. */
    private enum Cut {
        NEVER,
        EACH_TIME,
        /** When the next process has read what the page cache shows after the failure. */
        AFTER_THE_NEXT,
    }

    private static int calls(long seed) {
        MemberLives lives = new MemberLives(seed);
        lives.disk.failAt(Long.MAX_VALUE);
        lives.live(STEPS);
        return lives.disk.calls().size();
    }

    @Test
    void whateverFails() {
        int died = 0;
        int drops = 0;
        int bases = 0;
        int received = 0;
        for (int seed = 1; seed <= 1; seed++) {
            int calls = calls(seed);
            assertThat(calls).isGreaterThan(50);
            for (int call = 1; call <= calls; call++) {
                for (Cut cut : Cut.values()) {
                    MemberLives lives = new MemberLives(seed * 1000L + call);
                    try {
                        lives.live(10);
                        lives.disk.restarted();
                        lives.disk.failAt(call);
                        lives.live(STEPS);
                        died += lives.diedOfTheDisk ? 1 : 0;
                        for (int more = 0; more < 3; more++) {
                            if (cut == Cut.EACH_TIME || (cut == Cut.AFTER_THE_NEXT && more == 1)) {
                                lives.powerFails();
                            } else {
                                lives.disk.restarted();
                            }
                            // The second of these dies, too, perhaps while it opens the folder.
                            boolean fails = more == 1 && cut != Cut.AFTER_THE_NEXT;
                            lives.disk.failAt(fails ? call % 40 + 1 : Long.MAX_VALUE);
                            lives.live(cut == Cut.AFTER_THE_NEXT ? 4 : 10);
                        }
                    } catch (AssertionError e) {
                        throw new AssertionError(
                                "seed " + seed + ", call " + call + ", power " + cut + ": " + e, e);
                    }
                    drops += lives.drops;
                    bases += lives.bases;
                    received += lives.received;
                }
            }
        }
        assertThat(died).isGreaterThan(100);
        assertThat(drops).isGreaterThan(100);
        assertThat(bases).isGreaterThan(100);
        assertThat(received).isGreaterThan(100);
    }

    /** Whether lives between power cuts show it when a call does nothing. */
    private static boolean isNoticed(String ignored) {
        for (int seed = 1; seed <= 50; seed++) {
            MemberLives lives = new MemberLives(seed);
            lives.disk.ignore(ignored);
            try {
                for (int life = 0; life < 4; life++) {
                    lives.live(25);
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
