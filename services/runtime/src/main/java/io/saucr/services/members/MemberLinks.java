package io.saucr.services.members;

import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.wire.Endpoint;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsIdentity;
import io.saucr.services.wire.Transport;
import io.saucr.services.wire.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;

/** All links of one member with others of its service. Any thread. */
public final class MemberLinks extends Endpoint<MemberConnection> {

    /** Of all that members send to each other: {@link MemberFrame.Hello#format}. */
    public static final int FORMAT = 1;

    /** Once more than this waits to be sent on a link, {@link MemberListener#writable} is told. */
    public static final long WRITABLE_BYTES = 1 << 20;

    private static final Duration BACKOFF_MIN = Duration.ofMillis(20);
    private static final Duration BACKOFF_MAX = Duration.ofMillis(500);

    /**
     * A heartbeat waits for no more than the second of them, and what the system's socket holds.
     */
    private static final WriteBufferWaterMark WATER_MARK =
            new WriteBufferWaterMark(64 << 10, 256 << 10);

    private static final Pattern MEMBER = Pattern.compile("[0-9a-f]{16}");

    private final MemberFrame.Hello self;
    private final MemberListener listener;
    private final Executor executor;
    private final HeartbeatSource heartbeats;
    private final MemberCodec codec;

    /** Under the lock. */
    private Optional<Birth> birth;

    private MemberLinks(
            Transport transport,
            NetOptions options,
            MemberFrame.Hello self,
            Optional<TlsIdentity> tls,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats) {
        super(
                transport,
                "member " + self.member() + " of " + self.service(),
                options,
                tls,
                new Random(),
                BACKOFF_MIN,
                BACKOFF_MAX);
        this.self = self;
        this.listener = listener;
        this.executor = executor;
        this.heartbeats = heartbeats;
        this.codec = new MemberCodec(self.format());
        this.birth = self.birth();
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
     * @param heartbeats asked every 50 ms for each link
     * @throws IOException where the keys cannot be used; says which file and what to do
     * @throws IllegalArgumentException where the service's name is too long or not printable
     */
    public static MemberLinks open(
            Transport transport,
            NetOptions options,
            MemberFrame.Hello self,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats)
            throws IOException {
        FrameFields.nameBytes("service", self.service());
        Optional<TlsIdentity> tls = TlsIdentity.ofService(self.service(), options.tls());
        return new MemberLinks(transport, options, self, tls, listener, executor, heartbeats);
    }

    /**
     * The service's birth has become known to this member: from now on its hello bears it, and
     * links with members of another birth end.
     *
     * @throws IllegalStateException where another one was known
     */
    public void birth(Birth birth) {
        synchronized (this) {
            if (this.birth.isPresent() && !this.birth.get().equals(birth)) {
                throw new IllegalStateException(
                        "this member belongs to generation "
                                + this.birth.get()
                                + ", not to "
                                + birth);
            }
        }
        bornAnew(birth);
    }

    /** The same where it replaced the one that was known (C17). */
    public void bornAnew(Birth birth) {
        Map<MemberConnection, String> wrong = new HashMap<>();
        synchronized (this) {
            this.birth = Optional.of(birth);
            for (MemberConnection link : known()) {
                String reason = link.hello() == null ? null : wrong(link);
                if (reason != null) {
                    wrong.put(link, reason);
                }
            }
        }
        wrong.forEach(MemberConnection::close);
    }

    /**
     * Keeps a link with a member from now on, dialling again whenever it is lost, after 20 ms at
     * first, 500 ms at most. Told again, it follows the member to another address.
     *
     * @param member 16 hexadecimal digits; who else answers there is refused
     * @throws IllegalArgumentException where the port is 0, or that is no member
     */
    public void dial(String member, Address address) {
        if (!MEMBER.matcher(member).matches()) {
            throw new IllegalArgumentException(
                    "a member is 16 hexadecimal digits in lower case, not \"" + member + "\"");
        }
        follow(member, Optional.of(address));
    }

    @Override
    protected MemberConnection wire(
            Wire.Owner owner, Channel channel, String wanted, String remote) {
        return new MemberConnection(
                self,
                options,
                codec,
                listener,
                executor,
                heartbeats,
                this::now,
                owner,
                channel,
                wanted,
                remote);
    }

    private synchronized Optional<Birth> now() {
        return birth;
    }

    @Override
    protected void build(SocketChannel channel, MemberConnection connection) {
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        channel.pipeline().addLast(connection.decoder());
    }

    @Override
    protected String wrong(MemberConnection connection) {
        return connection.wrongBirth(birth);
    }
}
