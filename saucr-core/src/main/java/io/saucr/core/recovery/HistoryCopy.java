package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.SourceAnswer;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import io.saucr.core.recovery.RecoveryProcedure.Append;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.DiscardStaged;
import io.saucr.core.recovery.RecoveryProcedure.Send;
import io.saucr.core.recovery.RecoveryProcedure.StageSnapshot;
import io.saucr.core.recovery.RecoveryProcedure.State;
import io.saucr.core.recovery.RecoveryProcedure.Truncate;
import java.util.List;

/**
 * What a recovering server copies from its source (R17): first where the source's log ends in each
 * epoch, then a snapshot if the logs share no position, then entries. One question is open at a
 * time; the answer to any other one is dropped. A source that cannot continue or answers nonsense
 * is given up, and the copy continues from another one with what the log has by then.
 *
 * <p>Not thread-safe: owned by its {@link RecoveryProcedure}.
 */
final class HistoryCopy {
    private final long self;
    private final long nonce;
    private final int maxEntryLength;
    private final List<Decision> decisions;

    /** The server's own log. */
    private EpochEnds log;

    private long source;

    /** The current epoch that the source said to have, when its log reached {@link #claimed}. */
    private long sourceEpoch;

    /** The last entry that the source said to have. */
    private long claimed;

    /** The last entry up to {@link #through} that the source has, by the epoch ends it sent. */
    private long promised;

    private long requestId;
    private RecoveryMessage request;
    private long sentAt;
    private long heardAt;
    private long through;
    private byte[] partial = new byte[0];
    private int partialLength;
    private long partialZxid;
    private String problem = "";

    // While a snapshot is staged.
    private boolean staged;
    private EpochEnds stagedLog;
    private long stagedBytes;
    private SnapshotPart firstPart;

    /**
     * @param log the server's own log
     * @param maxEntryLength no transaction is longer, in bytes
     * @param decisions gets what is to be done
     */
    HistoryCopy(
            long self, long nonce, EpochEnds log, int maxEntryLength, List<Decision> decisions) {
        this.self = self;
        this.nonce = nonce;
        this.log = log;
        this.maxEntryLength = maxEntryLength;
        this.decisions = decisions;
    }

    /**
     * Asks a new source where its log ends in each epoch.
     *
     * @param best the source's answer
     * @param goal up to where the server must get its log back
     */
    void begin(LleAnswer best, long goal, long now) {
        source = best.sender();
        claimed = best.lastLogged();
        sourceEpoch = best.currentEpoch();
        through = goal;
        heardAt = now;
        ask(new EpochEndsRequest(nonce, self, ++requestId), now);
    }

    /** Gives the source up; what is staged is discarded. */
    void abandon() {
        requestId++;
        through = Zxid.NONE;
        forgetPartial();
        if (staged) {
            staged = false;
            decisions.add(new DiscardStaged());
        }
    }

    /** Whether this is an answer to the open question. */
    boolean expects(SourceAnswer answer) {
        return answer.sender() == source && answer.requestId() == requestId;
    }

    /**
     * The source has answered.
     *
     * @param state what is being asked for
     * @return what is asked for next; {@link State#RECOVERED} if nothing is, {@link State#QUERYING}
     *     if the source is to be given up because of a {@link #problem}
     */
    State answered(SourceAnswer answer, State state, long now) {
        heardAt = now;
        if (answer instanceof Unavailable unavailable) {
            return giveUp("server " + source + " cannot continue: " + unavailable.reason());
        }
        if (answer instanceof EpochEndsAnswer theirs && state == State.COMPARING) {
            return compare(theirs.epochEnds(), now);
        }
        if (answer instanceof SnapshotPart part && state == State.STAGING) {
            return stage(part, now);
        }
        if (answer instanceof EntriesAnswer entries && state == State.COPYING) {
            return copy(entries.entries(), entries.end(), now);
        }
        if (answer instanceof EntryPart part && state == State.COPYING) {
            return assemble(part, now);
        }
        return giveUp("server " + source + " answered something else than it was asked");
    }

    /**
     * Time has passed: asks again.
     *
     * @return whether the source has been silent for too long
     */
    boolean silent(RecoveryProcedure.Patience patience, long now) {
        if (now - heardAt >= patience.silence()) {
            problem = "server " + source + " stopped answering";
            return true;
        }
        if (now - sentAt >= patience.repeat()) {
            sentAt = now;
            decisions.add(new Send(source, request));
        }
        return false;
    }

    /** Why the last source was given up, "" if none was. */
    String problem() {
        return problem;
    }

    /** Who is copied from, or was last. */
    long source() {
        return source;
    }

    /** The current epoch of the last source, 0 if there was none. */
    long sourceEpoch() {
        return sourceEpoch;
    }

    /** How long the log will be at least, if the source has that much; 0 before that is known. */
    long through() {
        return through;
    }

    /** Whether the log is in the staging area. */
    boolean staged() {
        return staged;
    }

    /** The log as far as it is copied. */
    EpochEnds copied() {
        return staged ? stagedLog : log;
    }

    private State giveUp(String why) {
        problem = why;
        return State.QUERYING;
    }

    private State compare(EpochEnds theirs, long now) {
        if (!theirs.contains(claimed)) {
            return giveUp(hasLost(claimed));
        }
        promised = theirs.lastUpTo(through);
        long common = log.commonPrefix(theirs);
        if (common == EpochEnds.NO_COMMON_PREFIX) {
            stagedBytes = 0;
            firstPart = null;
            ask(new SnapshotRequest(nonce, self, ++requestId, SnapshotRequest.NEWEST, 0), now);
            return State.STAGING;
        }
        if (common < log.last()) {
            decisions.add(new Truncate(common));
            log = log.truncate(common);
        }
        if (log.last() >= through || theirs.last() == common) {
            return State.RECOVERED;
        }
        return askForEntries(now);
    }

    private State stage(SnapshotPart part, long now) {
        if (firstPart == null) {
            firstPart = part;
            through = Math.max(through, part.through());
        }
        boolean fits =
                part.snapshot() == firstPart.snapshot()
                        && part.compression() == firstPart.compression()
                        && part.total() == firstPart.total()
                        && part.offset() == stagedBytes
                        && part.bytes().length() <= part.total() - stagedBytes
                        && (part.bytes().length() > 0 || part.total() == 0);
        if (!fits) {
            return giveUp("server " + source + " sent a part of another snapshot");
        }
        staged = true;
        stagedLog = EpochEnds.startingAt(part.snapshot());
        decisions.add(
                new StageSnapshot(
                        part.snapshot(),
                        part.compression(),
                        part.total(),
                        part.offset(),
                        part.bytes()));
        stagedBytes += part.bytes().length();
        if (stagedBytes < part.total()) {
            ask(new SnapshotRequest(nonce, self, ++requestId, part.snapshot(), stagedBytes), now);
            return State.STAGING;
        }
        return stagedLog.last() >= through ? State.RECOVERED : askForEntries(now);
    }

    private State copy(List<Entry> entries, boolean end, long now) {
        if (entries.isEmpty() && !end) {
            return giveUp("server " + source + " sent neither entries nor the end");
        }
        EpochEnds longer = copied();
        for (Entry entry : entries) {
            if (entry.zxid() > through || !longer.followedBy(entry.zxid())) {
                return giveUp(
                        "server %s sent %s after %s"
                                .formatted(
                                        source,
                                        Zxid.toString(entry.zxid()),
                                        Zxid.toString(longer.last())));
            }
            longer = longer.append(entry.zxid());
        }
        if (!entries.isEmpty()) {
            decisions.add(new Append(entries, staged));
            extended(longer);
        }
        if (longer.last() >= through || (end && longer.last() >= promised)) {
            return State.RECOVERED;
        }
        return end ? giveUp(hasLost(promised)) : askForEntries(now);
    }

    private String hasLost(long zxid) {
        return "server " + source + " has lost " + Zxid.toString(zxid) + ", which it had";
    }

    private State assemble(EntryPart part, long now) {
        if (partialLength > 0 && part.zxid() != partialZxid) {
            // The source was truncated in between and has another entry here.
            forgetPartial();
            return askForEntries(now);
        }
        boolean fits =
                part.total() <= maxEntryLength
                        && (partialLength == 0 || part.total() == partial.length)
                        && part.offset() == partialLength
                        && part.bytes().length() > 0
                        && part.bytes().length() <= part.total() - partialLength;
        if (!fits) {
            return giveUp(
                    "server %s sent bytes %s to %s of %s of %s, at most %s are allowed"
                            .formatted(
                                    source,
                                    part.offset(),
                                    part.offset() + (long) part.bytes().length(),
                                    part.total(),
                                    Zxid.toString(part.zxid()),
                                    maxEntryLength));
        }
        if (partialLength == 0) {
            partial = new byte[part.total()];
            partialZxid = part.zxid();
        }
        part.bytes().asReadOnlyBuffer().get(partial, partialLength, part.bytes().length());
        partialLength += part.bytes().length();
        if (partialLength < partial.length) {
            return askForEntries(now);
        }
        Entry whole = new Entry(partialZxid, Bytes.wrap(partial));
        forgetPartial();
        return copy(List.of(whole), false, now);
    }

    private void extended(EpochEnds longer) {
        if (staged) {
            stagedLog = longer;
        } else {
            log = longer;
        }
    }

    private State askForEntries(long now) {
        ask(
                new EntriesRequest(
                        nonce, self, ++requestId, copied().last(), through, partialLength),
                now);
        return State.COPYING;
    }

    private void ask(RecoveryMessage question, long now) {
        request = question;
        sentAt = now;
        decisions.add(new Send(source, question));
    }

    private void forgetPartial() {
        partial = new byte[0];
        partialLength = 0;
        partialZxid = Zxid.NONE;
    }
}
