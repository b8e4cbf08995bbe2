package io.saucr.services.members;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import io.saucr.services.core.Birth;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.LinkFailure;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsIdentity;
import io.saucr.services.wire.Wire;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * One connection with another member, from the first byte on. The listener hears of it once both
 * sides have said who they are and found each other right.
 *
 * <p>Frames wait in a queue of its own, not in the channel, and a segment leaves it in pieces while
 * the channel is writable: so a heartbeat, or the reason for the end, waits for no more than the
 * few pieces that the channel holds.
 */
final class MemberConnection extends Wire<MemberConnection.Arrived> implements MemberLink {

    static final Duration HEARTBEAT = Duration.ofMillis(50);

    /** So much is written at once before the loop's other tasks have their turn. */
    private static final int TURN_BYTES = 512 << 10;

    /** Written to the network together. */
    private static final int FLUSH_BYTES = 64 << 10;

    /** What a small frame takes in memory, roughly: a flood of them counts, too. */
    private static final long SMALL_BYTES = 128;

    /** A heartbeat that is early by no more goes at once: the next look may be too late. */
    private static final long EARLY_NANOS = HEARTBEAT.toNanos() / 2;

    /**
     * A frame that the listener has not yet taken.
     *
     * @param frame joins a segment: on the listener's thread
     */
    record Arrived(long bytes, Supplier<MemberFrame> frame) {}

    private final MemberFrame.Hello self;
    private final MemberCodec codec;
    private final MemberDecoder decoder;
    private final MemberListener listener;
    private final HeartbeatSource heartbeats;
    private final Supplier<Optional<Birth>> birth;
    private final String wanted;
    private final long silentTicksAllowed;

    private final Queue<MemberFrame> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean pumpDue = new AtomicBoolean();
    private volatile long heardNanos = System.nanoTime();
    private volatile MemberFrame.Hello hello;
    private volatile MemberFrame.Heartbeat heartbeat;

    /** Of the listener's thread: it could not take a frame. */
    private volatile boolean failed;

    /** What is left of the segment that is being sent; null where none is. */
    private ByteBuffer left;

    private int leftOf;
    private boolean pumping;
    private boolean prefaced;
    private boolean heartbeatUnsent;
    private long heartbeatNanos;
    private ScheduledFuture<?> tick;

    /**
     * Takes over a channel, whose pipeline ends with {@link #decoder} and {@link #handler}.
     *
     * @param birth of this member, as far as it is known
     * @param wanted the member that was dialled; null where it was accepted
     * @param remote host and port, for people
     */
    MemberConnection(
            MemberFrame.Hello self,
            NetOptions options,
            MemberCodec codec,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats,
            Supplier<Optional<Birth>> birth,
            Owner owner,
            Channel channel,
            String wanted,
            String remote) {
        super(
                options,
                executor,
                owner,
                channel,
                wanted != null,
                remote,
                MemberLinks.WRITABLE_BYTES / 2);
        this.self = self;
        this.codec = codec;
        this.decoder = new MemberDecoder(codec, this::heard);
        this.listener = listener;
        this.heartbeats = heartbeats;
        this.birth = birth;
        this.wanted = wanted;
        this.silentTicksAllowed =
                (options.silence().toNanos() + HEARTBEAT.toNanos() - 1) / HEARTBEAT.toNanos();
    }

    @Override
    public MemberFrame.Hello hello() {
        return hello;
    }

    @Override
    public long unsentBytes() {
        return unsent.get();
    }

    @Override
    public void hold(long bytes) {
        // The next frame that arrives finds them, and ends reading.
        holds(bytes);
    }

    @Override
    public void release(long bytes) {
        taken(bytes);
    }

    @Override
    public long lastHeardNanos() {
        return isPaused() ? System.nanoTime() : heardNanos;
    }

    @Override
    public Optional<MemberFrame.Heartbeat> lastHeartbeat() {
        return Optional.ofNullable(heartbeat);
    }

    MemberDecoder decoder() {
        return decoder;
    }

    @Override
    public void send(MemberFrame frame) {
        if (frame instanceof MemberFrame.Hello || frame instanceof MemberFrame.Heartbeat) {
            throw new IllegalArgumentException(
                    "the link itself sends " + frame.getClass().getSimpleName());
        }
        if (frame instanceof MemberFrame.Sorry sorry) {
            close(sorry.reason());
            return;
        }
        if (isOver()) {
            return;
        }
        long bytes = bytes(frame);
        long before = waits(bytes);
        if (before < 0) {
            return;
        }
        queue.add(frame);
        if (before + bytes > MemberLinks.WRITABLE_BYTES && blocked()) {
            tell(this::tellWritable);
        }
        if (pumpDue.compareAndSet(false, true)) {
            channel.eventLoop().execute(this::pump);
        }
    }

    private static long bytes(MemberFrame frame) {
        if (frame instanceof MemberFrame.Segment segment) {
            return SMALL_BYTES + segment.bytes().remaining();
        } else if (frame instanceof MemberFrame.BasePart part) {
            return SMALL_BYTES + part.bytes().remaining();
        }
        return SMALL_BYTES;
    }

    /** Writes what waits, as far as the channel takes it. */
    private void pump() {
        pumpDue.set(false);
        if (pumping || !isUp()) {
            return;
        }
        pumping = true;
        try {
            int written = 0;
            int unflushed = 0;
            while (!isOver() && channel.isWritable() && written < TURN_BYTES) {
                heartbeatIfDue(HEARTBEAT.toNanos());
                int bytes = writeNext();
                if (bytes == 0) {
                    break;
                }
                written += bytes;
                unflushed += bytes;
                if (unflushed >= FLUSH_BYTES) {
                    channel.flush();
                    unflushed = 0;
                }
            }
            if (unflushed > 0) {
                channel.flush();
            }
            // Else channelWritabilityChanged continues.
            if (!isOver()
                    && written > 0
                    && channel.isWritable()
                    && pumpDue.compareAndSet(false, true)) {
                channel.eventLoop().execute(this::pump);
            }
        } finally {
            pumping = false;
        }
    }

    /** How many bytes it wrote; 0 where nothing waits. */
    private int writeNext() {
        if (left == null) {
            MemberFrame frame = queue.poll();
            if (frame == null) {
                return 0;
            }
            if (!(frame instanceof MemberFrame.Segment segment)) {
                long counted = bytes(frame);
                ByteBuf bytes = codec.write(frame, channel.alloc());
                int length = bytes.readableBytes();
                write(bytes, () -> sent(counted));
                return length;
            }
            left = segment.bytes();
            leftOf = left.remaining();
        }
        long before = left.remaining();
        ByteBuf bytes = codec.piece(left, leftOf, channel.alloc());
        int length = bytes.readableBytes();
        long counted = before - left.remaining();
        if (!left.hasRemaining()) {
            left = null;
            counted += SMALL_BYTES;
        }
        long taken = counted;
        write(bytes, () -> sent(taken));
        return length;
    }

    private void write(ByteBuf bytes, Runnable done) {
        written(channel.write(bytes), done);
    }

    @Override
    protected void writabilityChanged() {
        pump();
    }

    @Override
    protected void tellUp() {
        listener.up(this);
    }

    @Override
    protected void tellWritable() {
        listener.writable(this);
    }

    @Override
    protected void tellDown(String reason) {
        listener.down(this, reason);
    }

    @Override
    protected void begin() {
        if (ssl() == null && dialled()) {
            // So who speaks TLS, or another protocol, sees at once that this side does not.
            prefaced();
            channel.flush();
        } else if ((ssl() == null || isCertified()) && !dialled()) {
            greet();
        }
    }

    /** Whether the other side's certificate is of this service; else it ends. */
    private boolean isCertified() {
        X509Certificate certificate = TlsIdentity.certificate(ssl());
        Set<String> names = TlsIdentity.names(certificate);
        if (!names.contains(self.service())) {
            end(
                    "the certificate of "
                            + who()
                            + " ("
                            + FrameFields.printable(
                                    certificate.getSubjectX500Principal().toString())
                            + ") names "
                            + names
                            + ", and this is service "
                            + self.service()
                            + ": a member's certificate bears the service's name, as common name"
                            + " or DNS name",
                    // Who was dialled still looks at this side's certificate: what is sent before
                    // it has made up its mind could make it end in a way that loses its reason.
                    !dialled());
            return false;
        }
        return true;
    }

    /**
     * Says who this member is. Who accepts does so first: who dialled the wrong one says nothing.
     */
    private void greet() {
        prefaced();
        MemberFrame.Hello now =
                new MemberFrame.Hello(
                        self.service(), birth.get(), self.member(), self.nonce(), self.format());
        write(codec.write(now, channel.alloc()), () -> {});
        channel.flush();
    }

    private void prefaced() {
        if (!prefaced) {
            prefaced = true;
            write(codec.preface(channel.alloc()), () -> {});
        }
    }

    @Override
    protected void heard() {
        super.heard();
        heardNanos = System.nanoTime();
    }

    @Override
    protected void read(Object message) {
        if (message instanceof MemberDecoder.Collected segment) {
            if (isUp()) {
                frame(SMALL_BYTES + segment.length(), segment::join);
            } else {
                tooEarly("a segment");
            }
        } else if (message instanceof MemberFrame frame) {
            read(frame);
        }
    }

    private void frame(long bytes, Supplier<MemberFrame> frame) {
        arrived(new Arrived(bytes, frame), bytes);
    }

    private void tooEarly(String what) {
        end(who() + " sent " + what + " before it said who it is", true);
    }

    private void read(MemberFrame frame) {
        if (frame instanceof MemberFrame.Sorry sorry) {
            end(who() + " ended the link: " + sorry.reason(), false);
        } else if (frame instanceof MemberFrame.Hello said) {
            said(said);
        } else if (!isUp()) {
            tooEarly(frame.getClass().getSimpleName());
        } else {
            if (frame instanceof MemberFrame.Heartbeat beat) {
                heartbeat = beat;
            }
            frame(bytes(frame), () -> frame);
        }
    }

    private void said(MemberFrame.Hello said) {
        if (isUp()) {
            end(who() + " says again who it is", true);
            return;
        }
        String wrong = wrong(said);
        if (wrong != null) {
            end(wrong, true);
            return;
        }
        hello = said;
        if (dialled()) {
            // Also where it then may not stay: the other side sees for itself why.
            greet();
        }
        come();
        if (isUp()) {
            tick();
        }
    }

    /** Why the other side is none to talk to, or null. */
    private String wrong(MemberFrame.Hello said) {
        if (!said.service().equals(self.service())) {
            return "at "
                    + remote()
                    + " is a member of service "
                    + said.service()
                    + ", and this one is of "
                    + self.service()
                    + ": correct the address";
        }
        if (said.member().equals(self.member())) {
            return said.nonce() == self.nonce()
                    ? "at " + remote() + " is this member itself: correct the address"
                    : "at "
                            + remote()
                            + " another process says that it is member "
                            + self.member()
                            + ", as this one does: its folder is a copy; give it one of its own";
        }
        if (dialled() && !said.member().equals(wanted)) {
            return "member "
                    + wanted
                    + " was wanted at "
                    + remote()
                    + ", and member "
                    + said.member()
                    + " answers there";
        }
        return null;
    }

    /** Why members of these births do not talk, or null. */
    String wrongBirth(Optional<Birth> own) {
        Optional<Birth> theirs = hello.birth();
        return own.isEmpty() || theirs.isEmpty() || own.equals(theirs)
                ? null
                : who()
                        + " belongs to generation "
                        + theirs.get()
                        + " of service "
                        + self.service()
                        + ", and this one to generation "
                        + own.get()
                        + ": their folders hold different lives of the service";
    }

    @Override
    protected void take(List<Arrived> frames) {
        for (Arrived frame : frames) {
            if (failed) {
                return;
            }
            try {
                listener.frame(this, frame.frame().get());
            } catch (RuntimeException | Error e) {
                // Without this frame the listener would take the next ones for what they are not.
                failed = true;
                close(LinkFailure.reason(e, who(), "", options));
                throw e;
            }
            taken(frame.bytes());
        }
    }

    /** Each time that a heartbeat is due. */
    private void tick() {
        if (isOver()) {
            return;
        }
        if (!isPaused() && silentTicks++ >= silentTicksAllowed) {
            silent(HEARTBEAT.multipliedBy(silentTicksAllowed).toMillis());
            return;
        }
        heartbeatIfDue(HEARTBEAT.toNanos() - EARLY_NANOS);
        if (!isOver()) {
            tick =
                    channel.eventLoop()
                            .schedule(this::tick, HEARTBEAT.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void heartbeatIfDue(long afterNanos) {
        long now = System.nanoTime();
        // While one waits for the network a second would say nothing new.
        if (heartbeatUnsent || (heartbeatNanos != 0 && now - heartbeatNanos < afterNanos)) {
            return;
        }
        MemberFrame.Heartbeat beat;
        try {
            beat = heartbeats.heartbeat();
        } catch (RuntimeException e) {
            broke(e);
            return;
        }
        heartbeatNanos = now;
        heartbeatUnsent = true;
        write(codec.write(beat, channel.alloc()), () -> heartbeatUnsent = false);
        channel.flush();
    }

    @Override
    protected String early() {
        return hello == null ? " before it said who it is" : "";
    }

    @Override
    protected String doubt() {
        return hello != null || !dialled()
                ? ""
                : "; is that a member's port, and does it use TLS as this side does?";
    }

    @Override
    protected String who() {
        if (hello == null && wanted == null) {
            return "somebody at " + remote();
        }
        return "member " + (hello == null ? wanted : hello.member()) + " at " + remote();
    }

    @Override
    protected void drop() {
        if (tick != null) {
            tick.cancel(false);
        }
        decoder.stop();
        queue.clear();
        left = null;
    }

    @Override
    protected ByteBuf goodbye(String reason) {
        if (ssl() != null && !ssl().handshakeFuture().isSuccess()) {
            return null;
        }
        prefaced();
        return codec.write(new MemberFrame.Sorry(reason), channel.alloc());
    }
}
