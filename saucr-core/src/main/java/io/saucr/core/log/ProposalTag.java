package io.saucr.core.log;

import io.saucr.core.AsciiScanner;
import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import java.util.Arrays;

/**
 * What SAUCR adds to a proposal (R1): the mode, the set of servers to which the proposal is sent
 * (R2), and what is known of everyone else. The last logged entry of a member is the zxid of the
 * proposal itself, so a tag stays the same from one proposal to the next until the mode or the set
 * changes: it is encoded once, and a receiver that sees equal text may reuse the tag that it
 * decoded last.
 *
 * <p>Immutable, safe to share between threads.
 */
public final class ProposalTag {
    /** A proposal is sent to at most this many servers. */
    public static final int MAX_MEMBERS = 255;

    /** An encoded tag is at most this many characters, all of them ASCII. */
    public static final int MAX_ENCODED_LENGTH = 16 * 1024;

    private static final long VERSION = 1;

    private final Mode mode;

    /** Ascending, not empty: the leader is always one of them. */
    private final long[] members;

    /** Has no values of members. */
    private final LleMap others;

    private final String encoded;

    private ProposalTag(Mode mode, long[] members, LleMap others, String encoded) {
        this.mode = mode;
        this.members = members;
        this.others = others;
        this.encoded = encoded;
    }

    /**
     * A tag for proposals that go to {@code members}.
     *
     * @param members server ids in any order, without duplicates, the leader among them
     * @param others what is known of servers outside the set; its values of members are left out,
     *     as they must not exceed the zxid of the proposals that carry the tag
     * @throws IllegalArgumentException when there are no members, one twice, or too many
     */
    public static ProposalTag of(Mode mode, long[] members, LleMap others) {
        long[] sorted = members.clone();
        Arrays.sort(sorted);
        if (sorted.length == 0 || sorted.length > MAX_MEMBERS) {
            throw new IllegalArgumentException(
                    "a proposal goes to 1 to " + MAX_MEMBERS + " servers, not " + sorted.length);
        }
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i] == sorted[i - 1]) {
                throw new IllegalArgumentException("server " + sorted[i] + " is a member twice");
            }
        }
        LleMap outside = without(others, sorted);
        String encoded = encode(mode, sorted, outside);
        if (encoded.length() > MAX_ENCODED_LENGTH) {
            throw new IllegalArgumentException(
                    "proposal tag of %s characters, at most %s are allowed"
                            .formatted(encoded.length(), MAX_ENCODED_LENGTH));
        }
        return new ProposalTag(mode, sorted, outside, encoded);
    }

    /** How the proposals are to be acknowledged (R3). */
    public Mode mode() {
        return mode;
    }

    /**
     * Whether proposals with this tag are sent to the server; true of the leader. Allocates
     * nothing.
     */
    public boolean hasMember(long sid) {
        return Arrays.binarySearch(members, sid) >= 0;
    }

    /** What is known of servers outside the set. */
    public LleMap others() {
        return others;
    }

    /**
     * The servers to which proposals with this tag are sent, the leader included, ascending; a
     * copy.
     */
    public long[] members() {
        return members.clone();
    }

    /**
     * The whole map as the proposal with this zxid states it: the zxid for each member, plus the
     * others.
     */
    public LleMap resolve(long zxid) {
        return others.with(members, zxid);
    }

    /**
     * One line of ASCII, e.g. {@code 1;F;1,2,3;4=1a}: version, mode, members, others. The same
     * object each call.
     */
    public String encode() {
        return encoded;
    }

    /**
     * Reads exactly what {@link #encode} writes.
     *
     * @throws IllegalArgumentException when the text is anything else, with what and at which
     *     character
     */
    public static ProposalTag decode(String text) {
        if (text.length() > MAX_ENCODED_LENGTH) {
            throw new IllegalArgumentException(
                    "proposal tag of %s characters, at most %s are allowed"
                            .formatted(text.length(), MAX_ENCODED_LENGTH));
        }
        AsciiScanner in = new AsciiScanner("proposal tag", text);
        long version = in.decimal("a version");
        if (version != VERSION) {
            throw in.malformed(0, "version " + VERSION, "version " + version);
        }
        in.expect(';');
        Mode mode;
        if (in.accept('F')) {
            mode = Mode.FAST;
        } else {
            in.expect('S');
            mode = Mode.SLOW;
        }
        in.expect(';');
        long[] members = new long[8];
        int size = 0;
        do {
            int start = in.position();
            long sid = in.decimal("a server id");
            if (size > 0 && sid <= members[size - 1]) {
                throw in.malformed(
                        start,
                        "server ids above " + members[size - 1] + ", ascending",
                        "id " + sid);
            }
            if (size == MAX_MEMBERS) {
                throw in.malformed(start, "at most " + MAX_MEMBERS + " members", "one more");
            }
            if (size == members.length) {
                members = Arrays.copyOf(members, size * 2);
            }
            members[size++] = sid;
        } while (in.accept(','));
        in.expect(';');
        int othersStart = in.position();
        LleMap others = LleMap.decode(in);
        in.expectEnd();
        members = Arrays.copyOf(members, size);
        for (long member : members) {
            if (others.get(member) != Zxid.NONE) {
                throw in.malformed(othersStart, "others without members", "member " + member);
            }
        }
        return new ProposalTag(mode, members, others, text);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ProposalTag that && encoded.equals(that.encoded);
    }

    @Override
    public int hashCode() {
        return encoded.hashCode();
    }

    @Override
    public String toString() {
        return mode + " to " + Arrays.toString(members) + ", others " + others;
    }

    private static LleMap without(LleMap map, long[] sortedMembers) {
        boolean[] overlaps = {false};
        map.forEach((sid, zxid) -> overlaps[0] |= Arrays.binarySearch(sortedMembers, sid) >= 0);
        if (!overlaps[0]) {
            return map;
        }
        LleMap[] outside = {LleMap.empty()};
        map.forEach(
                (sid, zxid) -> {
                    if (Arrays.binarySearch(sortedMembers, sid) < 0) {
                        outside[0] = outside[0].with(sid, zxid);
                    }
                });
        return outside[0];
    }

    private static String encode(Mode mode, long[] members, LleMap others) {
        StringBuilder out = new StringBuilder(64);
        out.append(VERSION).append(';').append(mode == Mode.FAST ? 'F' : 'S').append(';');
        for (int i = 0; i < members.length; i++) {
            if (i > 0) {
                out.append(',');
            }
            out.append(members[i]);
        }
        return out.append(';').append(others.encode()).toString();
    }
}
