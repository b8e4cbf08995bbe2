package io.saucr.services.group;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.saucr.services.wire.BadFrameException;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsIdentity;
import io.saucr.services.wire.Wire;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * One connection of a group, from the first byte on. The listener hears of it once both sides have
 * said who they are and found each other right. Each side says something at least four times in
 * {@link NetOptions#silence}.
 */
final class GroupConnection extends Wire<GroupConnection.Arrived> implements GroupLink {

    /** What a frame takes in memory, roughly, apart from its bytes. */
    private static final long OBJECT_BYTES = 128;

    private static final int TICKS = 4;

    /** A frame that the listener has not yet taken. */
    record Arrived(GroupFrame frame, long bytes) {}

    private final GroupFrame.Hello self;
    private final GroupListener listener;
    private final String wanted;
    private final Duration tick;
    private volatile GroupFrame.Hello hello;
    private boolean prefaced;
    private boolean spoke;
    private ScheduledFuture<?> next;

    /**
     * Takes over a channel, whose pipeline ends with {@link #decoder} and {@link #handler}.
     *
     * @param wanted the member that was dialled; null where it was accepted
     * @param remote host and port, for people
     */
    GroupConnection(
            GroupFrame.Hello self,
            NetOptions options,
            GroupListener listener,
            Executor executor,
            Owner owner,
            Channel channel,
            String wanted,
            String remote) {
        super(options, executor, owner, channel, wanted != null, remote, 0);
        this.self = self;
        this.listener = listener;
        this.wanted = wanted;
        this.tick = options.silence().dividedBy(TICKS);
    }

    @Override
    public GroupFrame.Hello hello() {
        return hello;
    }

    @Override
    public void send(GroupFrame frame) {
        boolean mine =
                dialled() ? frame instanceof GroupFrame.Up : frame instanceof GroupFrame.Down;
        if (!mine) {
            throw new IllegalArgumentException(
                    (dialled() ? "a member" : "a coordinator")
                            + " does not send "
                            + frame.getClass().getSimpleName());
        }
        if (isOver()) {
            return;
        }
        ByteBuf bytes = GroupCodec.write(frame, channel.alloc());
        long counted = bytes.readableBytes() + OBJECT_BYTES;
        if (waits(counted) < 0) {
            bytes.release();
            return;
        }
        channel.eventLoop()
                .execute(
                        () -> {
                            spoke = true;
                            written(channel.writeAndFlush(bytes), () -> sent(counted));
                        });
    }

    /** Cuts bytes into frames; drops everything behind the first bad one. */
    ByteToMessageDecoder decoder() {
        return new ByteToMessageDecoder() {

            private boolean preface = true;
            private boolean bad;

            @Override
            public void channelRead(ChannelHandlerContext context, Object message)
                    throws Exception {
                heard();
                super.channelRead(context, message);
            }

            @Override
            protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
                if (bad || isOver()) {
                    in.skipBytes(in.readableBytes());
                    return;
                }
                try {
                    if (preface) {
                        preface = !GroupCodec.readPreface(in);
                        return;
                    }
                    int before = in.readerIndex();
                    boolean known = hello != null;
                    GroupFrame frame =
                            GroupCodec.read(
                                    in,
                                    known ? GroupCodec.MOST_BYTES : GroupCodec.MOST_BYTES_BEFORE);
                    if (frame != null) {
                        out.add(new Arrived(frame, in.readerIndex() - before + OBJECT_BYTES));
                    }
                } catch (BadFrameException e) {
                    bad = true;
                    in.skipBytes(in.readableBytes());
                    throw e;
                }
            }
        };
    }

    @Override
    protected void begin() {
        if (dialled()) {
            // So who speaks TLS, or another protocol, sees at once that this side does not.
            prefaced();
            channel.flush();
        } else {
            greet();
        }
    }

    /** Who accepts does so first: who dialled the wrong one says nothing. */
    private void greet() {
        prefaced();
        write(GroupCodec.write(self, channel.alloc()));
        channel.flush();
    }

    private void prefaced() {
        if (!prefaced) {
            prefaced = true;
            write(GroupCodec.preface(channel.alloc()));
        }
    }

    private void write(ByteBuf bytes) {
        spoke = true;
        written(channel.write(bytes), () -> {});
    }

    @Override
    protected void read(Object message) {
        Arrived arrived = (Arrived) message;
        GroupFrame frame = arrived.frame();
        if (frame instanceof GroupFrame.Sorry sorry) {
            end(who() + " ended the link: " + sorry.reason(), false);
        } else if (frame instanceof GroupFrame.Hello said) {
            said(said);
        } else if (!isUp()) {
            end(
                    who()
                            + " sent "
                            + frame.getClass().getSimpleName()
                            + " before it said who it is",
                    true);
        } else if (dialled() ? frame instanceof GroupFrame.Up : frame instanceof GroupFrame.Down) {
            end(
                    who()
                            + " sent "
                            + frame.getClass().getSimpleName()
                            + ", which only "
                            + (dialled() ? "a member sends" : "a coordinator sends"),
                    true);
        } else if (!(frame instanceof GroupFrame.Heartbeat)) {
            arrived(arrived, arrived.bytes());
        }
    }

    private void said(GroupFrame.Hello said) {
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
            greet();
        }
        come();
        if (isUp()) {
            tick();
        }
    }

    /** Why the other side is none to talk to, or null. */
    private String wrong(GroupFrame.Hello said) {
        if (!said.group().equals(self.group())) {
            return "at "
                    + remote()
                    + " is a member of the group "
                    + said.group()
                    + ", and this one is of "
                    + self.group()
                    + ": correct the address";
        }
        if (wanted != null && !said.member().equals(wanted)) {
            return wanted
                    + " was wanted at "
                    + remote()
                    + ", and "
                    + said.member()
                    + " answers there";
        }
        if (said.member().equals(self.member()) && !said.start().equals(self.start())) {
            return "at "
                    + remote()
                    + " another process says that it is "
                    + self.member()
                    + ", as this one does: its folder is a copy, or this start is over";
        }
        if (ssl() != null) {
            Set<String> names = TlsIdentity.names(TlsIdentity.certificate(ssl()));
            if (!names.contains(said.member())) {
                return "the certificate of "
                        + said.member()
                        + " at "
                        + remote()
                        + " names "
                        + names
                        + ": a member's certificate bears the service's name, as common name or"
                        + " DNS name";
            }
        }
        return null;
    }

    private void tick() {
        if (isOver()) {
            return;
        }
        if (!isPaused() && silentTicks++ >= TICKS) {
            silent(tick.multipliedBy(TICKS).toMillis());
            return;
        }
        if (!spoke) {
            write(GroupCodec.write(new GroupFrame.Heartbeat(), channel.alloc()));
            channel.flush();
        }
        spoke = false;
        next = channel.eventLoop().schedule(this::tick, tick.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    protected void take(List<Arrived> frames) {
        for (Arrived each : frames) {
            try {
                if (each.frame() instanceof GroupFrame.Up up) {
                    listener.heard(this, up);
                } else if (each.frame() instanceof GroupFrame.Down down) {
                    listener.heard(this, down);
                }
            } finally {
                taken(each.bytes());
            }
        }
    }

    @Override
    protected void tellUp() {
        listener.up(this);
    }

    @Override
    protected void tellWritable() {}

    @Override
    protected void tellDown(String reason) {
        listener.down(this, reason);
    }

    @Override
    protected void drop() {
        if (next != null) {
            next.cancel(false);
        }
    }

    @Override
    protected ByteBuf goodbye(String reason) {
        if (ssl() != null && !ssl().handshakeFuture().isSuccess()) {
            return null;
        }
        prefaced();
        return GroupCodec.write(new GroupFrame.Sorry(reason), channel.alloc());
    }

    @Override
    protected String early() {
        return hello == null ? " before it said who it is" : "";
    }

    @Override
    protected String doubt() {
        return hello != null || !dialled()
                ? ""
                : "; is that the port of a group's member, and does it use TLS as this side does?";
    }

    @Override
    protected String who() {
        String name = hello == null ? wanted : hello.member();
        return name == null
                ? "somebody at " + remote()
                : FrameFields.printable(name) + " at " + remote();
    }
}
