package io.saucr.core.quorum;

import io.saucr.core.AsciiScanner;
import io.saucr.core.Zxid;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A set of voters that a leader has sealed with a no-op (R23). A server that synced the seal knows
 * that only these servers' memory acks counted between it and the next one. Immutable.
 *
 * @param seal the no-op's zxid, which names the view; {@link Zxid#NONE} for {@link #FIRST}
 * @param voters number of voters in the configuration in which it was sealed
 * @param members server ids, ascending, at least a bare majority of the voters
 */
public record View(long seal, int voters, List<Long> members) {
    /** The view of a server that has synced no seal: all voters of the configuration. */
    public static final View FIRST = new View(Zxid.NONE, 0, List.of());

    /** An encoded view is at most this many characters, all of them ASCII. */
    public static final int MAX_ENCODED_LENGTH = 16 + 1 + 10 + 21 * Configuration.MAX_VOTERS;

    public View {
        members = members.stream().sorted().distinct().toList();
        boolean first = seal == Zxid.NONE && voters == 0 && members.isEmpty();
        if (!first) {
            requireValid(seal, voters, members);
        }
    }

    private static void requireValid(long seal, int voters, List<Long> members) {
        if (seal <= 0) {
            throw new IllegalArgumentException("a view's seal is above 0, not " + seal);
        }
        if (voters < 1 || voters > Configuration.MAX_VOTERS) {
            throw new IllegalArgumentException(
                    "a view is of 1 to " + Configuration.MAX_VOTERS + " voters, not " + voters);
        }
        if (members.size() < Quorums.bareMajority(voters) || members.size() > voters) {
            throw new IllegalArgumentException(
                    "a view of %s voters has %s to %s members, not %s"
                            .formatted(
                                    voters, Quorums.bareMajority(voters), voters, members.size()));
        }
    }

    /** Whether no seal stands behind it: then it is all voters. */
    public boolean isFirst() {
        return seal == Zxid.NONE;
    }

    /** Whether the server is a member; of the first view everybody is. */
    public boolean includes(long sid) {
        return isFirst() || members.contains(sid);
    }

    /**
     * Whether a server that names {@code newest} as its own view's seal (see {@link #sealIn}) has a
     * newer view than this one: then its answer alone is enough. Never of the first view: a server
     * that has synced no seal may have acked from memory under a leader without views, which counts
     * everybody and seals nothing; a seal of an earlier epoch says nothing of what it acked.
     *
     * @param newest a seal's zxid, {@link Zxid#NONE} of a server that names none
     */
    public boolean isOlderThan(long newest) {
        return !isFirst() && newest > seal;
    }

    /**
     * How many other recovered members must answer a server with this view, unless one answers that
     * has a newer one.
     *
     * @throws IllegalStateException for {@link #FIRST}: that depends on the configuration
     */
    public int answersNeeded() {
        if (isFirst()) {
            throw new IllegalStateException("the first view's quorum is the configuration's");
        }
        return Quorums.viewQuorum(members.size(), voters);
    }

    /**
     * What a server whose own view this is names to one that recovers: the seal while it is in its
     * log, and so is all that was proposed before it. {@link Zxid#NONE} once its leader has cut the
     * log behind what was committed by then: entries before the seal may have committed since,
     * without this server, and it gets them again only after what it has got.
     *
     * @param lastLogged the last zxid in its log
     */
    public long sealIn(long lastLogged) {
        return seal <= lastLogged ? seal : Zxid.NONE;
    }

    /** One line of ASCII, e.g. {@code 100000005;5;1,2,3,4}: seal, voters, members. */
    public String encode() {
        if (isFirst()) {
            throw new IllegalStateException("the first view is not written");
        }
        return Long.toHexString(seal)
                + ";"
                + voters
                + ";"
                + members.stream().map(sid -> Long.toString(sid)).collect(Collectors.joining(","));
    }

    /**
     * Reads exactly what {@link #encode} writes.
     *
     * @throws IllegalArgumentException when the text is anything else, with what and at which
     *     character
     */
    public static View decode(String text) {
        if (text.length() > MAX_ENCODED_LENGTH) {
            throw new IllegalArgumentException(
                    "view of %s characters, at most %s are allowed"
                            .formatted(text.length(), MAX_ENCODED_LENGTH));
        }
        AsciiScanner in = new AsciiScanner("view", text);
        View view = decode(in);
        in.expectEnd();
        return view;
    }

    public static View decode(AsciiScanner in) {
        int at = in.position();
        long seal = in.hex("a zxid in hex");
        if (seal == Zxid.NONE) {
            throw in.malformed(at, "a zxid above 0", "0");
        }
        in.expect(';');
        at = in.position();
        long voters = in.decimal("a number of voters");
        if (voters < 1 || voters > Configuration.MAX_VOTERS) {
            throw in.malformed(at, "1 to " + Configuration.MAX_VOTERS + " voters", "" + voters);
        }
        in.expect(';');
        List<Long> members = new ArrayList<>();
        do {
            int start = in.position();
            long sid = in.decimal("a server id");
            if (!members.isEmpty() && sid <= members.get(members.size() - 1)) {
                throw in.malformed(start, "server ids, ascending", "id " + sid);
            }
            if (members.size() == voters) {
                throw in.malformed(start, "at most " + voters + " members", "one more");
            }
            members.add(sid);
        } while (in.accept(','));
        int least = Quorums.bareMajority((int) voters);
        if (members.size() < least) {
            throw in.malformed(
                    in.position(), "at least " + least + " members", "" + members.size());
        }
        return new View(seal, (int) voters, members);
    }
}
