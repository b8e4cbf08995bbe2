package io.saucr.core.log;

import io.saucr.core.Zxid;

/**
 * What one server knows of everyone's last logged entries (R8): for each server the largest value
 * that it was ever told. It learns what a proposal tells once the proposal is in the log. No value
 * is ever lowered.
 *
 * <p>In steady state, while proposals carry the same tag, {@link #appended} remembers one number
 * and allocates nothing; the map is built when somebody asks for it or the tag changes.
 *
 * <p>Not thread-safe: the lock of the owner's log guards it.
 */
public final class LleKnowledge {
    /** All that is known, except that the members of {@link #tag} have {@link #lastZxid}. */
    private LleMap base;

    /** The tag of the newest entry, null before the first. */
    private ProposalTag tag;

    private long lastZxid;

    /** Starts from what the markers on disk, or recovery, say. */
    public LleKnowledge(LleMap initial) {
        base = initial;
    }

    /**
     * Learns what a proposal says. To be called after the entry is in the log, once per entry.
     *
     * @param tag the proposal's tag; cheapest when it is the same object as last time
     * @param zxid the entry; need not be greater than the last one, for a log may be truncated
     */
    public void appended(ProposalTag tag, long zxid) {
        if (zxid <= Zxid.NONE) {
            throw new IllegalArgumentException("no entry has the zxid " + Zxid.toString(zxid));
        }
        if (!tag.equals(this.tag)) {
            fold();
            base = base.merge(tag.others());
            this.tag = tag;
            lastZxid = zxid;
        } else if (zxid > lastZxid) {
            lastZxid = zxid;
        }
    }

    /** Learns what another server knows. */
    public void merge(LleMap map) {
        base = base.merge(map);
    }

    /** Everything that is known now; the same object while nothing was learned in between. */
    public LleMap snapshot() {
        fold();
        return base;
    }

    /**
     * The last entry that the server may have logged, {@link Zxid#NONE} when nothing is known of
     * it.
     */
    public long get(long sid) {
        long known = base.get(sid);
        return tag != null && lastZxid > known && tag.hasMember(sid) ? lastZxid : known;
    }

    private void fold() {
        if (tag == null) {
            return;
        }
        // The tag stays, so that the next entry with it costs nothing.
        base = base.merge(tag.resolve(lastZxid));
    }
}
