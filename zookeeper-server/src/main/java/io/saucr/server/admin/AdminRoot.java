package io.saucr.server.admin;

import java.io.IOException;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.server.admin.Commands;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.HandlerWrapper;

/**
 * Sends a browser that asks an AdminServer for {@code /} to the status page. Where this process has
 * no such page, Apache's answer stays, which is 404. Thread-safe.
 */
public final class AdminRoot extends HandlerWrapper {
    private final String page;

    private AdminRoot(String page) {
        this.page = page;
    }

    /**
     * @param server not started yet
     * @param commandUrl the folder of the commands
     */
    public static void precede(Server server, String commandUrl) {
        AdminRoot root = new AdminRoot(commandUrl + "/" + PageCommand.NAME);
        root.setHandler(server.getHandler());
        server.setHandler(root);
    }

    @Override
    public void handle(
            String target,
            Request request,
            HttpServletRequest servletRequest,
            HttpServletResponse response)
            throws IOException, ServletException {
        boolean reads = request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
        if (reads && target.equals("/") && Commands.getCommand(PageCommand.NAME) != null) {
            // Without a host: only the browser knows by which name it came here.
            response.setHeader("Location", page);
            response.setStatus(HttpServletResponse.SC_FOUND);
            request.setHandled(true);
            return;
        }
        super.handle(target, request, servletRequest, response);
    }
}
