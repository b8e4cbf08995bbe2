package io.saucr.server;

import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;

/**
 * The AdminServer's {@code /commands/saucr/ensemble}: what {@code /commands/saucr} says of this
 * server and of each of the others, as far as their AdminServers can be reached.
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
