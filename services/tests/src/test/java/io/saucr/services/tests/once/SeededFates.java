package io.saucr.services.tests.once;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/**
 * Faults at moments that a seed chooses, as many as there are in the budget: every fate, and some
 * of them together with the client's death. What is held is delivered a few writes later, which are
 * those of the successor if the client was killed. Thread-safe.
 */
final class SeededFates implements Function<Request, Fate> {
    /** The most writes between two faults, and between a hold and its end. */
    private static final int MOST_WRITES_BETWEEN = 20;

    private static final int ONE_IN_KILLS = 3;
    private static final int ONE_IN_MUTES = 4;

    private final Random random;
    private final Map<Fate.Kind, Integer> happened = new EnumMap<>(Fate.Kind.class);
    private int budget;
    private int untilNext;
    private int untilRelease;
    private int kills;
    private ClientLine line;
    private WriterProcess process;

    SeededFates(long seed, int budget) {
        this.random = new Random(seed);
        this.budget = budget;
        untilNext = 1 + random.nextInt(MOST_WRITES_BETWEEN);
    }

    /** Whom the faults strike; known only after the fates are. */
    synchronized void strike(ClientLine client, WriterProcess itsProcess) {
        line = client;
        process = itsProcess;
    }

    @Override
    public synchronized Fate apply(Request request) {
        if (untilRelease > 0) {
            untilRelease--;
            if (untilRelease == 0) {
                releaseElsewhere(line);
            }
        }
        untilNext--;
        if (untilNext > 0 || budget == 0) {
            return Fate.PASS;
        }
        budget--;
        untilNext = 1 + random.nextInt(MOST_WRITES_BETWEEN);
        Fate.Kind kind = draw();
        happened.merge(kind, 1, Integer::sum);
        if (kind == Fate.Kind.HOLD) {
            untilRelease = 1 + random.nextInt(MOST_WRITES_BETWEEN);
        }
        if (kind == Fate.Kind.MUTE || random.nextInt(ONE_IN_KILLS) != 0) {
            return Fate.of(kind);
        }
        kills++;
        return Fate.of(kind).and(process::kill);
    }

    private Fate.Kind draw() {
        Fate.Kind[] kinds = Fate.Kind.values();
        Fate.Kind kind = kinds[1 + random.nextInt(kinds.length - 1)];
        // A silent line costs the client its whole patience.
        return kind == Fate.Kind.MUTE && random.nextInt(ONE_IN_MUTES) != 0
                ? Fate.Kind.CUT_AFTER
                : kind;
    }

    /** A release waits for answers, which must not wait for this request. */
    private static void releaseElsewhere(ClientLine line) {
        Thread thread = new Thread(line::release, "release");
        thread.setDaemon(true);
        thread.start();
    }

    /** How often which fault happened. */
    synchronized String summary() {
        return happened + ", kills " + kills;
    }
}
