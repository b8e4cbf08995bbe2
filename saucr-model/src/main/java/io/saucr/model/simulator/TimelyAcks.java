package io.saucr.model.simulator;

import io.saucr.core.leader.AckProgress;
import java.util.Arrays;

/**
 * Who acks in time, as a leader sees it (R24): watched in schedules in which a disk hangs, and in
 * no others. Owned by one thread.
 */
final class TimelyAcks {
    /** Ticks until an ack is late. */
    private static final int ACK_BOUND = 400;

    private final Schedule schedule;
    private final AckProgress.Peer[] acks;
    private AckProgress progress; // Null while nobody watches.
    private int progressOf;
    private int progressThrough;

    TimelyAcks(Schedule schedule) {
        this.schedule = schedule;
        acks = new AckProgress.Peer[schedule.n];
    }

    /** Nobody watches. */
    void end() {
        progress = null;
    }

    /** Looks at the acks that a leader has. */
    void watch(int leader) {
        if (!schedule.cluster.leads(leader)) {
            return;
        }
        int proposed = schedule.cluster.proposedLength(leader);
        if (progress == null || progressOf != leader) {
            progress = new AckProgress(ACK_BOUND);
            progressOf = leader;
            progressThrough = proposed;
            progress.startEpoch(proposed, schedule.now);
            Arrays.setAll(acks, j -> progress.add());
        }
        for (; progressThrough < proposed; progressThrough++) {
            progress.proposed(progressThrough + 1L, schedule.now);
        }
        for (int j = 0; j < schedule.n; j++) {
            acks[j].acked(schedule.cluster.ackedLength(leader, j), schedule.now);
        }
    }

    /** Whether a follower acks in time, as the leader sees it; true while nobody watches. */
    boolean inTime(int leader, int j) {
        return progress == null || progressOf != leader || acks[j].inTime(schedule.now);
    }
}
