package io.saucr.server.admin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.PostCommand;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AdminServer's command that ends a leader's term (R28): POST to {@code
 * /commands/saucr/moveLeader}, with the server that is to lead next, or 0, and the reason as the
 * body. Needs the same permissions as {@link MaintenanceCommand}. It answers when this server has
 * left, and not when the other one leads.
 */
final class MoveLeaderCommand extends PostCommand {
    private static final Logger LOG = LoggerFactory.getLogger(MoveLeaderCommand.class);

    private static final String NAME = "saucr/moveLeader";
    private static final int LONGEST_BODY = 1024;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SaucrQuorumPeer peer;

    MoveLeaderCommand(SaucrQuorumPeer peer) {
        super(List.of(NAME), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
        this.peer = peer;
    }

    /** ZooKeeper's own answer to it would be an exception. */
    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        return refused(
                "this is an order: it must be a POST, with the number of the next leader and the"
                        + " reason as the body",
                HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    public CommandResponse runPost(ZooKeeperServer server, InputStream body) {
        String[] parts;
        try {
            parts =
                    new String(body.readNBytes(LONGEST_BODY), StandardCharsets.UTF_8)
                            .strip()
                            .split("\\s+", 2);
        } catch (IOException e) {
            return refused(e.getMessage(), HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
        if (!parts[0].matches("\\d{1,18}")) {
            return refused(
                    "the body begins with the number of the next leader, or 0",
                    HttpServletResponse.SC_BAD_REQUEST);
        }
        long to = Long.parseLong(parts[0]);
        LOG.info(
                "Asked to hand over to {}: operator: {}",
                to == 0 ? "another server" : "server " + to,
                Maintenance.cleaned(parts.length > 1 ? parts[1] : ""));
        String refusal = peer.handOver(to, LIMIT_NANOS);
        if (refusal != null) {
            return refused(refusal, HttpServletResponse.SC_CONFLICT);
        }
        CommandResponse response = initializeResponse();
        response.put("left", peer.getMyId());
        return response;
    }

    private static CommandResponse refused(String sentence, int status) {
        return new CommandResponse(NAME, sentence, status);
    }
}
