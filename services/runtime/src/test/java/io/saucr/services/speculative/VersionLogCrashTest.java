package io.saucr.services.speculative;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** K9, D10: a member's folder through processes that die at each call to the disk. */
class VersionLogCrashTest {

    private static final int STEPS = 40;

    /** When the power fails. */
    private enum Cut {
        NEVER,
        EACH_TIME,
        /** When the next process has read what the page cache shows after the failure. */
        AFTER_THE_NEXT
    }

    private static int calls(long seed) {
        MemberLives lives = new MemberLives(seed);
        lives.live(12);
        lives.disk.restarted();
        lives.disk.failAt(Long.MAX_VALUE);
        lives.live(STEPS);
        return lives.disk.calls().size();
    }

    @Test
    void whateverCallToTheDiskFails() {
        int died = 0;
        int drops = 0;
        int leaves = 0;
        int folds = 0;
        int notes = 0;
        for (int call = 1; call <= 150; call++) {
            for (Cut cut : Cut.values()) {
                MemberLives lives = new MemberLives(call);
                lives.live(12);
                lives.disk.restarted();
                lives.disk.failAt(call);
                lives.live(STEPS);
                died += lives.diedOfTheDisk ? 1 : 0;
                for (int more = 0; more < 4; more++) {
                    if (cut == Cut.EACH_TIME || (cut == Cut.AFTER_THE_NEXT && more == 1)) {
                        lives.disk.powerFails();
                    } else {
                        lives.disk.restarted();
                    }
                    boolean fails = more == 1 && cut != Cut.AFTER_THE_NEXT;
                    lives.disk.failAt(fails ? call % 40 + 1 : Long.MAX_VALUE);
                    lives.live(cut == Cut.AFTER_THE_NEXT ? 3 : 12);
                }
                drops += lives.drops;
                leaves += lives.leaves;
                folds += lives.folds;
                notes += lives.notes;
            }
        }
        assertThat(calls(1)).isGreaterThan(50);
        assertThat(died).isGreaterThan(150);
        assertThat(drops).isGreaterThan(150);
        assertThat(leaves).isGreaterThan(30);
        assertThat(folds).isGreaterThan(150);
        assertThat(notes).isGreaterThan(150);
    }

    /** Whether lives between power cuts show it when a call does nothing. */
    private static boolean isNoticed(String ignored) {
        for (int seed = 1; seed <= 50; seed++) {
            MemberLives lives = new MemberLives(seed);
            lives.disk.ignore(ignored);
            try {
                for (int life = 0; life < 5; life++) {
                    lives.live(20);
                    lives.disk.powerFails();
                }
            } catch (AssertionError e) {
                return true;
            }
        }
        return false;
    }

    @Test
    void anFsyncThatIsLeftOutIsNoticed() {
        assertThat(isNoticed("none")).isFalse();
        assertThat(isNoticed("force")).isTrue();
        assertThat(isNoticed("forceFolder")).isTrue();
    }
}
