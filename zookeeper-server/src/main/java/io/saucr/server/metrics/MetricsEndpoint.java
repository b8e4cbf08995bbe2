package io.saucr.server.metrics;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import javax.servlet.AsyncContext;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.security.ConstraintMapping;
import org.eclipse.jetty.security.ConstraintSecurityHandler;
import org.eclipse.jetty.server.ConnectionLimit;
import org.eclipse.jetty.server.HttpOutput;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.security.Constraint;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * {@code /metrics} over HTTP: the registry in the text format of Prometheus, or with parameters
 * {@code name[]} those metrics of it.
 *
 * <p>Requests cannot take the processors or the memory away from the server: one answer is written
 * at a time, a client that does not read it occupies no thread and is dropped after {@value
 * #PATIENCE_MILLIS} ms, and connections and threads are limited. Thread-safe.
 */
final class MetricsEndpoint {
    private static final int MOST_CONNECTIONS = 256;
    private static final int MOST_THREADS = 16;
    private static final long PATIENCE_MILLIS = 30_000;

    /** With so many connections those that do nothing make room for others. */
    private static final long PATIENCE_AT_LIMIT_MILLIS = 1_000;

    private final Server server;
    private final ServerConnector connector;

    /**
     * Listens from now on.
     *
     * @throws Exception if it cannot, or cannot be started; nothing is left behind
     */
    MetricsEndpoint(InetSocketAddress address, CollectorRegistry registry) throws Exception {
        QueuedThreadPool threads = new QueuedThreadPool(MOST_THREADS, 1);
        threads.setName("metrics");
        threads.setDaemon(true);
        server = new Server(threads);
        connector = new ServerConnector(server, 1, 1);
        connector.setHost(address.getHostString());
        connector.setPort(address.getPort());
        connector.setIdleTimeout(PATIENCE_MILLIS);
        server.addConnector(connector);
        ConnectionLimit limit = new ConnectionLimit(MOST_CONNECTIONS, connector);
        limit.setIdleTimeout(PATIENCE_AT_LIMIT_MILLIS);
        server.addBean(limit);
        server.setHandler(handler(registry));
        try {
            server.start();
        } catch (Exception e) {
            try {
                server.stop();
            } catch (Exception suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /** Also where port 0 was asked for. */
    int port() {
        return connector.getLocalPort();
    }

    void stop() throws Exception {
        server.stop();
    }

    private static ServletContextHandler handler(CollectorRegistry registry) {
        ServletContextHandler handler = new ServletContextHandler();
        handler.setContextPath("/");
        handler.setSecurityHandler(withoutTrace());
        ServletHolder holder = new ServletHolder(new Scrape(registry));
        holder.setAsyncSupported(true);
        handler.addServlet(holder, "/metrics");
        return handler;
    }

    private static ConstraintSecurityHandler withoutTrace() {
        Constraint nobody = new Constraint();
        nobody.setAuthenticate(true);
        ConstraintMapping mapping = new ConstraintMapping();
        mapping.setConstraint(nobody);
        mapping.setMethod("TRACE");
        mapping.setPathSpec("/*");
        ConstraintSecurityHandler handler = new ConstraintSecurityHandler();
        handler.addConstraintMapping(mapping);
        return handler;
    }

    private static final class Scrape extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final transient CollectorRegistry registry;
        private final transient ReentrantLock rendering = new ReentrantLock(true);

        Scrape(CollectorRegistry registry) {
            this.registry = registry;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            String[] names = request.getParameterValues("name[]");
            byte[] text = text(names == null ? Set.of() : Set.copyOf(Arrays.asList(names)));
            response.setStatus(HttpServletResponse.SC_OK);
            response.setContentType(TextFormat.CONTENT_TYPE_004);
            response.setContentLength(text.length);
            AsyncContext answer = request.startAsync();
            answer.setTimeout(PATIENCE_MILLIS);
            ((HttpOutput) response.getOutputStream())
                    .sendContent(
                            ByteBuffer.wrap(text),
                            Callback.from(answer::complete, failure -> answer.complete()));
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            doGet(request, response);
        }

        /** Jetty leaves the text away, but not its length. */
        @Override
        protected void doHead(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            doGet(request, response);
        }

        private byte[] text(Set<String> names) throws IOException {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            rendering.lock();
            try (Writer writer = new OutputStreamWriter(text, StandardCharsets.UTF_8)) {
                TextFormat.write004(writer, registry.filteredMetricFamilySamples(names));
            } finally {
                rendering.unlock();
            }
            return text.toByteArray();
        }
    }
}
