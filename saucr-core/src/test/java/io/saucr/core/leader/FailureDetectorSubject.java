package io.saucr.core.leader;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import java.util.List;

/** Heartbeats and suspicion; times are milliseconds in the scenario. */
public final class FailureDetectorSubject implements ScenarioSubject {
    private static final long MILLI = 1_000_000;
    private FailureDetector detector;

    @Override
    public List<String> answer(ScenarioInput in) {
        long heard = in.number("heard", 0) * MILLI;
        long now = in.number("now", 0) * MILLI;
        switch (in.command()) {
            case "new":
                detector =
                        new FailureDetector(
                                in.number("interval", 50) * MILLI,
                                in.number("tolerance", 20) * MILLI);
                return List.of();
            case "ackBound":
                return List.of(Long.toString(detector.ackBoundNanos() / MILLI));
            case "ping":
                {
                    long sent = in.number("sent", 0) * MILLI;
                    long pinged = in.number("pinged", 0) * MILLI;
                    long after = detector.pingAfterNanos(in.number("answers", 0) * MILLI);
                    return List.of(
                            (FailureDetector.pingDue(heard, sent, pinged, after, now)
                                            ? "due"
                                            : "not yet")
                                    + ", at "
                                    + FailureDetector.pingAt(heard, sent, pinged, after) / MILLI);
                }
            case "pingAfter":
                return List.of(
                        detector.pingAfterNanos(in.number("answers", 0) * MILLI) / MILLI + " ms");
            case "suspect":
                return List.of(
                        (detector.suspected(heard, now) ? "suspected" : "trusted")
                                + ", at "
                                + detector.suspectedAt(heard) / MILLI);
            case "silence":
                {
                    int silent = detector.silentIntervals(heard, now);
                    return List.of(
                            silent
                                    + " intervals, next at "
                                    + detector.silentFor(silent + 1, heard) / MILLI);
                }
            case "excuse":
                {
                    long excused = in.number("excused", 0) * MILLI;
                    long late = in.number("late", 0) * MILLI;
                    return List.of(
                            "as if heard at "
                                    + detector.heardBeforeSleep(heard, excused, late, now) / MILLI);
                }
            case "woke":
                return List.of(
                        detector.overslept(in.number("planned", 0) * MILLI, now)
                                ? "overslept"
                                : "in time");
            case "silent":
                return List.of(
                        detector.reaction((int) in.number(), (int) in.number("election", 3))
                                .toString());
            default:
                throw in.unknown();
        }
    }
}
