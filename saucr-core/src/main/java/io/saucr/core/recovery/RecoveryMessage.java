package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import java.util.List;
import java.util.Optional;

/**
 * The messages between recovering and recovered servers (R16 to R18a). The channel drops and
 * repeats messages, so every request is repeated until it is answered, every answer names what it
 * answers, and the server that answers keeps no state between requests.
 *
 * <p>All of them are immutable.
 */
public sealed interface RecoveryMessage {

    /** The number that the recovering server drew when its process started (R18a). */
    long nonce();

    /** The server that sends it. */
    long sender();

    /** A source's answer to a numbered request. */
    sealed interface SourceAnswer extends RecoveryMessage {
        /** The number of the request. */
        long requestId();
    }

    /** How a snapshot's file is compressed. */
    enum Compression {
        /** Not at all. */
        NONE,
        /** gzip, ZooKeeper's suffix {@code .gz}. */
        GZIP,
        /** Snappy, ZooKeeper's suffix {@code .snappy}. */
        SNAPPY
    }

    /** Why a source cannot continue; the recovering server starts again. */
    enum Reason {
        /** The log does not contain the position: it was truncated meanwhile. */
        DIVERGED,
        /** The entries after the position were removed from the log, or the snapshot was purged. */
        GONE
    }

    /**
     * An entry of a log.
     *
     * @param zxid greater than zero
     * @param transaction as it stands in the log: header, body and digest
     */
    record Entry(long zxid, Bytes transaction) {}

    /**
     * "What may I have logged?", from a server that crashed in fast mode to every voter.
     *
     * @param withView whether the answer is to name the answering server's own view, which versions
     *     without R23 cannot: they drop such a query
     */
    record LleQuery(long nonce, long sender, boolean withView) implements RecoveryMessage {}

    /**
     * A recovered voter's answer.
     *
     * @param currentEpoch of its last established leader
     * @param lastLogged the last zxid in its log
     * @param committed the newest configuration that it knows to be in force
     * @param pending a newer one that it has seen proposed
     * @param ownView the seal of its own view if that is in its log ({@link View#sealIn}, R23),
     *     {@link Zxid#NONE} if not, or if it is the first one; {@link #NOT_ASKED} if the query did
     *     not ask for it
     */
    record LleAnswer(
            long nonce,
            long sender,
            long currentEpoch,
            long lastLogged,
            LleMap lleMap,
            Configuration committed,
            Optional<Configuration> pending,
            long ownView)
            implements RecoveryMessage {
        /** The answer says nothing of the own view. */
        public static final long NOT_ASKED = -1;

        /** Whether the answering server is ahead of one with this epoch and this last entry. */
        boolean isAheadOf(long epoch, long last) {
            return currentEpoch != epoch ? currentEpoch > epoch : lastLogged > last;
        }
    }

    /**
     * "What may I have logged and promised?", from a server that lost its disk, or has an empty
     * one, to every voter (R26).
     *
     * @param round the asker's round of queries, at least 1: answers of earlier rounds no longer
     *     count
     */
    record LostQuery(long nonce, long sender, long round) implements RecoveryMessage {}

    /**
     * A recovered voter's answer to a {@link LostQuery}.
     *
     * @param round of the query
     * @param leads whether it leads, and its leadership is established
     * @param acceptedEpoch the newest epoch that the answering server has promised to, at least its
     *     current one
     * @param answer what it would answer to an {@link LleQuery}
     */
    record LostAnswer(
            long nonce,
            long sender,
            long round,
            boolean leads,
            long acceptedEpoch,
            LleAnswer answer)
            implements RecoveryMessage {
        public LostAnswer {
            if (answer.nonce() != nonce || answer.sender() != sender) {
                throw new IllegalArgumentException("the answer of " + sender + " is another's");
            }
        }
    }

    /**
     * A voter's reply to a {@link LostQuery} that it may not answer (R26).
     *
     * @param blank whether it is new and never had any history; if not, it is recovering
     */
    record NoAnswer(long nonce, long sender, boolean blank) implements RecoveryMessage {}

    /** "Where does your log end in each epoch?" */
    record EpochEndsRequest(long nonce, long sender, long requestId) implements RecoveryMessage {}

    /** The source's log. */
    record EpochEndsAnswer(long nonce, long sender, long requestId, EpochEnds epochEnds)
            implements SourceAnswer {}

    /**
     * "Which entries come after {@code after}, up to and including {@code through}?"
     *
     * @param offset how many bytes of the first of them the asker has already
     */
    record EntriesRequest(
            long nonce, long sender, long requestId, long after, long through, int offset)
            implements RecoveryMessage {}

    /**
     * Whole entries, consecutive in the source's log.
     *
     * @param end whether the source has no further entry up to what was asked for
     */
    record EntriesAnswer(long nonce, long sender, long requestId, List<Entry> entries, boolean end)
            implements SourceAnswer {
        public EntriesAnswer {
            entries = List.copyOf(entries);
        }
    }

    /**
     * A part of an entry that does not fit into one message.
     *
     * @param total the entry's length in bytes
     * @param offset where the part begins in it
     */
    record EntryPart(
            long nonce, long sender, long requestId, long zxid, int total, int offset, Bytes bytes)
            implements SourceAnswer {}

    /**
     * "Give me this snapshot from this byte on."
     *
     * @param snapshot its zxid, or {@link #NEWEST}
     */
    record SnapshotRequest(long nonce, long sender, long requestId, long snapshot, long offset)
            implements RecoveryMessage {
        /** Whichever snapshot the source has that is complete. */
        public static final long NEWEST = -1;
    }

    /**
     * A part of a snapshot's file.
     *
     * @param snapshot its zxid
     * @param through the log must be replayed at least up to here before the snapshot is consistent
     *     (H3)
     * @param total the file's length in bytes
     * @param offset where the part begins in it
     */
    record SnapshotPart(
            long nonce,
            long sender,
            long requestId,
            long snapshot,
            Compression compression,
            long through,
            long total,
            long offset,
            Bytes bytes)
            implements SourceAnswer {}

    /** The source cannot answer the request. */
    record Unavailable(long nonce, long sender, long requestId, Reason reason)
            implements SourceAnswer {}
}
