package io.saucr.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * R3, R12, R13, R23: power may be cut between any two steps of a server that obeys {@link
 * LogDurability}. Whenever the markers on its disk then say "everything is on disk", everything
 * acked is; a slow entry is acked from the disk alone; and a seal is acked only once the marker
 * tells of its view, which never goes back to an older one.
 */
class LogDurabilityPropertyTest {
    private static final int STEPS = 120;

    /** The disk, and the promises that were made. */
    private static final class Disk {
        private long forced;
        private long fastSwitch;
        private long latestOnDisk;
        private long acked;
        private long ackedSlow;
        private long ackedFastFromDisk;
        private long view;
        private long ackedSeal;

        /**
         * The marker tells of the newest seal that is on disk; seals do not overtake each other.
         */
        void markOnDisk(long covered, long lastSeal) {
            latestOnDisk = Math.max(latestOnDisk, covered);
            if (lastSeal <= covered) {
                assertThat(lastSeal).as("the marker's view").isGreaterThanOrEqualTo(view);
                view = lastSeal;
            }
        }

        void check() {
            assertThat(view).as("own view").isBetween(ackedSeal, forced);
            assertThat(ackedFastFromDisk)
                    .as("acked fast from disk, with a map that does not tell of it")
                    .isLessThanOrEqualTo(latestOnDisk);
            if (fastSwitch <= latestOnDisk) {
                assertThat(acked)
                        .as("acked, with markers that say on disk")
                        .isLessThanOrEqualTo(forced);
            }
            assertThat(ackedSlow).as("acked slow").isLessThanOrEqualTo(forced);
            assertThat(latestOnDisk).as("latest-on-disk").isLessThanOrEqualTo(forced);
        }
    }

    @Property(tries = 500)
    void neverClaimsOnDiskFalsely(@ForAll long seed) {
        Random random = new Random(seed);
        Disk disk = new Disk();
        LogDurability log = new LogDurability(Markers.none());
        long last = Zxid.NONE;
        long lastSlow = Zxid.NONE;
        long lastFast = Zxid.NONE;
        long lastSeal = Zxid.NONE;
        Mode mode = Mode.SLOW;
        // A flush by another thread that is under way: what it covers, or -1.
        long flushing = -1;
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(6)) {
                case 0, 1, 2 -> {
                    if (random.nextInt(6) == 0) {
                        mode = mode == Mode.FAST ? Mode.SLOW : Mode.FAST;
                    }
                    last++;
                    if (mode == Mode.FAST && random.nextInt(10) == 0) {
                        log.appendedFastToBeForced(last);
                        lastSlow = last;
                    } else if (mode == Mode.SLOW && random.nextInt(4) == 0) {
                        log.appendedSeal(last);
                        lastSeal = last;
                    } else {
                        log.appended(last, mode);
                    }
                    if (mode == Mode.SLOW) {
                        lastSlow = last;
                    } else {
                        lastFast = last;
                    }
                }
                case 3 -> {
                    if (log.mustForce()) {
                        disk.forced = last;
                        disk.check();
                        if (log.mustMarkOnDisk()) {
                            disk.markOnDisk(last, lastSeal);
                            log.markedOnDisk(last);
                            disk.check();
                        }
                        disk.ackedFastFromDisk = lastFast;
                    } else if (log.fastSwitchNeeded() != 0) {
                        long marker = log.fastSwitchNeeded();
                        disk.fastSwitch = marker;
                        log.markedFastSwitch(marker);
                        disk.check();
                    }
                    log.acked();
                    disk.acked = last;
                    disk.ackedSlow = lastSlow;
                    disk.ackedSeal = lastSeal;
                }
                case 4 -> flushing = flushing < 0 ? last : flushing;
                default -> {
                    if (flushing >= 0) {
                        disk.forced = Math.max(disk.forced, flushing);
                        if (log.mayMarkOnDisk(flushing, last)) {
                            disk.markOnDisk(flushing, lastSeal);
                            log.markedOnDisk(flushing);
                        }
                        flushing = -1;
                    }
                }
            }
            disk.check();
            assertThat(log.claimsOnDisk()).isEqualTo(disk.fastSwitch <= disk.latestOnDisk);
            if (random.nextInt(40) == 0) {
                // A clean start after a stop: whoever is not recovering goes on from its markers.
                Markers found = new Markers(disk.fastSwitch, disk.latestOnDisk, LleMap.empty());
                if (!found.crashedInFastMode()) {
                    log = new LogDurability(found);
                    last = disk.forced;
                    lastSlow = Math.min(lastSlow, last);
                    // What was not acked is nobody's to count on.
                    lastFast = disk.ackedFastFromDisk;
                    lastSeal = disk.view;
                    flushing = -1;
                }
            }
        }
    }
}
