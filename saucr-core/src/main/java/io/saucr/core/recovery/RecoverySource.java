package io.saucr.core.recovery;

import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.SourceAnswer;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * What a recovered voter answers to requests for its history (R17, R18). Keeps nothing between
 * requests. Each one says how far the asker has got, and each time it is checked whether the log
 * still contains that position: the source's own leader may truncate it during the copy.
 *
 * <p>Only a recovered voter may ask this class (R16).
 */
public final class RecoverySource {
    private final long self;
    private final int payload;

    /**
     * @param self the answering server
     * @param payload bytes of history in one answer, at most {@link RecoveryWire#MAX_PAYLOAD}
     */
    public RecoverySource(long self, int payload) {
        if (payload < 1 || payload > RecoveryWire.MAX_PAYLOAD) {
            throw new IllegalArgumentException(
                    "an answer carries 1 to %s bytes, not %s"
                            .formatted(RecoveryWire.MAX_PAYLOAD, payload));
        }
        this.self = self;
        this.payload = payload;
    }

    /** Where the log ends in each epoch. */
    public SourceAnswer answer(EpochEndsRequest request, ReadableHistory log) {
        return new EpochEndsAnswer(request.nonce(), self, request.requestId(), log.epochEnds());
    }

    /** The next entries, or a part of the next one if it is large. */
    public SourceAnswer answer(EntriesRequest request, ReadableHistory log) {
        EpochEnds epochEnds = log.epochEnds();
        if (!epochEnds.contains(request.after())) {
            return new Unavailable(request.nonce(), self, request.requestId(), Reason.DIVERGED);
        }
        if (request.after() < epochEnds.base()) {
            return new Unavailable(request.nonce(), self, request.requestId(), Reason.GONE);
        }
        List<Entry> entries = new ArrayList<>();
        int used = 0;
        Iterator<Entry> following = log.after(request.after());
        while (following.hasNext()) {
            Entry entry = following.next();
            if (entry.zxid() > request.through()) {
                break;
            }
            int cost = RecoveryWire.ENTRY_OVERHEAD + entry.transaction().length();
            if (entries.isEmpty() && (request.offset() > 0 || cost > payload)) {
                return part(request, entry);
            }
            if (used + cost > payload) {
                return new EntriesAnswer(
                        request.nonce(), self, request.requestId(), entries, false);
            }
            entries.add(entry);
            used += cost;
        }
        return new EntriesAnswer(request.nonce(), self, request.requestId(), entries, true);
    }

    /** The next bytes of a snapshot. */
    public SourceAnswer answer(SnapshotRequest request, ReadableHistory log) {
        Optional<ReadableHistory.Snapshot> found =
                request.snapshot() == SnapshotRequest.NEWEST
                        ? log.newestSnapshot()
                        : log.snapshot(request.snapshot());
        if (found.isEmpty() || request.offset() > found.get().length()) {
            return new Unavailable(request.nonce(), self, request.requestId(), Reason.GONE);
        }
        ReadableHistory.Snapshot snapshot = found.get();
        int length = (int) Math.min(payload, snapshot.length() - request.offset());
        return new SnapshotPart(
                request.nonce(),
                self,
                request.requestId(),
                snapshot.zxid(),
                snapshot.compression(),
                log.epochEnds().last(),
                snapshot.length(),
                request.offset(),
                log.read(snapshot, request.offset(), length));
    }

    private SourceAnswer part(EntriesRequest request, Entry entry) {
        int total = entry.transaction().length();
        // An offset beyond the entry was meant for another entry: the asker sees the zxid and
        // starts over.
        int offset = Math.min(request.offset(), total);
        Bytes bytes = entry.transaction().slice(offset, Math.min(payload, total - offset));
        return new EntryPart(
                request.nonce(), self, request.requestId(), entry.zxid(), total, offset, bytes);
    }
}
