package io.saucr.server.admin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ServerCnxn.DisconnectReason;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.PostCommand;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AdminServer's command that moves clients away: POST to {@code /commands/saucr/shed}, with a
 * number of percent and the reason as the body. Closes that share of the client connections, chosen
 * at random. Sessions stay; clients connect to another server of their lists. Needs the same
 * permissions as {@link MaintenanceCommand}.
 */
final class ShedCommand extends PostCommand {
    private static final Logger LOG = LoggerFactory.getLogger(ShedCommand.class);

    private static final String NAME = "saucr/shed";
    private static final int LONGEST_BODY = 1024;
    private static final int ALL = 100;

    ShedCommand() {
        super(List.of(NAME), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
    }

    /** ZooKeeper's own answer to it would be an exception. */
    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        return new CommandResponse(
                NAME,
                "this is an order: it must be a POST, with the percentage and the reason as the body",
                HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    public CommandResponse runPost(ZooKeeperServer server, InputStream body) {
        String text;
        try {
            text = new String(body.readNBytes(LONGEST_BODY), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return refused(e.getMessage(), HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
        String[] parts = text.split("\\s+", 2);
        int percent = parts[0].matches("\\d{1,3}") ? Integer.parseInt(parts[0]) : 0;
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
                Maintenance.cleaned(parts.length > 1 ? parts[1] : ""));
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

    private static CommandResponse refused(String sentence, int status) {
        return new CommandResponse(NAME, sentence, status);
    }
}
