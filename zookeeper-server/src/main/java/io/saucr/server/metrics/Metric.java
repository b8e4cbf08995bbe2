package io.saucr.server.metrics;

/**
 * The numbers that this server shows, in addition to those of ZooKeeper: what each is called, of
 * which kind it is, and what Prometheus says of it.
 *
 * <p>To add one, add a constant here, show its value in {@code SaucrStatus} (or, for a summary,
 * take it from {@link Exposition#summary}), and explain it in {@code docs/operate/metrics.md}. The
 * names keep the rules that {@code promtool check metrics} checks: Prometheus wants {@code _total}
 * after a counter and seconds for a time, where {@code mntr} has neither.
 */
public enum Metric {
    MODE(
            Kind.GAUGE,
            "saucr_mode",
            "1 fast, 0 slow: the mode of the ensemble on the leader; on other servers, the mode of"
                    + " what they logged last."),
    PROMPT_VOTERS(
            Kind.GAUGE,
            "saucr_prompt_voters",
            "On the leader, voters that answer promptly and may count towards fast mode, itself"
                    + " included; 0 on other servers."),
    HAS_LEADER(
            Kind.GAUGE,
            "saucr_has_leader",
            "1 if this server leads or follows a leader, and serves; 0 while it looks for one or"
                    + " recovers."),
    MODE_SWITCHES(
            Kind.COUNTER,
            "saucr_mode_switches",
            "Switches between fast and slow mode while this server led."),
    MODE_SWITCH_TIME(
            Kind.MICROSECONDS,
            "saucr_mode_switch_time",
            "To slow, from the switch until everything before it is on the disks of a majority; to"
                    + " fast, how long proposals were held back for it."),
    FAST_COMMITS(
            Kind.COUNTER,
            "saucr_fast_commits",
            "Writes committed while this server led that were proposed in fast mode."),
    SLOW_COMMITS(
            Kind.COUNTER,
            "saucr_slow_commits",
            "Writes committed while this server led that were proposed in slow mode."),
    LOG_FORCES(Kind.COUNTER, "saucr_log_forces", "Fsyncs of the transaction log."),
    FLUSHES(
            Kind.COUNTER,
            "saucr_flushes",
            "Times that the whole log was synced and the markers said so."),
    FLUSH_CAUSES(
            Kind.COUNTER,
            "saucr_flush_causes",
            "Times that the whole log was synced and the markers said so, by the cause."),
    FLUSH_TIME(
            Kind.MICROSECONDS,
            "saucr_flush_time",
            "How long it took to force the whole log and to write the markers."),
    ON_DISK(
            Kind.GAUGE,
            "saucr_on_disk",
            "1 if a crash now would lose nothing that this server acknowledged, else 0."),
    LOG_REMOVED(
            Kind.GAUGE,
            "saucr_log_removed",
            "1 if somebody removed the log while this server writes to it, else 0."),
    PINNED_SLOW(
            Kind.GAUGE, "saucr_pinned_slow", "1 if slow mode is pinned on this server, else 0."),
    ANSWERS_NEEDED(
            Kind.GAUGE,
            "saucr_answers_needed",
            "How many others would have to answer this server if it lost power in fast mode now."),
    RECOVERY_STATE(
            Kind.GAUGE,
            "saucr_recovery_state",
            "1 while this server recovers and takes no part, else 0."),
    RECOVERY_TIME(
            Kind.MILLISECONDS,
            "saucr_recovery_time",
            "How long this process recovered before it took part; empty if it had not to."),
    QUEUE_TIME(
            Kind.MICROSECONDS,
            "saucr_queue_time",
            "On the leader, how long a write waited before it was validated, to a millisecond."),
    PROPOSAL_TIME(
            Kind.MICROSECONDS,
            "saucr_proposal_time",
            "On the leader, how long it took to validate and to propose a write."),
    ACK_TIME(
            Kind.MICROSECONDS,
            "saucr_ack_time",
            "On the leader, from the proposal of a write to the acknowledgement of the server that"
                    + " is the key."),
    COMMIT_TIME(
            Kind.MICROSECONDS,
            "saucr_commit_time",
            "On the leader, from the proposal of a write to its commit."),
    APPLY_TIME(
            Kind.MICROSECONDS,
            "saucr_apply_time",
            "How long it took to apply a committed write and to answer the client, if it is this"
                    + " server's."),
    SLOW_REQUESTS(
            Kind.COUNTER,
            "saucr_slow_requests",
            "Requests of this server's clients that took as long as saucr.slowRequestTime says.");

    /** What can be done with a metric, and in which unit it is counted. */
    enum Kind {
        /** Goes up and down. */
        GAUGE("", "", 1),
        /** Only goes up while the process lives. */
        COUNTER("", "_total", 1),
        /** A summary of times. */
        MICROSECONDS("_us", "_seconds", 1e-6),
        /** A summary of times. */
        MILLISECONDS("_ms", "_seconds", 1e-3);

        private final String suffix;
        private final String prometheusSuffix;
        private final double prometheusUnits;

        Kind(String suffix, String prometheusSuffix, double prometheusUnits) {
            this.suffix = suffix;
            this.prometheusSuffix = prometheusSuffix;
            this.prometheusUnits = prometheusUnits;
        }
    }

    private final Kind kind;
    private final String stem;
    private final String help;

    Metric(Kind kind, String stem, String help) {
        this.kind = kind;
        this.stem = stem;
        this.help = help;
    }

    Kind kind() {
        return kind;
    }

    /** Its name in {@code mntr}, without the prefix there, and in every provider but Prometheus. */
    String key() {
        return stem + kind.suffix;
    }

    /** Its name in Prometheus. */
    String prometheusName() {
        return stem + kind.prometheusSuffix;
    }

    /** A value in the unit that Prometheus shows. */
    double inPrometheusUnits(double value) {
        return value * kind.prometheusUnits;
    }

    /** One sentence for operators. */
    String help() {
        return help;
    }
}
