package io.saucr.tool;

import io.saucr.core.config.HostPort;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The members of an ensemble, as the node {@code /zookeeper/config} has them. Immutable.
 *
 * @param members by their numbers
 * @param version of the configuration; a change names the one that it replaces
 */
record Membership(List<Member> members, long version) {
    private static final Pattern VERSION = Pattern.compile("version=([0-9a-fA-F]{1,16})");

    /**
     * One server.
     *
     * @param voter false of an observer
     * @param peers its addresses for other servers, as in {@code zoo.cfg}
     * @param client its port for clients, perhaps with an address; empty if it is not known
     */
    record Member(long id, boolean voter, String peers, String client) {
        private static final Pattern LINE =
                Pattern.compile(
                        "(?:server\\.)?(\\d{1,18})=([^;=,\\s]+?)(?::(participant|observer))?(?:;(\\S+))?");

        /**
         * Reads {@code server.ID=HOST:2888:3888[:ROLE][;[HOST:]2181]}.
         *
         * @throws IllegalArgumentException with a sentence that names the text and the form
         */
        static Member parse(String text) {
            Matcher line = LINE.matcher(text.strip());
            if (!line.matches()) {
                throw new IllegalArgumentException(
                        "'"
                                + text
                                + "' is no member: give server.ID=HOST:2888:3888;2181, with the ports"
                                + " for servers, elections and clients, in quotes");
            }
            return new Member(
                    Long.parseLong(line.group(1)),
                    !"observer".equals(line.group(3)),
                    line.group(2),
                    line.group(4) == null ? "" : line.group(4));
        }

        /** The same server as a voter, or as an observer. */
        Member as(boolean votes) {
            return new Member(id, votes, peers, client);
        }

        String role() {
            return voter ? "voter" : "observer";
        }

        /** As a reconfiguration takes it. */
        String line() {
            return "server."
                    + id
                    + "="
                    + peers
                    + (voter ? ":participant" : ":observer")
                    + (client.isEmpty() ? "" : ";" + client);
        }

        /** The host of its first address for other servers. */
        String host() {
            String first = peers.split("\\|")[0];
            Matcher peer = Pattern.compile("(.+):\\d+:\\d+").matcher(first);
            return peer.matches() ? HostPort.withoutBrackets(peer.group(1)) : first;
        }

        /** Where clients reach it: the host for servers, if it listens on every address. */
        Optional<HostPort> clientAddress() {
            if (client.isEmpty()) {
                return Optional.empty();
            }
            String host = host();
            if (client.matches("\\d+")) {
                return Optional.of(new HostPort(host, HostPort.port(client, client)));
            }
            HostPort own = HostPort.parse(client, 0);
            boolean everywhere = own.host().matches("0\\.0\\.0\\.0|[0:]*::?0?");
            return Optional.of(everywhere ? new HostPort(host, own.port()) : own);
        }
    }

    /**
     * Reads the node's lines.
     *
     * @throws FailureException if it has no members: dynamic reconfiguration has never been used
     *     there
     */
    static Membership parse(String config) {
        Matcher version = VERSION.matcher(config);
        List<Member> members =
                config.lines()
                        .filter(line -> line.startsWith("server."))
                        .map(Member::parse)
                        .sorted(Comparator.comparingLong(Member::id))
                        .toList();
        if (members.isEmpty() || !version.find()) {
            throw new FailureException(
                    "the node /zookeeper/config names no members: this is a server of its own, not one"
                            + " of an ensemble");
        }
        return new Membership(members, Long.parseUnsignedLong(version.group(1), 16));
    }

    Optional<Member> member(long id) {
        return members.stream().filter(each -> each.id() == id).findFirst();
    }

    /** Whether no other member has the host of this one. */
    boolean aloneOnItsHost(Member member) {
        return members.stream()
                .noneMatch(each -> each.id() != member.id() && each.host().equals(member.host()));
    }

    /** Numbers of the voters, in their order. */
    Set<Long> voters() {
        Set<Long> voters = new LinkedHashSet<>();
        members.stream().filter(Member::voter).forEach(each -> voters.add(each.id()));
        return voters;
    }
}
