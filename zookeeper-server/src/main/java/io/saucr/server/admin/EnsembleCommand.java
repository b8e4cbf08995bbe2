package io.saucr.server.admin;

import io.saucr.core.config.HostPort;
import io.saucr.core.config.ZooCfg;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;

/**
 * The AdminServer's {@code /commands/saucr/ensemble}: the answers of {@code /commands/saucr} of
 * this server and of all others whose AdminServers can be reached.
 */
final class EnsembleCommand extends GetCommand {
    private final SaucrStatus status;
    private final EnsembleView view;

    EnsembleCommand(SaucrStatus status) {
        super(List.of("saucr/ensemble"), false);
        this.status = status;
        this.view =
                new EnsembleView(
                        status.peer().getMyId(),
                        status.settings().ensembleName(),
                        AdminTls.isForced(),
                        status::full,
                        this::members);
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        CommandResponse response = initializeResponse();
        response.put("asked", status.peer().getMyId());
        response.put("now", System.currentTimeMillis());
        response.put("ensemble", status.settings().ensembleName());
        response.put("servers", view.servers());
        return response;
    }

    private List<EnsembleView.Member> members() {
        return status.peer().getView().entrySet().stream()
                .map(
                        each ->
                                new EnsembleView.Member(
                                        each.getKey(),
                                        adminAddress(each.getKey(), each.getValue()),
                                        SaucrStatus.addresses(each.getValue().addr)))
                .toList();
    }

    /**
     * As configured; else the host of the other's election address, with this server's own port.
     */
    private String adminAddress(long id, QuorumServer server) {
        String configured = status.settings().adminServers().get(id);
        return configured == null ? guessed(server) : configured;
    }

    private static String guessed(QuorumServer server) {
        InetSocketAddress election = server.electionAddr.getOne();
        InetAddress resolved = election.getAddress();
        // A certificate names a host.
        String host =
                resolved == null || AdminTls.isForced()
                        ? election.getHostString()
                        : resolved.getHostAddress();
        int port = Integer.getInteger("zookeeper.admin.serverPort", ZooCfg.ADMIN_PORT);
        return new HostPort(HostPort.withoutBrackets(host), port).toString();
    }
}
