package io.saucr.services.journal;

import java.time.Duration;
import java.util.List;
import java.util.Random;

/**
 * Random lives of journals on a disk that fails, for as many runs as asked for. Arguments: the
 * number of runs, and the seed of the first. Ends with the seed of the first run that goes wrong;
 * the threads' timing is not a part of it.
 */
final class JournalCampaign {

    private static final int LIVES = 8;
    private static final List<ForceMode> MODES =
            List.of(ForceMode.always(), ForceMode.group(Duration.ofNanos(100_000)), ForceMode.os());

    private JournalCampaign() {}

    public static void main(String[] args) {
        long runs = args.length > 0 ? Long.parseLong(args[0]) : 10_000;
        long firstSeed = args.length > 1 ? Long.parseLong(args[1]) : 1;
        long died = 0;
        for (long seed = firstSeed; seed < firstSeed + runs; seed++) {
            try {
                died += run(seed);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
        System.out.println(
                runs + " runs of " + LIVES + " processes, " + died + " of which died of the disk");
    }

    /** How many processes died of the disk. */
    static int run(long seed) {
        Random random = new Random(seed);
        Lives lives = new Lives(seed, MODES.get(random.nextInt(MODES.size())));
        int died = 0;
        for (int life = 0; life < LIVES; life++) {
            lives.disk.failAt(random.nextInt(4) == 0 ? Long.MAX_VALUE : 1 + random.nextInt(150));
            lives.live(random.nextInt(3) == 0 ? random.nextInt(3) : random.nextInt(60));
            died += lives.diedOfTheDisk ? 1 : 0;
            if (random.nextBoolean()) {
                lives.powerFails();
            } else {
                lives.disk.restarted();
            }
        }
        return died;
    }
}
