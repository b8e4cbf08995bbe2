package io.saucr.server.admin;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.GetCommand;

/**
 * The AdminServer's {@code /commands/saucr/ui}: one page that draws what {@code
 * /commands/saucr/ensemble} answers, again and again. It needs nothing from anywhere else.
 */
final class PageCommand extends GetCommand {
    static final String NAME = "saucr/ui";

    private static final String RESOURCE = "saucr.html";
    private static final String TYPE = "text/html;charset=utf-8";
    private static final String POLICY =
            "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src"
                    + " 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

    private final byte[] page;

    PageCommand() {
        super(List.of(NAME), false);
        try (InputStream resource = PageCommand.class.getResourceAsStream(RESOURCE)) {
            page = resource.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(RESOURCE, e);
        }
    }

    @Override
    public CommandResponse runGet(ZooKeeperServer server, Map<String, String> arguments) {
        CommandResponse response = initializeResponse();
        response.addHeader("Content-Type", TYPE);
        response.addHeader("Content-Security-Policy", POLICY);
        response.addHeader("X-Content-Type-Options", "nosniff");
        response.addHeader("Cache-Control", "no-cache");
        response.setInputStream(new ByteArrayInputStream(page));
        return response;
    }
}
