package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the values that {@link StateWriter} wrote, one after the other. Caches maps and tags by
 * their bits, because the same ones come again and again.
 */
@SuppressWarnings("EnumOrdinal") // a code lives as long as the process
final class StateInput {
    private static final int REMEMBERED_BITS = 10;
    private static final int REMEMBERED = 1 << REMEMBERED_BITS;
    private static final int ZXID_BITS = 11;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final int n;

    /** Whether the bits of a tag fit into a long. */
    private final boolean remembers;

    private final long[] mapBits = new long[REMEMBERED];
    private final LleMap[] maps = new LleMap[REMEMBERED];
    private final long[] tagBits = new long[REMEMBERED];
    private final ProposalTag[] tags = new ProposalTag[REMEMBERED];
    private final View[] views = new View[REMEMBERED];
    private byte[] bytes = new byte[0];
    private int at;

    StateInput(int servers) {
        n = servers;
        remembers = n * ZXID_BITS + n + 1 <= Long.SIZE;
    }

    /** Begins with the first value of this code. */
    void begin(byte[] in) {
        bytes = in;
        at = 0;
    }

    int number() {
        return bytes[at++] & 0xff;
    }

    int optional() {
        return number() - 1;
    }

    long zxid() {
        int code = number() << 8 | number();
        return (long) (code >> 6 & 31) << 32 | (code & 63);
    }

    long entry() {
        int leader = bytes[at] >> 3 & 31;
        return Entry.of(zxid(), leader);
    }

    LleMap map() {
        if (!remembers) {
            return newMap();
        }
        long bits = 0;
        for (int i = 0; i < n; i++) {
            bits = (bits << ZXID_BITS) | (number() << 8) | number();
        }
        if (bits == 0) {
            return LleMap.empty();
        }
        int slot = slot(bits);
        if (mapBits[slot] != bits) {
            at -= 2 * n;
            maps[slot] = newMap();
            mapBits[slot] = bits;
        }
        return maps[slot];
    }

    private LleMap newMap() {
        LleMap map = LleMap.empty();
        for (int i = 0; i < n; i++) {
            long zxid = zxid();
            if (zxid != Zxid.NONE) {
                map = map.with(i + 1L, zxid);
            }
        }
        return map;
    }

    private static int slot(long bits) {
        return (int) ((bits * MIX) >>> (Long.SIZE - REMEMBERED_BITS));
    }

    /** An own view. */
    View view() {
        long seal = zxid();
        View view = view(seal);
        return view == null ? View.FIRST : view;
    }

    /** What the entry with this zxid seals, null if it is no seal. */
    View view(long seal) {
        int mask = number();
        if (mask == 0) {
            return null;
        }
        int slot = slot(seal << n | mask);
        View known = views[slot];
        if (known == null || known.seal() != seal || StateWriter.mask(known) != mask) {
            known = newView(seal, mask);
            views[slot] = known;
        }
        return known;
    }

    private View newView(long seal, int mask) {
        List<Long> members = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            if ((mask & 1 << i) != 0) {
                members.add(i + 1L);
            }
        }
        return new View(seal, n, members);
    }

    ProposalTag tag() {
        int mask = number();
        if (mask == 0) {
            return null;
        }
        int modeBit = number();
        if (!remembers) {
            return newTag(mask, modeBit);
        }
        long bits = 0;
        for (int i = 0; i < n; i++) {
            bits = (bits << ZXID_BITS) | (number() << 8) | number();
        }
        bits = (((bits << n) | mask) << 1) | modeBit;
        int slot = slot(bits);
        if (tagBits[slot] != bits) {
            at -= 2 * n;
            tags[slot] = newTag(mask, modeBit);
            tagBits[slot] = bits;
        }
        return tags[slot];
    }

    private ProposalTag newTag(int mask, int modeBit) {
        Mode mode = modeBit == Mode.FAST.ordinal() ? Mode.FAST : Mode.SLOW;
        long[] members = new long[Integer.bitCount(mask)];
        int count = 0;
        for (int i = 0; i < n; i++) {
            if ((mask & 1 << i) != 0) {
                members[count++] = i + 1L;
            }
        }
        return ProposalTag.of(mode, members, map());
    }

    EpochEnds epochEnds() {
        long[] ends = new long[number()];
        for (int i = 0; i < ends.length; i++) {
            ends[i] = zxid();
        }
        return ends.length == 1 && ends[0] == Zxid.NONE
                ? EpochEnds.startingAt(Zxid.NONE)
                : EpochEnds.of(Zxid.NONE, ends);
    }
}
