package io.saucr.server.admin;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.Commands;
import org.apache.zookeeper.server.admin.JettyAdminServer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.HandlerWrapper;

/**
 * What an AdminServer answers besides its commands: {@code /livez} and {@code /readyz} ({@link
 * Health}), and {@code /}, from which it sends a browser to the status page. Where this process has
 * no such page, Apache's answer to {@code /} stays, which is 404. Thread-safe.
 */
public final class AdminRoot extends HandlerWrapper {
    private final String page;
    private final Supplier<ZooKeeperServer> serving;

    private AdminRoot(String page, Supplier<ZooKeeperServer> serving) {
        this.page = page;
        this.serving = serving;
    }

    /**
     * @param server not started yet
     * @param commandUrl the folder of the commands
     * @param admin whose server it is
     */
    public static void precede(Server server, String commandUrl, JettyAdminServer admin) {
        VarHandle field = servingServer();
        AdminRoot root =
                new AdminRoot(
                        commandUrl + "/" + PageCommand.NAME,
                        () -> (ZooKeeperServer) field.getVolatile(admin));
        root.setHandler(server.getHandler());
        server.setHandler(root);
    }

    /** The server that the AdminServer has now; only its own class can read it. */
    private static VarHandle servingServer() {
        try {
            return MethodHandles.privateLookupIn(JettyAdminServer.class, MethodHandles.lookup())
                    .findVarHandle(JettyAdminServer.class, "zkServer", ZooKeeperServer.class);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("JettyAdminServer.zkServer is not there", e);
        }
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
        } else if (reads && target.equals("/livez")) {
            answer(Health.live(), request, response);
        } else if (reads && target.equals("/readyz")) {
            answer(Health.ready(serving.get(), SaucrStatus.ongoingRecovery()), request, response);
        } else {
            super.handle(target, request, servletRequest, response);
        }
    }

    private static void answer(Health health, Request request, HttpServletResponse response)
            throws IOException {
        String[] excluded = request.getParameterValues("exclude");
        Health.Answer answer =
                health.answer(
                        request.getParameter("verbose") != null,
                        excluded == null ? new String[0] : excluded);
        byte[] text = answer.text().getBytes(StandardCharsets.UTF_8);
        response.setStatus(answer.status());
        response.setContentType("text/plain;charset=utf-8");
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setContentLength(text.length);
        response.getOutputStream().write(text);
        request.setHandled(true);
    }
}
