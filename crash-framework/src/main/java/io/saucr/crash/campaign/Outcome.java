package io.saucr.crash.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One sequence, run against one system. Written to JSON as it stands.
 *
 * @param plan the fault plan in words
 * @param backend of the faults; "model" where no server ran
 * @param reason why, where the verdict is not CORRECT
 * @param acknowledged writes that count: acknowledged before the next fault began
 * @param lost names of those that were missing at the end, at most 100
 * @param lossPossible {@link MemoryModel#lossPossible}
 * @param recovering servers that say at the end that they are still recovering
 * @param millis of the whole sequence, start of the servers included
 * @param events what happened, in order
 * @param activity between the events
 * @param model whether it had to serve at the end, and why, by {@link AvailabilityModel}; null of
 *     systems without sealed views
 */
public record Outcome(
        String system,
        String version,
        int servers,
        Sequence sequence,
        String plan,
        String backend,
        Verdict verdict,
        String reason,
        int acknowledged,
        int lostCount,
        List<String> lost,
        boolean lossPossible,
        List<Integer> recovering,
        long millis,
        List<Event> events,
        Activity activity,
        AvailabilityModel.Judgement model) {
    /** Kind of event: all servers were stopped with SIGTERM, and start again. */
    static final String ORDERLY_START = "orderly-start";

    /** Kind of event: servers were told to continue with what they have, and started again. */
    static final String ACCEPTED_LOSS = "accepted-loss";

    /** What stock ZooKeeper says when its first snapshot is missing; {@link #reason} quotes it. */
    private static final String REFUSED_LOG_ALONE = "No snapshot found, but there are log entries";

    /**
     * @param millis since the sequence began
     * @param kind serving, not-serving, power-cut (of one server, or of several at one instant),
     *     kill (of processes alone), start, orderly-start (after a stop with SIGTERM),
     *     acknowledged, too-few-acknowledged, end, or accepted-loss
     * @param servers alive after it
     */
    public record Event(long millis, String kind, String servers, Map<String, String> details) {}

    /** Whether servers refused to start because their first snapshot had not been forced. */
    public boolean firstSnapshotGone() {
        return reason.contains(REFUSED_LOG_ALONE);
    }

    /** Whether it refused to serve, and the model of sealed views excuses that. */
    public boolean excused() {
        return verdict == Verdict.TOO_FEW_RECOVERED && model != null && !model.hadToServe();
    }

    /**
     * How long the servers took to serve after each of their starts, in order; the first one is
     * that of the new ensemble. -1 where they did not.
     */
    public List<Long> startMillis() {
        return startMillis("start");
    }

    /** The same after a stop with SIGTERM; empty if there was none. */
    public List<Long> orderlyStartMillis() {
        return startMillis(ORDERLY_START);
    }

    private List<Long> startMillis(String kind) {
        List<Long> times = new ArrayList<>();
        long started = -1;
        for (Event event : events) {
            switch (event.kind()) {
                case "start", ORDERLY_START ->
                        started = event.kind().equals(kind) ? event.millis() : -1;
                case "serving", "not-serving", "end" -> {
                    if (started >= 0) {
                        boolean served = !event.kind().equals("not-serving");
                        times.add(served ? event.millis() - started : -1);
                        started = -1;
                    }
                }
                default -> {
                    // Neither a start nor its end.
                }
            }
        }
        return times;
    }

    /** Distinguishes outcomes of one campaign. */
    public String key() {
        return key(system, plan, sequence);
    }

    static String key(String system, String plan, Sequence sequence) {
        return system + " " + plan + " " + sequence;
    }
}
