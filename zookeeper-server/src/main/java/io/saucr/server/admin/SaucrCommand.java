package io.saucr.server.admin;

import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;

/**
 * The AdminServer's {@code /commands/saucr}; answers also while the server recovers or looks for a
 * leader.
 */
final class SaucrCommand extends GetCommand {
    private final SaucrStatus status;

    SaucrCommand(SaucrStatus status) {
        super(List.of("saucr"), false);
        this.status = status;
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        CommandResponse response = initializeResponse();
        response.putAll(status.full());
        return response;
    }
}
