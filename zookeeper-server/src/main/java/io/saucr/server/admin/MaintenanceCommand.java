package io.saucr.server.admin;

import io.saucr.server.runtime.FlushCause;
import java.util.Locale;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;

/**
 * The AdminServer's orders about the disk: POST to {@code /commands/saucr/flush}, {@code .../pin}
 * and {@code .../unpin}, with the reason as the body. {@code zkServer.sh flush} needs no server
 * that serves.
 */
final class MaintenanceCommand extends AdminOrder {
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
        super(order.command(), "the reason as the body");
        this.order = order;
        this.maintenance = maintenance;
    }

    @Override
    CommandResponse obey(ZooKeeperServer server, String reason) {
        CommandResponse response = initializeResponse();
        try {
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
        } catch (IllegalStateException e) {
            return refused(e.getMessage(), HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
    }

    private void flush(CommandResponse response, String reason) {
        Maintenance.Flushed flushed = maintenance.flush(FlushCause.OPERATOR, reason);
        response.put("onDisk", flushed.marked());
        response.put("micros", flushed.micros());
        response.put("result", flushed.sentence());
    }
}
