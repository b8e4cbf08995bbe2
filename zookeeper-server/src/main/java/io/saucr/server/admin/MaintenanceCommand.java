package io.saucr.server.admin;

import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.PostCommand;

/**
 * The AdminServer's orders: POST to {@code /commands/saucr/flush}, {@code .../pin} and {@code
 * .../unpin}, with the reason as the body. Whoever sends one must have all permissions on the root
 * node, as for ZooKeeper's own {@code snapshot} and {@code restore}. That check needs a server that
 * serves; {@code zkServer.sh flush} does not.
 */
final class MaintenanceCommand extends PostCommand {
    private static final int LONGEST_BODY = 1024;

    /** What can be ordered. */
    enum Order {
        FLUSH,
        PIN,
        UNPIN;

        private String command() {
            return "saucr/" + name().toLowerCase(Locale.ROOT);
        }
    }

    private final Order order;
    private final Maintenance maintenance;

    MaintenanceCommand(Order order, Maintenance maintenance) {
        super(List.of(order.command()), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
        this.order = order;
        this.maintenance = maintenance;
    }

    /** ZooKeeper's own answer to it would be an exception. */
    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        return new CommandResponse(
                order.command(),
                "this is an order: it must be a POST, with the reason as the body",
                HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    public CommandResponse runPost(ZooKeeperServer server, InputStream body) {
        CommandResponse response = initializeResponse();
        try {
            String reason = new String(body.readNBytes(LONGEST_BODY), StandardCharsets.UTF_8);
            switch (order) {
                case FLUSH -> flush(response, reason);
                case PIN -> {
                    maintenance.pinSlow(FlushCause.OPERATOR, reason);
                    flush(response, reason);
                }
                case UNPIN -> maintenance.unpin(reason);
            }
            response.put("pinnedSlow", maintenance.pinned() != null);
            return response;
        } catch (IOException | IllegalStateException e) {
            return new CommandResponse(
                    order.command(), e.getMessage(), HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
    }

    private void flush(CommandResponse response, String reason) {
        Maintenance.Flushed flushed = maintenance.flush(FlushCause.OPERATOR, reason);
        response.put("onDisk", flushed.marked());
        response.put("micros", flushed.micros());
        response.put("result", flushed.sentence());
    }
}
