package io.saucr.services.core.speculation;

import io.saucr.services.core.Birth;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.head.Head.UnreadableHeadException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * What the znode {@code head} of a group says: which member coordinates, and what was decided last
 * (D8). Text of one line, so that an operator can read it with any client. Immutable.
 *
 * @param epoch how many members have become coordinator
 * @param nonce of the process that coordinates
 * @param leader index of its member
 * @param address where members reach it: host:port
 * @param world how many decisions were made, and the first world
 * @param members of the group, by index, from 0
 */
public record GroupHead(
        long epoch, long nonce, int leader, String address, long world, List<Member> members) {

    /** Most members of a group. */
    public static final int MOST_MEMBERS = 32;

    /** Longest content that is looked at, in bytes. */
    public static final int LARGEST_BYTES = 16_384;

    /** How the line begins. A later release that writes more raises the number. */
    private static final String FORMAT = "saucr-group-head 1";

    private static final Pattern LINE =
            Pattern.compile(
                    FORMAT
                            + " epoch=([1-9][0-9]{0,18}) nonce=([0-9a-f]{16})"
                            + " leader=([0-9]{1,2}) at=([!-~]{1,300}) world=([1-9][0-9]{0,18})"
                            + " members=([!-~]+)\n");

    private static final Pattern MEMBER =
            Pattern.compile(
                    "([A-Za-z0-9._-]{1,100}):([0-9a-f]{32}):([0-9]{1,19})(?::left=([0-9]{1,19}))?"
                            + "(?::final=([0-9]{1,19}))?(?::gone=([1-9][0-9]{0,18}))?");

    private static final Pattern IS_ADDRESS = Pattern.compile("[!-~]{1,300}");
    private static final Pattern IS_NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");

    /**
     * A member.
     *
     * @param name of the service
     * @param birth of its data
     * @param cut its newest version that the last decision left
     * @param left the newest version that it had when it left the group, all of it final; empty
     *     while it takes part (D13)
     * @param known its newest version that is known to be final in this world, at least the cut:
     *     what a member heard that left, and does not list, stays known (D19)
     * @param gone the world in which it was given up: it never comes back (D19); empty while it may
     */
    public record Member(
            String name, Birth birth, long cut, OptionalLong left, long known, OptionalLong gone) {

        public Member {
            if (!isName(name)) {
                throw new IllegalArgumentException("\"" + name + "\" is no name of a service");
            }
            if (cut < 0 || left.orElse(cut) < cut || known < left.orElse(cut)) {
                throw new IllegalArgumentException(
                        "cut " + cut + ", left at " + left + ", final up to " + known);
            }
        }

        /** One that may come back, of which nothing is known beyond its cut or leave. */
        public Member(String name, Birth birth, long cut, OptionalLong left) {
            this(name, birth, cut, left, left.orElse(cut), OptionalLong.empty());
        }

        /** Whether it was given up. */
        public boolean isGone() {
            return gone.isPresent();
        }

        private Member with(OptionalLong nowLeft, long nowKnown, OptionalLong nowGone) {
            return new Member(name, birth, cut, nowLeft, nowKnown, nowGone);
        }

        private Member decided(long newCut) {
            return new Member(name, birth, newCut, left, newCut, gone);
        }

        private String text() {
            return name
                    + ":"
                    + birth
                    + ":"
                    + cut
                    + (left.isPresent() ? ":left=" + left.getAsLong() : "")
                    + (known > left.orElse(cut) ? ":final=" + known : "")
                    + (gone.isPresent() ? ":gone=" + gone.getAsLong() : "");
        }
    }

    public GroupHead {
        members = List.copyOf(members);
        if (epoch < 1 || world < 1 || !IS_ADDRESS.matcher(address).matches()) {
            throw new IllegalArgumentException(
                    "epoch " + epoch + ", world " + world + ", at \"" + address + "\"");
        }
        if (members.size() > MOST_MEMBERS || leader < 0 || leader >= members.size()) {
            throw new IllegalArgumentException(
                    members.size() + " members, at most " + MOST_MEMBERS + ", led by " + leader);
        }
        Set<String> names = new HashSet<>();
        for (Member each : members) {
            if (!each.isGone() && !names.add(each.name())) {
                throw new IllegalArgumentException(each.name() + " is a member twice");
            }
        }
    }

    /** Whether a service of this name can be a member. */
    public static boolean isName(String name) {
        return IS_NAME.matcher(name).matches();
    }

    /** The last decision. */
    public Decision decision() {
        VersionVector cuts = VersionVector.NONE;
        for (int member = 0; member < members.size(); member++) {
            cuts = cuts.with(member, members.get(member).cut());
        }
        return new Decision(world, cuts);
    }

    /**
     * What is final for certain: the cuts, and what was known when a member left. Only the cuts say
     * what survived the decision: a member may have made more in the new world, and left then.
     */
    VersionVector floor() {
        VersionVector floor = VersionVector.NONE;
        for (int member = 0; member < members.size(); member++) {
            floor = floor.with(member, members.get(member).known());
        }
        return floor;
    }

    /**
     * The first head of a group, of one member that coordinates it.
     *
     * @param with its newest version, from an earlier membership; 0 without one
     */
    public static GroupHead first(String name, Birth birth, long with, long nonce, String at) {
        Member only = new Member(name, birth, 0, OptionalLong.of(with));
        return new GroupHead(1, nonce, 0, at, 1, List.of(only));
    }

    /**
     * The same with one member more, the last one. It is in the group as one that left before its
     * first version: nobody waits for it, and it is admitted without a decision (D13). Together
     * with {@link #claimed}, so that a coordinator that does not know it is over.
     *
     * @param with its newest version, from an earlier membership; 0 without one
     * @throws IllegalArgumentException where the name is a member's, or the group is full
     */
    public GroupHead joined(String name, Birth birth, long with) {
        List<Member> more = new ArrayList<>(members);
        more.add(new Member(name, birth, 0, OptionalLong.of(with)));
        return new GroupHead(epoch, nonce, leader, address, world, more);
    }

    /**
     * The index of a member; empty where the name is none's. One that was given up is meant only
     * where no other has joined under its name.
     */
    public OptionalInt indexOf(String name) {
        int[] of =
                IntStream.range(0, members.size())
                        .filter(it -> members.get(it).name().equals(name))
                        .toArray();
        return of.length == 0 ? OptionalInt.empty() : OptionalInt.of(of[of.length - 1]);
    }

    /** The same with another member as its coordinator, which begins an epoch (D9). */
    public GroupHead claimed(int by, long withNonce, String at) {
        return new GroupHead(epoch + 1, withNonce, by, at, world, members);
    }

    /** The same with another decision, which begins a world. */
    GroupHead decided(VersionVector cuts) {
        List<Member> cut = new ArrayList<>();
        for (int member = 0; member < members.size(); member++) {
            cut.add(members.get(member).decided(cuts.at(member)));
        }
        return new GroupHead(epoch, nonce, leader, address, world + 1, cut);
    }

    /**
     * The same after a member left.
     *
     * @param announced what is known to be final then: the member does not list it any more (D19)
     */
    GroupHead left(int member, long version, VersionVector announced) {
        List<Member> changed = new ArrayList<>();
        for (int each = 0; each < members.size(); each++) {
            Member it = members.get(each);
            long known = Math.max(it.known(), announced.at(each));
            changed.add(
                    each == member
                            ? it.with(OptionalLong.of(version), Math.max(known, version), it.gone())
                            : it.with(it.left(), known, it.gone()));
        }
        return new GroupHead(epoch, nonce, leader, address, world, changed);
    }

    /** The same after a member that had left is back: a later loss of it shows (D13). */
    GroupHead admitted(int member) {
        return changed(member, it -> it.with(OptionalLong.empty(), it.known(), it.gone()));
    }

    /**
     * The same after an operator gave a member up (D19). It begins an epoch, so that no coordinator
     * that waits for the member decides; the next one decides without it.
     *
     * @param withNonce of this order
     * @throws IllegalArgumentException where the member was given up before
     */
    public GroupHead givenUp(int member, long withNonce) {
        if (members.get(member).isGone()) {
            throw new IllegalArgumentException(members.get(member).name() + " was given up before");
        }
        GroupHead next =
                changed(member, it -> it.with(it.left(), it.known(), OptionalLong.of(world)));
        return new GroupHead(epoch + 1, withNonce, leader, address, world, next.members());
    }

    /**
     * Whether a member was given up that had not left, and nothing was decided since. All of one
     * that had left is final.
     */
    boolean isDue() {
        return members.stream().anyMatch(it -> it.left().isEmpty() && it.gone().orElse(0) == world);
    }

    private GroupHead changed(int member, UnaryOperator<Member> how) {
        List<Member> changed = new ArrayList<>(members);
        changed.set(member, how.apply(members.get(member)));
        return new GroupHead(epoch, nonce, leader, address, world, changed);
    }

    /** The content of the znode, UTF-8, about 100 bytes and 60 for each member. */
    public byte[] encode() {
        return String.format(
                        Locale.ROOT,
                        "%s epoch=%d nonce=%016x leader=%d at=%s world=%d members=%s\n",
                        FORMAT,
                        epoch,
                        nonce,
                        leader,
                        address,
                        world,
                        String.join(",", members.stream().map(Member::text).toList()))
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads what {@link #encode} writes.
     *
     * @param content of the znode, any bytes
     * @throws UnreadableHeadException where it is anything else; the message says what stands there
     *     and what is expected
     */
    public static GroupHead decode(byte[] content) throws UnreadableHeadException {
        String line = Head.text(content, LARGEST_BYTES);
        Matcher it = LINE.matcher(line);
        if (!it.matches()) {
            throw new UnreadableHeadException(
                    "it says \""
                            + line.strip()
                            + "\", not \""
                            + FORMAT
                            + " epoch=... nonce=... leader=... at=... world=... members=...\"");
        }
        try {
            List<Member> members = new ArrayList<>();
            for (String each : it.group(6).split(",", -1)) {
                members.add(member(each));
            }
            return new GroupHead(
                    Long.parseLong(it.group(1)),
                    Long.parseUnsignedLong(it.group(2), 16),
                    Integer.parseInt(it.group(3)),
                    it.group(4),
                    Long.parseLong(it.group(5)),
                    members);
        } catch (IllegalArgumentException e) {
            throw new UnreadableHeadException(
                    "it says \"" + line.strip() + "\": " + e.getMessage());
        }
    }

    private static Member member(String text) {
        Matcher it = MEMBER.matcher(text);
        if (!it.matches()) {
            throw new IllegalArgumentException("\"" + text + "\" is no member");
        }
        long cut = Long.parseLong(it.group(3));
        OptionalLong left = optional(it.group(4));
        return new Member(
                it.group(1),
                Birth.parse(it.group(2)),
                cut,
                left,
                optional(it.group(5)).orElse(left.orElse(cut)),
                optional(it.group(6)));
    }

    private static OptionalLong optional(String number) {
        return number == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(number));
    }
}
