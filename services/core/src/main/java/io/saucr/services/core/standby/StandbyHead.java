package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Head;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the znode {@code head} of a service with standbys says: who is primary, and up to which
 * segment everything is final (C3, C5). Text of one line, so that an operator can read it with any
 * client. Immutable.
 *
 * @param holder the primary: its number is the epoch, its nonce that of the process (C13)
 * @param member whose process it is
 * @param at where standbys reach it: host:port
 * @param segment the newest that is named; {@link SegmentId#NONE} before the first
 * @param turn the last turn up to that segment
 * @param holders members that have it
 * @param copies how it is kept
 * @param successor the member that is to take over, in a planned handover
 * @param replaces the birth that held the head before, and up to where its segments count, where an
 *     operator accepted a loss (C17)
 * @param lanes what replays the segments, which are a trace then (X17); empty if they are turns
 */
public record StandbyHead(
        Incarnation holder,
        String member,
        String at,
        SegmentId segment,
        long turn,
        SortedSet<String> holders,
        Copies copies,
        Optional<String> successor,
        Optional<Replaced> replaces,
        Optional<LaneCode> lanes) {

    /** How the line begins, before the number of its format. */
    private static final String KIND = "saucr-standby-head";

    /** Of a head whose segments are turns. A later release that writes more raises the number. */
    private static final int OF_TURNS = 1;

    /** Of a head whose segments are a trace: a release before that refuses it. */
    private static final int OF_TRACE = 2;

    private static final Pattern FORMAT =
            Pattern.compile(KIND + " ([0-9]{1,9}) .*", Pattern.DOTALL);

    /** Longest content that is looked at, in bytes: a head has some hundreds. */
    public static final int LARGEST_BYTES = 4096;

    private static final String MEMBER = "[0-9a-f]{16}";

    private static final Pattern IS_MEMBER = Pattern.compile(MEMBER);

    private static final Pattern IS_ADDRESS = Pattern.compile("[!-~]{1,300}");

    private static final String SEGMENT = "([0-9]{1,19})\\.([0-9]{1,19})\\.([0-9a-f]{64})";

    private static final Pattern LINE =
            Pattern.compile(
                    KIND
                            + " ([12]) birth=([0-9a-f]{32}) epoch=([1-9][0-9]{0,18}) nonce=([0-9a-f]{16})"
                            + " member=("
                            + MEMBER
                            + ") at=([!-~]{1,300}) segment="
                            + SEGMENT
                            + " turn=([0-9]{1,19}) holders=("
                            + MEMBER
                            + "(?:,"
                            + MEMBER
                            + ")*) copies=(forced|memory|alone|store)(?: lanes=([1-9][0-9]?) code=("
                            + LaneCode.CODE
                            + "))?(?: successor=("
                            + MEMBER
                            + "))?(?: replaces=([0-9a-f]{32})\\."
                            + SEGMENT
                            + ")?\n");

    /** How the newest segment is kept. */
    public enum Copies {
        /** As many members as asked for have forced it. */
        FORCED,
        /** Two members have written it, and force it soon (C15). */
        MEMORY,
        /** Fewer members than asked for have it, forced. */
        ALONE,
        /** A store that members share has it, with all before it. */
        STORE
    }

    public StandbyHead {
        holders = Collections.unmodifiableSortedSet(new TreeSet<>(holders));
        if (!IS_MEMBER.matcher(member).matches()
                || holders.isEmpty()
                || !holders.stream().allMatch(it -> IS_MEMBER.matcher(it).matches())
                || !successor.map(it -> IS_MEMBER.matcher(it).matches()).orElse(true)) {
            throw new IllegalArgumentException(
                    "members have 16 hex digits: " + member + ", " + holders + ", " + successor);
        }
        if (!IS_ADDRESS.matcher(at).matches()) {
            throw new IllegalArgumentException("an address is host:port, not \"" + at + "\"");
        }
        if (turn < 0 || segment.epoch() > holder.number()) {
            throw new IllegalArgumentException(
                    "turn " + turn + " and segment " + segment + " do not fit " + holder);
        }
        if (replaces.isPresent()
                && (replaces.get().upTo().number() > segment.number()
                        || replaces.get().birth().equals(holder.birth()))) {
            throw new IllegalArgumentException(
                    "segment "
                            + segment
                            + " of generation "
                            + holder.birth()
                            + " does not continue "
                            + replaces.get());
        }
    }

    /** Of a service whose segments are turns. */
    public StandbyHead(
            Incarnation holder,
            String member,
            String at,
            SegmentId segment,
            long turn,
            SortedSet<String> holders,
            Copies copies,
            Optional<String> successor,
            Optional<Replaced> replaces) {
        this(
                holder,
                member,
                at,
                segment,
                turn,
                holders,
                copies,
                successor,
                replaces,
                Optional.empty());
    }

    /** The birth of a segment that is up to the newest (C17). */
    public Birth birthOf(long number) {
        return replaces.filter(it -> number <= it.upTo().number())
                .map(Replaced::birth)
                .orElse(holder.birth());
    }

    /** The same with another newest segment. */
    StandbyHead naming(SegmentId id, long lastTurn, SortedSet<String> by, Copies how) {
        return new StandbyHead(
                holder, member, at, id, lastTurn, by, how, Optional.empty(), replaces, lanes);
    }

    /** The same, handed to a successor. */
    StandbyHead handedTo(String to) {
        return new StandbyHead(
                holder,
                member,
                at,
                segment,
                turn,
                holders,
                copies,
                Optional.of(to),
                replaces,
                lanes);
    }

    /** The content of the znode, UTF-8, some hundred bytes. */
    public byte[] encode() {
        return String.format(
                        Locale.ROOT,
                        "%s %d birth=%s epoch=%d nonce=%016x member=%s at=%s segment=%s turn=%d"
                                + " holders=%s copies=%s%s%s%s\n",
                        KIND,
                        lanes.isPresent() ? OF_TRACE : OF_TURNS,
                        holder.birth(),
                        holder.number(),
                        holder.nonce(),
                        member,
                        at,
                        text(segment),
                        turn,
                        String.join(",", holders),
                        copies.name().toLowerCase(Locale.ROOT),
                        lanes.map(it -> " lanes=" + it.lanes() + " code=" + it.code()).orElse(""),
                        successor.map(it -> " successor=" + it).orElse(""),
                        replaces.map(it -> " replaces=" + it.birth() + "." + text(it.upTo()))
                                .orElse(""))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String text(SegmentId id) {
        return id.epoch() + "." + id.number() + "." + id.digest();
    }

    /** Whether that content is a head of a service with standbys, readable or not. */
    public static boolean isOne(byte[] content) {
        byte[] begin = KIND.getBytes(StandardCharsets.UTF_8);
        return content.length >= begin.length
                && ByteBuffer.wrap(content, 0, begin.length).equals(ByteBuffer.wrap(begin));
    }

    /**
     * Reads what {@link #encode} writes.
     *
     * @param content of the znode, any bytes
     * @throws Head.UnreadableHeadException where it is anything else; says what stands there and
     *     what is expected
     */
    public static StandbyHead decode(byte[] content) throws Head.UnreadableHeadException {
        String line = Head.text(content, LARGEST_BYTES);
        Matcher it = LINE.matcher(line);
        if (!it.matches()
                || it.group(1).equals(Integer.toString(OF_TRACE)) != (it.group(13) != null)) {
            throw new Head.UnreadableHeadException(unreadable(line));
        }
        try {
            return new StandbyHead(
                    new Incarnation(
                            Birth.parse(it.group(2)),
                            Long.parseLong(it.group(3)),
                            Long.parseUnsignedLong(it.group(4), 16)),
                    it.group(5),
                    it.group(6),
                    segment(it, 7),
                    Long.parseLong(it.group(10)),
                    new TreeSet<>(Arrays.asList(it.group(11).split(","))),
                    Copies.valueOf(it.group(12).toUpperCase(Locale.ROOT)),
                    Optional.ofNullable(it.group(15)),
                    it.group(16) == null
                            ? Optional.empty()
                            : Optional.of(new Replaced(Birth.parse(it.group(16)), segment(it, 17))),
                    it.group(13) == null
                            ? Optional.empty()
                            : Optional.of(
                                    new LaneCode(Integer.parseInt(it.group(13)), it.group(14))));
        } catch (IllegalArgumentException e) {
            throw new Head.UnreadableHeadException(
                    "it says \"" + line.strip() + "\": " + e.getMessage());
        }
    }

    private static String unreadable(String line) {
        String says = "it says \"" + line.strip() + "\"";
        Matcher format = FORMAT.matcher(line);
        if (format.matches() && Integer.parseInt(format.group(1)) > OF_TRACE) {
            return says
                    + ", which is format "
                    + format.group(1)
                    + ", and this release reads formats "
                    + OF_TURNS
                    + " and "
                    + OF_TRACE
                    + ": run the release that wrote it";
        }
        return says
                + ", not \""
                + KIND
                + " 1 birth=... epoch=...\" or \""
                + KIND
                + " 2 birth=... epoch=... lanes=... code=...\"";
    }

    private static SegmentId segment(Matcher it, int group) {
        return new SegmentId(
                Long.parseLong(it.group(group)),
                Long.parseLong(it.group(group + 1)),
                it.group(group + 2));
    }
}
