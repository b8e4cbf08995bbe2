package io.saucr.server.admin;

import java.util.concurrent.TimeUnit;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AdminServer's command that ends a leader's term (R28): POST to {@code
 * /commands/saucr/moveLeader}, with the server that is to lead next, or 0, and the reason as the
 * body. It answers when this server has left, and not when the other one leads.
 */
final class MoveLeaderCommand extends AdminOrder {
    private static final Logger LOG = LoggerFactory.getLogger(MoveLeaderCommand.class);

    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SaucrQuorumPeer peer;

    MoveLeaderCommand(SaucrQuorumPeer peer) {
        super("saucr/moveLeader", "the number of the next leader and the reason as the body");
        this.peer = peer;
    }

    @Override
    CommandResponse obey(ZooKeeperServer server, String body) {
        WhatAndWhy order = WhatAndWhy.of(body);
        if (!order.what().matches("\\d{1,18}")) {
            return refused(
                    "the body begins with the number of the next leader, or 0",
                    HttpServletResponse.SC_BAD_REQUEST);
        }
        long to = Long.parseLong(order.what());
        LOG.info(
                "Asked to hand over to {}: operator: {}",
                to == 0 ? "another server" : "server " + to,
                order.why());
        String refusal = peer.handOver(to, LIMIT_NANOS);
        if (refusal != null) {
            return refused(refusal, HttpServletResponse.SC_CONFLICT);
        }
        CommandResponse response = initializeResponse();
        response.put("left", peer.getMyId());
        return response;
    }
}
