package org.apache.zookeeper.server.quorum;

import io.netty.buffer.Unpooled;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.common.SSLContextAndOptions;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.X509Util;

/**
 * TLS between servers as ZooKeeper's keys set it. Stores, checks, protocols and ciphers are those
 * that ZooKeeper's own sockets get, at the time when a connection is made: certificates may be
 * reloaded meanwhile.
 */
final class PeerTls {
    /** So many first bytes tell TLS from anything else. */
    static final int DETECTION_BYTES = 5;

    private final X509Util util;
    private final boolean plainToo;

    /**
     * @param plainToo whether a peer that connects may do without TLS
     */
    PeerTls(X509Util util, boolean plainToo) {
        this.util = util;
        this.plainToo = plainToo;
    }

    boolean plainToo() {
        return plainToo;
    }

    /** For how long a peer that connects may send nothing that tells whether it speaks TLS. */
    int detectionMillis() {
        return util.getSslHandshakeTimeoutMillis();
    }

    /**
     * @param first {@value #DETECTION_BYTES} bytes
     */
    static boolean isTls(ByteBuffer first) {
        return SslHandler.isEncrypted(Unpooled.wrappedBuffer(first), false);
    }

    /** The side that connects. */
    TlsLink connecting(InetSocketAddress to) throws IOException {
        SSLContextAndOptions options = options();
        // The name that was asked for, not one of the address: certificates are checked by it.
        SSLEngine engine =
                options.getSSLContext().createSSLEngine(to.getHostString(), to.getPort());
        SSLParameters parameters;
        try (SSLSocket model = options.createSSLSocket()) {
            parameters = model.getSSLParameters();
        }
        engine.setUseClientMode(true);
        engine.setSSLParameters(parameters);
        return new TlsLink(engine);
    }

    /** The side that is connected to. */
    TlsLink accepting(InetSocketAddress from) throws IOException {
        SSLContextAndOptions options = options();
        SSLEngine engine =
                options.getSSLContext()
                        .createSSLEngine(from.getAddress().getHostAddress(), from.getPort());
        SSLParameters parameters;
        try (SSLServerSocket model = options.createSSLServerSocket()) {
            parameters = model.getSSLParameters();
        }
        engine.setUseClientMode(false);
        engine.setSSLParameters(parameters);
        return new TlsLink(engine);
    }

    private SSLContextAndOptions options() throws IOException {
        try {
            return util.getDefaultSSLContextAndOptions();
        } catch (X509Exception e) {
            throw new IOException("TLS between servers cannot be set up: " + e.getMessage(), e);
        }
    }
}
