package io.saucr.services.wire;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.saucr.services.Address;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Opens sockets that accept connections. */
public final class Listening {

    private Listening() {}

    /**
     * Waits for the socket.
     *
     * @param self who listens, for the error
     * @param at where; port 0 lets the system choose
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public static Channel bind(ServerBootstrap server, String self, Address at) throws IOException {
        InetSocketAddress socket = new InetSocketAddress(at.host(), at.port());
        if (socket.isUnresolved()) {
            throw new IOException(
                    self + " cannot listen at " + at + ": no host is called " + at.host());
        }
        ChannelFuture bound =
                server.option(ChannelOption.SO_REUSEADDR, true)
                        .option(ChannelOption.SO_BACKLOG, 512)
                        .childOption(ChannelOption.TCP_NODELAY, true)
                        .bind(socket)
                        .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    self
                            + " cannot listen at "
                            + at
                            + ": "
                            + bound.cause().getMessage()
                            + "; stop what uses that port, or choose an address and port of this"
                            + " machine that is free (port 0 lets the system choose)",
                    bound.cause());
        }
        return bound.channel();
    }
}
