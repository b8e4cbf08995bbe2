package org.apache.zookeeper.server;

/**
 * Hands requests on in the thread that read them, as long as no limit on requests is set. Without a
 * limit ZooKeeper's own throttling thread only passes each of them on.
 *
 * <p>Requests of one connection stay in order: they come from one thread at a time, and once a
 * request has gone through the queue, which it does when a limit is set while the server runs, all
 * later ones do.
 */
public final class InlineRequestThrottler extends RequestThrottler {
    private final ZooKeeperServer server;
    private volatile boolean queueing;

    public InlineRequestThrottler(ZooKeeperServer server) {
        super(server);
        this.server = server;
    }

    @Override
    public void submitRequest(Request request) {
        if (queueing || getMaxRequests() > 0 || ZooKeeperServer.getThrottledOpWaitTime() > 0) {
            queueing = true;
            super.submitRequest(request);
            return;
        }
        if (request.mustDrop()) {
            return;
        }
        if (request.isStale()) {
            ServerMetrics.getMetrics().STALE_REQUESTS.add(1);
        }
        ServerMetrics.getMetrics().REQUEST_THROTTLE_QUEUE_TIME.add(0);
        if (shouldThrottleOp(request, 0)) {
            request.setIsThrottled(true);
            ServerMetrics.getMetrics().THROTTLED_OPS.add(1);
        }
        server.submitRequestNow(request);
    }

    /** From then on ZooKeeper's class drops requests that come in. */
    @Override
    public void shutdown() {
        queueing = true;
        super.shutdown();
    }
}
