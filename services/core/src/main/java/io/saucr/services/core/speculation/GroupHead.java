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
                    "([A-Za-z0-9._-]{1,100}):([0-9a-f]{32}):([0-9]{1,19})(?::left=([0-9]{1,19}))?");

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
     */
    public record Member(String name, Birth birth, long cut, OptionalLong left) {

        public Member {
            if (!isName(name)) {
                throw new IllegalArgumentException("\"" + name + "\" is no name of a service");
            }
            if (cut < 0 || left.orElse(cut) < cut) {
                throw new IllegalArgumentException("cut " + cut + ", left at " + left);
            }
        }

        private String text() {
            return name
                    + ":"
                    + birth
                    + ":"
                    + cut
                    + (left.isPresent() ? ":left=" + left.getAsLong() : "");
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
            if (!names.add(each.name())) {
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
     * What is final for certain: the cuts, and all that members had which left. Only the cuts say
     * what survived the decision: a member may have made more in the new world, and left then.
     */
    VersionVector floor() {
        VersionVector floor = decision().cuts();
        for (int member = 0; member < members.size(); member++) {
            floor = floor.with(member, members.get(member).left().orElse(floor.at(member)));
        }
        return floor;
    }

    /** The first head of a group, of one member that coordinates it. */
    public static GroupHead first(String name, Birth birth, long nonce, String at) {
        Member only = new Member(name, birth, 0, OptionalLong.of(0));
        return new GroupHead(1, nonce, 0, at, 1, List.of(only));
    }

    /**
     * The same with one member more, the last one. It is in the group as one that left before its
     * first version: nobody waits for it, and it is admitted without a decision (D13). Together
     * with {@link #claimed}, so that a coordinator that does not know it is over.
     *
     * @throws IllegalArgumentException where the name is a member's, or the group is full
     */
    public GroupHead joined(String name, Birth birth) {
        List<Member> more = new ArrayList<>(members);
        more.add(new Member(name, birth, 0, OptionalLong.of(0)));
        return new GroupHead(epoch, nonce, leader, address, world, more);
    }

    /** The index of a member; empty where the name is none's. */
    public OptionalInt indexOf(String name) {
        return IntStream.range(0, members.size())
                .filter(it -> members.get(it).name().equals(name))
                .findFirst();
    }

    /** The same with another member as its coordinator, which begins an epoch (D9). */
    public GroupHead claimed(int by, long withNonce, String at) {
        return new GroupHead(epoch + 1, withNonce, by, at, world, members);
    }

    /** The same with another decision, which begins a world. */
    GroupHead decided(VersionVector cuts) {
        List<Member> cut = new ArrayList<>();
        for (int member = 0; member < members.size(); member++) {
            Member it = members.get(member);
            cut.add(new Member(it.name(), it.birth(), cuts.at(member), it.left()));
        }
        return new GroupHead(epoch, nonce, leader, address, world + 1, cut);
    }

    /** The same after a member left. */
    GroupHead left(int member, long version) {
        return changed(
                member,
                it -> new Member(it.name(), it.birth(), it.cut(), OptionalLong.of(version)));
    }

    /** The same after a member that had left is back: a later loss of it shows (D13). */
    GroupHead admitted(int member) {
        return changed(
                member, it -> new Member(it.name(), it.birth(), it.cut(), OptionalLong.empty()));
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
        return new Member(
                it.group(1),
                Birth.parse(it.group(2)),
                Long.parseLong(it.group(3)),
                it.group(4) == null
                        ? OptionalLong.empty()
                        : OptionalLong.of(Long.parseLong(it.group(4))));
    }
}
