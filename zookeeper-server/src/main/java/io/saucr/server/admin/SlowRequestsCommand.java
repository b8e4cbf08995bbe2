package io.saucr.server.admin;

import io.saucr.server.requests.SlowRequest;
import io.saucr.server.requests.SlowRequests;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;

/**
 * The AdminServer's {@code /commands/saucr/slowRequests}: the newest slow requests, with the time
 * of each stage. They name paths and clients, so it needs the same permissions as {@link
 * MaintenanceCommand}.
 */
final class SlowRequestsCommand extends GetCommand {
    private final SaucrQuorumPeer peer;
    private final SlowRequests requests;

    SlowRequestsCommand(SaucrQuorumPeer peer, SlowRequests requests) {
        super(List.of("saucr/slowRequests"), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
        this.peer = peer;
        this.requests = requests;
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        CommandResponse response = initializeResponse();
        response.put("server", peer.getMyId());
        response.put("thresholdMillis", requests.threshold().toMillis());
        response.put("slow", requests.counted());
        response.put("leftOut", requests.leftOut());
        response.put("waiting", peer.waitingWrites().stream().map(SlowRequest::readable).toList());
        response.put("requests", requests.newest().stream().map(SlowRequest::readable).toList());
        return response;
    }
}
