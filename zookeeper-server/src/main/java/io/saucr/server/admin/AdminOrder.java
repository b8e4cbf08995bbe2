package io.saucr.server.admin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import javax.servlet.http.HttpServletResponse;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AuthRequest;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.PostCommand;

/**
 * An order to the AdminServer: a POST with a text of at most 1,024 bytes as the body. It needs all
 * permissions on the root node, as ZooKeeper's own {@code snapshot} and {@code restore} do. That
 * check needs a server that serves.
 */
abstract class AdminOrder extends PostCommand {
    private static final int LONGEST_BODY = 1024;

    private final String name;
    private final String form;

    /**
     * @param name the command's path below {@code /commands/}
     * @param form what the body holds, as a sentence continues after "with"
     */
    AdminOrder(String name, String form) {
        super(List.of(name), true, new AuthRequest(ZooDefs.Perms.ALL, "/"));
        this.name = name;
        this.form = form;
    }

    /** Carries it out, and answers. */
    abstract CommandResponse obey(ZooKeeperServer server, String body);

    /** ZooKeeper's own answer to it would be an exception. */
    @Override
    public final CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        return refused(
                "this is an order: it must be a POST, with " + form,
                HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    public final CommandResponse runPost(ZooKeeperServer server, InputStream body) {
        try {
            return obey(server, new String(body.readNBytes(LONGEST_BODY), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return refused(e.getMessage(), HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
    }

    final CommandResponse refused(String sentence, int status) {
        return new CommandResponse(name, sentence, status);
    }

    /** A body that says what, in one word, and why. */
    record WhatAndWhy(String what, String why) {
        static WhatAndWhy of(String body) {
            String[] parts = body.strip().split("\\s+", 2);
            return new WhatAndWhy(parts[0], Maintenance.cleaned(parts.length > 1 ? parts[1] : ""));
        }
    }
}
