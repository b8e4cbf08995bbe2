package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import io.saucr.tool.MemberChange.Known;
import io.saucr.tool.Membership.Member;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;

/**
 * The members of a running ensemble: what they are, and changes of them. A change names the
 * configuration that it replaces, so it can be sent again after its answer was lost, and never
 * undoes the change of another operator. Used by one thread.
 */
final class Members {
    private static final long PAUSE_MILLIS = 200;
    private static final Duration STEADY = Duration.ofSeconds(2);

    private final Connection connection;
    private final String endpoints;

    Members(Connection connection) {
        this.connection = connection;
        this.endpoints =
                connection.endpoints().stream()
                        .map(Endpoint::name)
                        .collect(Collectors.joining(","));
    }

    private Session open(Deadline deadline) throws EndpointException, InterruptedException {
        return Session.open(endpoints, connection, deadline);
    }

    /**
     * As a majority has committed them.
     *
     * @throws FailureException with the way out if no majority serves
     */
    Membership now() throws InterruptedException {
        Deadline deadline = Deadline.in(connection.patience());
        try (Session session = open(deadline)) {
            return session.members();
        } catch (EndpointException e) {
            throw withoutMajority(e);
        } catch (KeeperException e) {
            throw refused(e);
        }
    }

    private FailureException withoutMajority(EndpointException cause) {
        return new FailureException(
                ("no server of %s serves (%s), and members change by a majority of the voters"
                                + " alone; the way out is to start the servers that are down, with empty disks"
                                + " if theirs are lost; if too many disks are lost for that, restore a backup"
                                + " into a new ensemble (docs/operate/backup.md)")
                        .formatted(endpoints, cause.getMessage()),
                cause);
    }

    /**
     * Why a change must not be made, if for a moment it must not: right after an election a leader
     * does not hear everybody yet.
     */
    Optional<String> refusal(MemberChange change, Membership before, boolean mayBecomeSlow)
            throws InterruptedException {
        Deadline steady = Deadline.in(STEADY);
        while (true) {
            Optional<String> refusal = change.refusal(before, known(before), mayBecomeSlow);
            if (refusal.isEmpty() || steady.hasPassed()) {
                return refusal;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    /** What the leader hears, or without SAUCR what each server answers. */
    Known known(Membership members) throws InterruptedException {
        Deadline deadline = Deadline.in(connection.patience());
        do {
            Ensemble ensemble = Ensemble.ask(connection);
            Optional<SaucrState> leader = ensemble.leader().filter(each -> !each.off());
            if (leader.isPresent()) {
                return known(members, leader.get());
            }
            Set<Long> serving = serving(members);
            if (ensemble.servers().stream().noneMatch(ServerStatus::tells) && !serving.isEmpty()) {
                return new Known(serving, Set.of());
            }
            Thread.sleep(PAUSE_MILLIS);
        } while (!deadline.hasPassed());
        throw new FailureException(
                "it cannot be seen which voters respond: give the AdminServers of all servers"
                        + " (--admin), and where SAUCR is off members with ports for clients");
    }

    private static Known known(Membership members, SaucrState leader) {
        Set<Long> heard = new HashSet<>(Set.of(leader.json().path("server").asLong()));
        for (JsonNode each : leader.json().path("followers")) {
            if (each.path("synced").asBoolean() && each.path("heard").asBoolean()) {
                heard.add(each.path("server").asLong());
            }
        }
        heard.retainAll(members.voters());
        return new Known(heard, Set.copyOf(leader.ids("promptSet")));
    }

    private Set<Long> serving(Membership members) {
        Set<Long> serving = new HashSet<>();
        for (Member member : members.members()) {
            if (member.voter() && endpoint(member).filter(this::serves).isPresent()) {
                serving.add(member.id());
            }
        }
        return serving;
    }

    /**
     * Where clients reach a member: at the port of its line. A server whose only port for clients
     * has TLS has none there: it is the one endpoint with its host.
     */
    Optional<Endpoint> endpoint(Member member) {
        if (member.client().isEmpty()) {
            List<Endpoint> named =
                    connection.endpoints().stream()
                            .filter(each -> each.host().equals(member.host()))
                            .toList();
            return named.size() == 1 ? Optional.of(named.get(0)) : Optional.empty();
        }
        boolean tls = connection.endpoints().get(0).tls();
        return member.clientAddress()
                .map(at -> new Endpoint(at.host(), at.port(), tls, Optional.empty()));
    }

    private boolean serves(Endpoint endpoint) {
        try {
            return FourLetterWord.srvr(endpoint, connection, Deadline.in(connection.patience()))
                    .getOrDefault("Mode", "")
                    .matches("leader|follower");
        } catch (EndpointException e) {
            return false;
        }
    }

    /**
     * Makes a change, and returns the members after it.
     *
     * @param before what it replaces
     * @throws FailureException if it is refused, if another change came first, or if it is not
     *     known in time whether it was made
     */
    Membership make(MemberChange change, Membership before) throws InterruptedException {
        Deadline deadline = Deadline.in(connection.patience().multipliedBy(6));
        String last = "";
        do {
            try (Session session = open(Deadline.in(connection.patience()))) {
                Membership now = session.members();
                if (now.version() != before.version()) {
                    if (change.isIn(now)) {
                        return now;
                    }
                    throw new FailureException(
                            "the members were changed by another reconfiguration meanwhile; nothing of"
                                    + " this one was done (bin/saucr member list)");
                }
                return session.reconfigure(change, before);
            } catch (KeeperException e) {
                if (!mayBeSentAgain(e.code())) {
                    throw refused(e);
                }
                last = e.code().toString();
            } catch (EndpointException e) {
                last = e.getMessage();
            }
            Thread.sleep(PAUSE_MILLIS);
        } while (!deadline.hasPassed());
        throw new FailureException(
                "it is not known whether the members were changed ("
                        + last
                        + "): the change is made as a whole or not at all; bin/saucr member list shows"
                        + " it as soon as a majority serves");
    }

    private static boolean mayBeSentAgain(KeeperException.Code code) {
        return switch (code) {
            case CONNECTIONLOSS, SESSIONEXPIRED, OPERATIONTIMEOUT, REQUESTTIMEOUT, BADVERSION ->
                    true;
            case RECONFIGINPROGRESS, SESSIONMOVED -> true;
            default -> false;
        };
    }

    private static FailureException refused(KeeperException cause) {
        return new FailureException(
                switch (cause.code()) {
                    case NOAUTH ->
                            "the ensemble refuses: changes of members need the permission to write"
                                    + " /zookeeper/config (--auth; ZooKeeper's super user has it)";
                    case RECONFIGDISABLED ->
                            "the ensemble refuses: reconfigEnabled=true is not set in zoo.cfg of the"
                                    + " leader; set it on every server and restart them one by one";
                    case NEWCONFIGNOQUORUM ->
                            "the ensemble refuses: of the new voters no majority is connected and has"
                                    + " caught up";
                    case BADARGUMENTS ->
                            "the ensemble refuses: %s; are the addresses those of another member?"
                                    .formatted(cause.getMessage());
                    default -> "the ensemble refuses: " + cause.code();
                },
                cause);
    }

    /**
     * Waits until a new member serves a read after a sync: then it has everything that was
     * acknowledged before.
     *
     * @return why it has not caught up, or empty if it has
     */
    Optional<String> awaitCaughtUp(Member member, Duration limit) throws InterruptedException {
        Endpoint endpoint = endpoint(member).orElseThrow();
        Deadline deadline = Deadline.in(limit);
        String problem;
        do {
            try {
                String role =
                        FourLetterWord.srvr(
                                        endpoint, connection, Deadline.in(connection.patience()))
                                .getOrDefault("Mode", "?");
                if (List.of("observer", "follower", "leader").contains(role)) {
                    try (Session session =
                            Session.open(
                                    endpoint.name(),
                                    connection,
                                    Deadline.in(connection.patience()))) {
                        session.read();
                        Membership members = session.members();
                        if (members.member(member.id()).isEmpty()) {
                            problem = "a server of another ensemble answers there";
                        } else if (member.client().isEmpty() && !members.aloneOnItsHost(member)) {
                            problem =
                                    "may be another member on the same host: give it a port for clients";
                        } else {
                            return Optional.empty();
                        }
                    }
                } else {
                    problem = "it is " + role;
                }
            } catch (EndpointException e) {
                problem = e.getMessage();
            } catch (KeeperException e) {
                problem = e.code().toString();
            }
            Thread.sleep(PAUSE_MILLIS);
        } while (!deadline.hasPassed());
        return Optional.of(endpoint.name() + " " + problem);
    }
}
