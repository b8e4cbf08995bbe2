package org.apache.zookeeper.server;

import io.saucr.core.config.HostPort;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * ZooKeeper's port for clients, whose connections write answers at once: see {@link
 * SaucrClientConnection}. Unless {@code nio.numWorkerThreads} says otherwise the thread that
 * selects also reads and handles requests: nobody is woken for one.
 *
 * <p>Named by the key {@code serverCnxnFactory} unless the configuration names another.
 */
public final class SaucrClientPort extends NIOServerCnxnFactory {
    @Override
    public void configure(
            InetSocketAddress address, int maxConnections, int backlog, boolean secure)
            throws IOException {
        synchronized (SaucrClientPort.class) {
            boolean unset = System.getProperty(ZOOKEEPER_NIO_NUM_WORKER_THREADS) == null;
            if (unset) {
                System.setProperty(ZOOKEEPER_NIO_NUM_WORKER_THREADS, "0");
            }
            try {
                super.configure(address, maxConnections, backlog, secure);
            } catch (BindException e) {
                throw named(e, address);
            } finally {
                if (unset) {
                    System.clearProperty(ZOOKEEPER_NIO_NUM_WORKER_THREADS);
                }
            }
        }
    }

    /** Java does not say of which address. */
    private static BindException named(BindException refusal, InetSocketAddress address) {
        BindException named =
                new BindException(
                        "Cannot listen for clients on "
                                + new HostPort(
                                        HostPort.withoutBrackets(address.getHostString()),
                                        address.getPort())
                                + ": "
                                + refusal.getMessage());
        named.initCause(refusal);
        return named;
    }

    @Override
    protected NIOServerCnxn createConnection(
            SocketChannel socket, SelectionKey key, SelectorThread selector) throws IOException {
        // Called by the selecting thread.
        SelectorBatch.begin();
        return new SaucrClientConnection(zkServer, socket, key, this, selector);
    }
}
