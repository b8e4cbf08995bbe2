package io.saucr.model.cluster;

/**
 * A rule that a {@link ModelCluster} can be told to break, to see that somebody notices. The
 * product has no such switches: the cluster decides otherwise in the place of the product's class.
 */
public enum BrokenRule {
    /** A server that joins again enters the set of every uncommitted entry that it is re-sent. */
    R2_REJOINED_IN_EVERY_SET,
    /** A server acks a slow entry before it has forced its log. */
    R3_SLOW_ACK_FROM_MEMORY,
    /** A durable ack counts towards F for every earlier entry. */
    R4_DURABLE_ACK_COUNTS_TOWARDS_F,
    /** The leader turns to fast although the last slow entry is not on F disks. */
    R5_FAST_BEFORE_DISKS,
    /** Turning to slow mode proposes no no-op. */
    R6_NO_NOOP,
    /**
     * Proposals that are held back wait until the slow ones are on disk, however long that takes.
     */
    R5_DRAIN_NEVER_ENDS,
    /** A leader that misses the heartbeat of one follower looks at the others alone. */
    R6_MISSED_HEARTBEAT_IGNORED,
    /** A newer map replaces the older one. */
    R8_MAP_REPLACED,
    /** An operator's order to stay slow turns the mode once, and is then forgotten. */
    R10_PIN_FORGOTTEN,
    /** A fast entry is acked without the fast-switch marker. */
    R12_NO_FAST_SWITCH,
    /** The latest-on-disk marker is written before the log is forced. */
    R13_MARKER_BEFORE_FORCE,
    /** A flush marks "on disk" although an entry slipped in since its force. */
    R13_NO_CRITICAL_SECTION,
    /** A server that crashed in fast mode takes part at once. */
    R15_RECOVERING_TAKES_PART,
    /** Servers that are recovering answer those that recover. */
    R16_RECOVERING_ANSWERS,
    /** One answer fewer than R is enough. */
    R16_ONE_ANSWER_TOO_FEW,
    /** A recovering server takes the source's log although its own is ahead. */
    R17_OWN_LOG_AHEAD,
    /** A recovering server cuts its log to L', not to the common prefix. */
    R17_CUT_TO_L,
    /** The fast-switch marker stays ahead after recovery. */
    R17_MARKER_LEFT,
    /** Nobody tells the leader that a server has restarted. */
    R20_NO_NOTICE,
    /** A new connection leaves the old one's acks, and those still unread, counted. */
    R21_OLD_CONNECTION_COUNTS,
    /** A leader answers syncs without having heard who still follows. */
    R22_NO_QUESTION,
    /** An answer counts for the newest question, not for the one that it answers. */
    R22_ANSWERS_WITHOUT_NUMBER,
    /** Acks of an entry that was proposed before a sync came in count for that sync, too. */
    R22_EARLIER_ENTRY,
    /** One answer is enough for every recovering server, from any server. */
    R23_ONE_ANSWER_ENOUGH,
    /** Memory acks of voters count that are not members of the sealed view. */
    R23_NON_MEMBERS_COUNT,
    /** Answers count of voters that are not members of the recovering server's view. */
    R23_ANSWERS_OF_NON_MEMBERS,
    /** A recovering server takes every sealed view for newer than its own. */
    R23_OWN_VIEW_NOT_LOOKED_AT,
    /** A server names the seal of its own view although its log was cut before it. */
    R23_CUT_SEAL_COUNTS,
    /** A member of the view that has connected anew counts without another seal. */
    R23_JOINER_COUNTS,
    /** After a loss of power a server believes that its page cache is still the same. */
    R25_BOOT_ID_NOT_LOOKED_AT,
    /** A fast entry is acked before it is in the page cache. */
    R25_ACK_BEFORE_WRITE,
    /** A server whose process was killed continues with the map of its marker. */
    R25_MAP_OF_MARKER,
    /** A killed server does not force what is in the page cache before it takes part again. */
    R25_START_WITHOUT_FORCE,
    /** A server that was killed while it joined an epoch continues as a member of that epoch. */
    R25_EPOCH_OF_UNFINISHED_JOIN,
    /** A server that lost its disk takes part with the empty one at once. */
    R26_LOST_DISK_COUNTS_AS_COMPLETE,
    /** A server that lost its disk answers those that recover before it has recovered itself. */
    R26_LOST_ANSWERS,
    /** R answers are enough for a server that lost its disk. */
    R26_R_ANSWERS_ENOUGH,
    /** A server that lost its disk promises only the epoch of its new log. */
    R26_ACCEPTED_EPOCH_FORGOTTEN,
    /** A server that lost its disk believes answers that were given before a leader knew of it. */
    R26_LEADER_NOT_FIRST,
    /** Once all others were heard without a leader, their earlier answers count, too. */
    R26_NO_NEW_ROUND,
    /** Nobody tells the leader that a server has lost its disk (R20). */
    R26_NO_NOTICE,
    /** A leader takes what is unread of a follower for a sign of life, whenever it came in. */
    R27_UNREAD_COUNTS_WHENEVER_IT_CAME,
    /** A voter elects the server that its leader has named, even if that server has less. */
    R28_NAMED_WITH_LESS,
    /** A fast entry that is acked from disk leaves the map on disk as it was. */
    S4_STALE_MAP_ON_DISK,
    /** A follower treats what it gets before UPTODATE as its tag says, and not as slow. */
    H5_FAST_BEFORE_UPTODATE,
    /** Acks of entries that a follower got before UPTODATE, as slow ones, count towards F. */
    H5_COUNTS_BEFORE_UPTODATE,
    /** A server that joins again believes the tags of re-sent packets, and gets no new one. */
    H6_OLD_TAGS,
    /** A leader takes a pause of its own process for silence of its followers. */
    H11_PAUSE_IS_SILENCE,
    /** A server that leaves its leader reports what it has in memory, not what it has logged. */
    H14_MEMORY_AHEAD_OF_LOG
}
