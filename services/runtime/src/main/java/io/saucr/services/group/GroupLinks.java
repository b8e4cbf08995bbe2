package io.saucr.services.group;

import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.saucr.services.Address;
import io.saucr.services.wire.Endpoint;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsIdentity;
import io.saucr.services.wire.Transport;
import io.saucr.services.wire.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;

/**
 * All links of one member of a group: those of members while it coordinates, and one to the
 * coordinator. Any thread.
 */
public final class GroupLinks extends Endpoint<GroupConnection> {

    private static final Duration BACKOFF_MIN = Duration.ofMillis(20);
    private static final Duration BACKOFF_MAX = Duration.ofMillis(500);

    private final GroupFrame.Hello self;
    private final GroupListener listener;
    private final Executor executor;

    private GroupLinks(
            Transport transport,
            NetOptions options,
            GroupFrame.Hello self,
            Optional<TlsIdentity> tls,
            GroupListener listener,
            Executor executor) {
        super(
                transport,
                self.member() + " of the group " + self.group(),
                options,
                tls,
                new Random(),
                BACKOFF_MIN,
                BACKOFF_MAX);
        this.self = self;
        this.listener = listener;
        this.executor = executor;
    }

    /**
     * Makes those of a member, which neither listens nor dials yet. Reads the keys.
     *
     * @param transport whose threads are used; closed after this
     * @param options of these {@code frameBytes}, {@code backoffMin} and {@code backoffMax} do not
     *     count here
     * @param self who this member is; with TLS its certificate bears the service's name
     * @param listener hears of links
     * @param executor runs the listener, one call at a time in the order given; where it throws
     *     {@link java.util.concurrent.RejectedExecutionException} the link ends
     * @throws IOException where the keys cannot be used; says which file and what to do
     * @throws IllegalArgumentException where a name is too long or not printable
     */
    public static GroupLinks open(
            Transport transport,
            NetOptions options,
            GroupFrame.Hello self,
            GroupListener listener,
            Executor executor)
            throws IOException {
        FrameFields.nameBytes("group", self.group());
        FrameFields.nameBytes("service", self.member());
        Optional<TlsIdentity> tls = TlsIdentity.ofService(self.member(), options.tls());
        return new GroupLinks(transport, options, self, tls, listener, executor);
    }

    /**
     * Keeps a link with the member that coordinates from now on, dialling again whenever it is
     * lost, after 20 ms at first, 500 ms at most. {@link #leave} ends it.
     *
     * @param member name of its service; who else answers there is refused
     * @throws IllegalArgumentException where the port is 0
     */
    public void dial(String member, Address address) {
        follow(member, Optional.of(address));
    }

    @Override
    protected GroupConnection wire(
            Wire.Owner owner, Channel channel, String wanted, String remote) {
        return new GroupConnection(
                self, options, listener, executor, owner, channel, wanted, remote);
    }

    @Override
    protected void build(SocketChannel channel, GroupConnection connection) {
        channel.pipeline().addLast(connection.decoder());
    }
}
