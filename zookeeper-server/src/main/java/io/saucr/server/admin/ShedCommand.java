package io.saucr.server.admin;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ServerCnxn.DisconnectReason;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AdminServer's command that moves clients away: POST to {@code /commands/saucr/shed}, with a
 * number of percent and the reason as the body. Closes that share of the client connections, chosen
 * at random. Sessions stay; clients connect to another server of their lists.
 */
final class ShedCommand extends AdminOrder {
    private static final Logger LOG = LoggerFactory.getLogger(ShedCommand.class);

    private static final int ALL = 100;

    ShedCommand() {
        super("saucr/shed", "the percentage and the reason as the body");
    }

    @Override
    CommandResponse obey(ZooKeeperServer server, String body) {
        WhatAndWhy order = WhatAndWhy.of(body);
        int percent = order.what().matches("\\d{1,3}") ? Integer.parseInt(order.what()) : 0;
        if (percent < 1 || percent > ALL) {
            return refused(
                    "the body begins with a number of percent, 1 to 100",
                    HttpServletResponse.SC_BAD_REQUEST);
        }
        List<ServerCnxn> connections = new ArrayList<>();
        addAll(connections, server.getServerCnxnFactory());
        addAll(connections, server.getSecureServerCnxnFactory());
        Collections.shuffle(connections);
        int closed = (connections.size() * percent + ALL - 1) / ALL;
        LOG.info(
                "Closing {} of {} client connections: operator: {}",
                closed,
                connections.size(),
                order.why());
        connections
                .subList(0, closed)
                .forEach(each -> each.close(DisconnectReason.CLOSE_CONNECTION_COMMAND));
        CommandResponse response = initializeResponse();
        response.put("closed", closed);
        response.put("connections", connections.size());
        return response;
    }

    private static void addAll(List<ServerCnxn> connections, ServerCnxnFactory port) {
        if (port != null) {
            port.getConnections().forEach(connections::add);
        }
    }
}
