package io.saucr.server.admin;

import io.saucr.server.requests.RequestTop;
import io.saucr.server.requests.RequestTop.BusyException;
import io.saucr.server.requests.RequestTop.By;
import io.saucr.server.requests.RequestTop.Entry;
import io.saucr.server.requests.RequestTop.Result;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;

/**
 * The AdminServer's {@code /commands/saucr/top?by=prefix&depth=1&millis=2000&most=100}: who makes
 * the load of this server's clients. It counts while it runs, and answers after that time. It names
 * paths and clients, so it needs the same permissions as {@link MaintenanceCommand}.
 */
final class TopCommand extends GetCommand {
    private static final String NAME = "saucr/top";

    private static final int MOST_DEPTH = 100;
    private static final int LEAST_MILLIS = 100;
    private static final int MOST_MILLIS = 10_000;
    private static final int MOST_ENTRIES = 1000;

    private final SaucrQuorumPeer peer;
    private final RequestTop top;

    /** A parameter is wrong; the message names it and what is allowed. */
    private static final class ParameterException extends Exception {
        private static final long serialVersionUID = 1L;

        ParameterException(String message) {
            super(message);
        }
    }

    TopCommand(SaucrQuorumPeer peer, RequestTop top) {
        super(List.of(NAME), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
        this.peer = peer;
        this.top = top;
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        try {
            By by = by(arguments.getOrDefault("by", "prefix"));
            int depth = number(arguments, "depth", 1, 1, MOST_DEPTH);
            int millis = number(arguments, "millis", 2000, LEAST_MILLIS, MOST_MILLIS);
            int most = number(arguments, "most", 100, 1, MOST_ENTRIES);
            Result result = top.sample(by, depth, millis, most);
            CommandResponse response = initializeResponse();
            response.put("server", peer.getMyId());
            response.put("by", by.name().toLowerCase(Locale.ROOT));
            response.put("depth", by == By.PREFIX ? depth : null);
            response.put("millis", TimeUnit.NANOSECONDS.toMillis(result.nanos()));
            response.put("entries", result.entries().stream().map(Entry::readable).toList());
            response.put("rest", RequestTop.readable(result.rest()));
            return response;
        } catch (ParameterException e) {
            return new CommandResponse(NAME, e.getMessage(), HttpServletResponse.SC_BAD_REQUEST);
        } catch (BusyException e) {
            return new CommandResponse(NAME, e.getMessage(), HttpServletResponse.SC_CONFLICT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new CommandResponse(
                    NAME, "the server shuts down", HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
    }

    private static By by(String text) throws ParameterException {
        for (By each : By.values()) {
            if (each.name().toLowerCase(Locale.ROOT).equals(text)) {
                return each;
            }
        }
        throw new ParameterException("by is prefix, session or operation");
    }

    private static int number(
            Map<String, String> arguments, String name, int otherwise, int least, int most)
            throws ParameterException {
        String text = arguments.get(name);
        if (text == null) {
            return otherwise;
        }
        int number = text.matches("\\d{1,6}") ? Integer.parseInt(text) : -1;
        if (number < least || number > most) {
            throw new ParameterException(name + " is " + least + " to " + most);
        }
        return number;
    }
}
