package io.saucr.tool;

import io.saucr.core.quorum.Quorums;
import io.saucr.tool.Membership.Member;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One change of an ensemble's members, as one reconfiguration: it happens as a whole or not at all.
 * Decides whether the ensemble would stay able to serve, and as fast as it is. Immutable.
 *
 * @param joining a new member, or one with another role; null if none joins
 * @param leaving number of a member that leaves; null if none does
 */
record MemberChange(Member joining, Long leaving) {
    private static final int FEWEST_VOTERS = 3;

    /**
     * What is known of the servers.
     *
     * @param responsive voters that the leader hears in time, itself included
     * @param fast voters that fast mode relies on now; empty where SAUCR is off
     */
    record Known(Set<Long> responsive, Set<Long> fast) {}

    /** Whether a configuration has this change already. */
    boolean isIn(Membership members) {
        boolean joined =
                joining == null
                        || members.member(joining.id())
                                .filter(
                                        each ->
                                                each.voter() == joining.voter()
                                                        && each.peers().equals(joining.peers()))
                                .isPresent();
        return joined && (leaving == null || members.member(leaving).isEmpty());
    }

    /** The lines of all members after the change, as in {@code zoo.cfg}. */
    String linesAfter(Membership before) {
        return Stream.concat(
                        before.members().stream()
                                .filter(each -> leaving == null || each.id() != leaving)
                                .filter(each -> joining == null || each.id() != joining.id()),
                        Stream.ofNullable(joining))
                .map(Member::line)
                .collect(Collectors.joining("\n"));
    }

    private Set<Long> votersAfter(Set<Long> voters) {
        Set<Long> after = new TreeSet<>(voters);
        if (leaving != null) {
            after.remove(leaving);
        }
        if (joining != null) {
            after.remove(joining.id());
            if (joining.voter()) {
                after.add(joining.id());
            }
        }
        return after;
    }

    /**
     * Why the change must not be made, one sentence.
     *
     * @param mayBecomeSlow whether it may cost the fast mode
     */
    Optional<String> refusal(Membership now, Known known, boolean mayBecomeSlow) {
        Set<Long> before = now.voters();
        Set<Long> after = votersAfter(before);
        if (after.equals(before)) {
            return Optional.empty();
        }
        if (after.size() < before.size() && after.size() < FEWEST_VOTERS) {
            return Optional.of(tooFew(before, after));
        }
        Set<Long> serving = with(known.responsive(), after);
        int needed = Quorums.bareMajority(after.size());
        if (serving.size() < needed) {
            return Optional.of(
                    ("the quorum would be lost: of the voters %s only %s would respond, and %d are"
                                    + " needed; start %s first, or remove %s first")
                            .formatted(
                                    after,
                                    serving,
                                    needed,
                                    servers(missing(after, serving)),
                                    missing(after, serving).size() == 1 ? "it" : "one of them"));
        }
        int fastBefore = Quorums.fastQuorum(before.size());
        int fastAfter = Quorums.fastQuorum(after.size());
        Set<Long> counting = with(known.fast(), after);
        if (!mayBecomeSlow && known.fast().size() >= fastBefore && counting.size() < fastAfter) {
            return Optional.of(
                    ("fast mode would be lost: it needs %d of the voters %s, and %s would not"
                                    + " count; start %s first, or accept slow mode with --allow-slow")
                            .formatted(
                                    fastAfter,
                                    after,
                                    servers(missing(after, counting)),
                                    missing(after, counting).size() == 1 ? "it" : "them"));
        }
        return Optional.empty();
    }

    /** Those that would serve or count, the one that joins among them: it has caught up. */
    private Set<Long> with(Set<Long> known, Set<Long> after) {
        Set<Long> result = new TreeSet<>(known);
        if (joining != null && joining.voter()) {
            result.add(joining.id());
        }
        result.retainAll(after);
        return result;
    }

    private static Set<Long> missing(Set<Long> all, Set<Long> some) {
        Set<Long> missing = new TreeSet<>(all);
        missing.removeAll(some);
        return missing;
    }

    private String tooFew(Set<Long> before, Set<Long> after) {
        long gone = missing(before, after).iterator().next();
        return ("the voters %s would be left, and fewer than %d bear no failure and have no fast"
                        + " mode; the way out is a new server in the place of server %d: start it, then"
                        + " bin/saucr member add 'server.ID=HOST:2888:3888;2181' --replace %d; or start"
                        + " server %d again, with an empty disk if its disk is lost")
                .formatted(after, FEWEST_VOTERS, gone, gone, gone);
    }

    /** server 3, or servers 3, 4. */
    static String servers(Set<Long> ids) {
        String list = ids.toString();
        return (ids.size() == 1 ? "server " : "servers ") + list.substring(1, list.length() - 1);
    }
}
