package org.apache.zookeeper.server;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * ZooKeeper's port for clients, whose connections write answers at once: see {@link
 * SaucrClientConnection}. Named by the key {@code serverCnxnFactory} unless the configuration names
 * another.
 */
public final class SaucrClientPort extends NIOServerCnxnFactory {
    @Override
    protected NIOServerCnxn createConnection(
            SocketChannel socket, SelectionKey key, SelectorThread selector) throws IOException {
        return new SaucrClientConnection(zkServer, socket, key, this, selector);
    }
}
