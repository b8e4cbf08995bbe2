package io.saucr.services.wire;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of all connections of a process, shared by its services. Daemons: they keep no
 * process alive. Any thread.
 */
public final class Transport implements AutoCloseable {

    private static final int RESOLVING_THREADS = 4;

    /** Made when first needed, and as daemons never ended. */
    private static final class Shared {
        static final Transport TRANSPORT =
                new Transport(Runtime.getRuntime().availableProcessors());
    }

    private final EventLoopGroup loops;
    private final ThreadPoolExecutor resolving;

    /**
     * Makes the threads; they start when needed.
     *
     * @param threads for connections, from 1; one serves thousands
     */
    public Transport(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("connections need a thread, not " + threads);
        }
        loops = new NioEventLoopGroup(threads, new DefaultThreadFactory("links", true));
        // Names are looked up apart from the connections: a resolver that hangs stops none of them.
        resolving =
                new ThreadPoolExecutor(
                        RESOLVING_THREADS,
                        RESOLVING_THREADS,
                        10,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new DefaultThreadFactory("host names", true));
        resolving.allowCoreThreadTimeOut(true);
    }

    /** That of this process; never closed. */
    public static Transport shared() {
        return Shared.TRANSPORT;
    }

    /** All threads of connections. */
    public EventLoopGroup loops() {
        return loops;
    }

    /** One of them, in turn. */
    public EventLoop loop() {
        return loops.next();
    }

    /** Looks up names of hosts; may wait. */
    public ExecutorService resolving() {
        return resolving;
    }

    /** Ends the threads; what uses them is closed first. Waits for at most 2 s. */
    @Override
    public void close() {
        resolving.shutdownNow();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
