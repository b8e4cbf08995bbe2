package io.saucr.server.admin;

import io.saucr.core.Zxid;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;
import org.apache.zookeeper.server.persistence.LogStream;
import org.apache.zookeeper.server.persistence.RunningHistory;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;

/**
 * The AdminServer's {@code /commands/saucr/log?after=ZXID}: what was committed after the zxid, as
 * the bytes of a log file. With it a snapshot that was taken while clients wrote becomes the state
 * of one moment. The client must have all permissions on the root node, as for ZooKeeper's own
 * {@code snapshot}.
 */
final class LogCommand extends GetCommand {
    private static final String COMMAND = "saucr/log";
    private static final String AFTER = "after";

    private final SaucrTxnSnapLog txnSnapLog;

    LogCommand(SaucrTxnSnapLog txnSnapLog) {
        super(List.of(COMMAND), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
        this.txnSnapLog = txnSnapLog;
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        long after;
        try {
            after = Long.decode(arguments.getOrDefault(AFTER, ""));
        } catch (NumberFormatException e) {
            return new CommandResponse(
                    COMMAND,
                    "say after=ZXID, for example after=0x100000001",
                    HttpServletResponse.SC_BAD_REQUEST);
        }
        try {
            CommandResponse response = initializeResponse();
            response.setInputStream(
                    new LogStream(
                            txnSnapLog,
                            after,
                            server.getZKDatabase().getDataTreeLastProcessedZxid()));
            return response;
        } catch (IOException e) {
            return new CommandResponse(
                    COMMAND,
                    "the log after " + Zxid.toString(after) + ": " + e.getMessage(),
                    e instanceof RunningHistory.MissingException
                            ? HttpServletResponse.SC_GONE
                            : HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
    }
}
