package org.apache.zookeeper.server.admin;

import io.saucr.server.admin.AdminSite;
import io.saucr.server.admin.AdminTls;
import io.saucr.server.http.HttpListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AdminServer, in the place of Apache's class, which ZooKeeper loads by this name and which
 * needs Jetty 9: that one gets no more fixes. This one needs no Jetty, takes the same keys, and
 * gives the same answers. Thread-safe.
 */
public class JettyAdminServer implements AdminServer {
    public static final int DEFAULT_PORT = 8080;
    public static final int DEFAULT_IDLE_TIMEOUT = 30_000;
    public static final String DEFAULT_COMMAND_URL = "/commands";
    public static final int DEFAULT_STS_MAX_AGE = 86_400;
    public static final int DEFAULT_HTTP_VERSION = 11;

    private static final Logger LOG = LoggerFactory.getLogger(JettyAdminServer.class);

    /** Browsers, probes and tools come and go; each has a few connections. */
    private static final int MOST_CONNECTIONS = 512;

    private static final int MOST_THREADS = 16;

    private final String address;
    private final int port;
    private final long idleTimeout;
    private final String commandUrl;
    private final HttpListener.Tls tls;
    private volatile ZooKeeperServer zkServer;
    private HttpListener listener;

    public JettyAdminServer() throws AdminServerException, IOException, GeneralSecurityException {
        this(
                System.getProperty("zookeeper.admin.serverAddress", "0.0.0.0"),
                Integer.getInteger("zookeeper.admin.serverPort", DEFAULT_PORT),
                Integer.getInteger("zookeeper.admin.idleTimeout", DEFAULT_IDLE_TIMEOUT),
                System.getProperty("zookeeper.admin.commandURL", DEFAULT_COMMAND_URL),
                Integer.getInteger("zookeeper.admin.httpVersion", DEFAULT_HTTP_VERSION),
                Boolean.getBoolean("zookeeper.admin.portUnification"),
                Boolean.getBoolean("zookeeper.admin.forceHttps"),
                Boolean.getBoolean("zookeeper.admin.needClientAuth"));
    }

    /**
     * Reads the stores of TLS, if there is TLS.
     *
     * @param timeout in ms; 0 or less for none
     * @param httpVersion is not used: HTTP/1.1 and HTTP/1.0 are spoken always, by TLS or without
     * @param portUnification whether connections with and without TLS are accepted
     * @param forceHttps whether only those with TLS are
     * @param needClientAuth whether those with TLS have to show a certificate
     */
    public JettyAdminServer(
            String address,
            int port,
            int timeout,
            String commandUrl,
            int httpVersion,
            boolean portUnification,
            boolean forceHttps,
            boolean needClientAuth)
            throws IOException, GeneralSecurityException {
        this.address = address;
        this.port = port;
        this.idleTimeout = timeout > 0 ? timeout : TimeUnit.DAYS.toMillis(1);
        this.commandUrl = commandUrl;
        this.tls = portUnification || forceHttps ? tls(forceHttps, needClientAuth) : null;
    }

    private static HttpListener.Tls tls(boolean forceHttps, boolean needClientAuth)
            throws IOException, GeneralSecurityException {
        try {
            return new HttpListener.Tls(
                    AdminTls.ofServer(needClientAuth),
                    forceHttps ? null : () -> ServerMetrics.getMetrics().INSECURE_ADMIN.add(1));
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            LOG.error("Cannot read the key and the certificates of the AdminServer", e);
            throw e;
        }
    }

    @Override
    public synchronized void start() throws AdminServerException {
        try {
            listener =
                    new HttpListener(
                            "admin",
                            new InetSocketAddress(address, port),
                            new HttpListener.Bounds(MOST_CONNECTIONS, MOST_THREADS, idleTimeout),
                            tls,
                            new AdminSite(commandUrl, () -> zkServer));
        } catch (IOException | RuntimeException e) {
            throw new AdminServerException(
                    "Problem starting AdminServer on address %s, port %d and command URL %s"
                            .formatted(address, port, commandUrl),
                    e);
        }
        LOG.info(
                "Started AdminServer on address {}, port {} and command URL {}",
                address,
                listener.port(),
                commandUrl);
    }

    @Override
    public synchronized void shutdown() {
        if (listener != null) {
            listener.close();
            listener = null;
        }
    }

    @Override
    public void setZooKeeperServer(ZooKeeperServer zkServer) {
        this.zkServer = zkServer;
    }
}
