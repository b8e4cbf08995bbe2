package io.saucr.server;

import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;

/**
 * The AdminServer's {@code /commands/saucr/ensemble}: the answers of {@code /commands/saucr} of
 * this server and of all others whose AdminServers can be reached.
 */
final class EnsembleCommand extends GetCommand {
    private final EnsembleView view;

    EnsembleCommand(SaucrStatus status) {
        super(List.of("saucr/ensemble"), false);
        this.view = new EnsembleView(status);
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        CommandResponse response = initializeResponse();
        response.put("servers", view.servers());
        return response;
    }
}
