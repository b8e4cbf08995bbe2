package io.saucr.services.core;

import java.util.List;

/** Seeded runs of simulated worlds: the search for a broken rule, and campaigns. Stateless. */
public final class Seeds {

    private static final int EACH_SHOWN = 20_000;

    private Seeds() {}

    /** One run. */
    public interface Run {

        /** What must not be, and was; empty where all is well. */
        List<String> violations(long seed);
    }

    /** Runs that say what they did. */
    public interface Campaign extends Run {

        /** The same run, with all that happened. */
        String trace(long seed);

        /** What all runs did so far. */
        String counts();
    }

    /**
     * Runs a world with a broken rule until that is noticed: something is violated, or what decides
     * refuses to continue.
     *
     * @param runs how many at most
     * @throws AssertionError where none of them notices
     */
    public static void assertNoticed(int runs, Run run) {
        for (long seed = 0; seed < runs; seed++) {
            try {
                if (!run.violations(seed).isEmpty()) {
                    return;
                }
            } catch (IllegalStateException | IllegalArgumentException | NullPointerException e) {
                return;
            }
        }
        throw new AssertionError("nobody noticed in " + runs + " runs");
    }

    /**
     * Many runs; shows what they did, and ends the process with 1 at the first violation.
     *
     * @param runs how many
     * @param first the first seed
     */
    public static void campaign(long runs, long first, Campaign campaign) {
        long begun = System.nanoTime();
        for (long seed = first; seed < first + runs; seed++) {
            List<String> violations = violations(campaign, seed);
            if (!violations.isEmpty()) {
                System.out.printf("%s%nseed %d: %s%n", campaign.trace(seed), seed, violations);
                System.exit(1);
            }
            long done = seed - first + 1;
            if (done % EACH_SHOWN == 0 || done == runs) {
                System.out.printf(
                        "%,d runs in %d s: %s; no violation%n",
                        done, (System.nanoTime() - begun) / 1_000_000_000, campaign.counts());
            }
        }
    }

    private static List<String> violations(Campaign campaign, long seed) {
        try {
            return campaign.violations(seed);
        } catch (RuntimeException e) {
            return List.of(e.toString());
        }
    }
}
