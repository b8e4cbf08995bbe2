package io.saucr.server;

import io.saucr.server.admin.Maintenance;
import io.saucr.server.admin.SaucrStatus;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.metrics.ReplicationMetrics;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;

/**
 * Puts a server together: the peer, which knows nothing of those who watch it, and what operators
 * see of it ({@link SaucrStatus}) and can order it to do ({@link Maintenance}).
 *
 * <p>Called back by the threads that start and stop the peer, one after the other.
 */
public final class ServerAssembly implements SaucrQuorumPeer.Lifecycle {
    private final SaucrSettings settings;
    private final Runnable onStart;
    private final LogMetrics logMetrics = new LogMetrics();
    private final ReplicationMetrics replicationMetrics = new ReplicationMetrics();
    private final RequestWatch watch;

    private volatile SaucrStatus status;

    private ServerAssembly(SaucrSettings settings, Runnable onStart) {
        this.settings = settings;
        this.onStart = onStart;
        this.watch = new RequestWatch(new SlowRequests(settings.slowRequestTime()));
    }

    /**
     * A peer that has not been set up yet. When it starts, its status is published.
     *
     * @param onStart called once the peer has started, with its client ports bound, on the thread
     *     that starts it
     */
    public static SaucrQuorumPeer peer(SaucrSettings settings, Runnable onStart)
            throws SaslException {
        ServerAssembly assembly = new ServerAssembly(settings, onStart);
        return new SaucrQuorumPeer(
                settings,
                assembly.logMetrics,
                assembly.replicationMetrics,
                assembly.watch,
                assembly);
    }

    @Override
    public void starting(SaucrQuorumPeer peer, SaucrTxnSnapLog txnSnapLog) {
        status =
                new SaucrStatus(
                        peer,
                        settings,
                        txnSnapLog,
                        logMetrics,
                        replicationMetrics,
                        watch,
                        new Maintenance(peer, txnSnapLog));
        status.publish();
    }

    @Override
    public void started() {
        onStart.run();
    }

    @Override
    public void stopped() {
        SaucrStatus published = status;
        // A peer may be shut down while it starts.
        if (published != null) {
            published.withdraw();
        }
    }
}
