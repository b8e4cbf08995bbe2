package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.saucr.services.core.Frame;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Wire;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** One connection without a network, on the test's thread. */
class ConnectionTest {

    private final NetOptions options = NetOptions.plain();
    private final FrameCodec codec = new FrameCodec(options.frameBytes());
    private final UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(false);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Network network = new Network();
    private final List<String> told = new ArrayList<>();
    private final List<String> ends = new ArrayList<>();
    private final AtomicLong unsentOfAll = new AtomicLong();
    private final Connection connection =
            new Connection(
                    "bank",
                    false,
                    options,
                    codec,
                    new Listener(),
                    Runnable::run,
                    unsentOfAll,
                    new Owner(),
                    channel,
                    null,
                    "nowhere:1");

    /** Takes what is written, or fails to. */
    private static final class Network extends ChannelOutboundHandlerAdapter {

        private RuntimeException failure;
        private boolean takesNothing;
        private final List<ByteBuf> waiting = new ArrayList<>();
        private int writes;

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise done) {
            ByteBuf bytes = (ByteBuf) message;
            writes++;
            if (takesNothing) {
                waiting.add(bytes);
                return;
            }
            bytes.release();
            if (failure == null) {
                done.setSuccess();
            } else {
                done.setFailure(failure);
            }
        }
    }

    private final class Listener implements LinkListener {
        @Override
        public void up(Connection link) {
            told.add("up");
        }

        @Override
        public void frame(Connection link, Frame frame) {
            told.add(frame.getClass().getSimpleName());
        }

        @Override
        public void down(Connection link, String reason) {
            told.add(reason);
        }
    }

    private final class Owner implements Wire.Owner {
        @Override
        public void begun() {}

        @Override
        public String known() {
            return null;
        }

        @Override
        public void ended(String reason) {
            ends.add(reason);
        }
    }

    private void greet() {
        channel.config().setAllocator(memory);
        channel.pipeline().addLast(network, new SignalDecoder(codec), connection.handler());
        channel.pipeline().fireChannelActive();
        channel.writeInbound(codec.preface(false, Duration.ofSeconds(3), "bank", memory));
        channel.writeInbound(codec.write(Side.hello("shop"), memory));
        assertThat(told).containsExactly("up", "Hello");
    }

    /** Else the peer would wait for the frame that is missing, and hold all later ones (K7). */
    @Test
    void aFrameThatCannotBeSentEndsTheConnection() {
        greet();
        network.failure = new IllegalStateException("no memory is left");
        connection.send(new Frame.Ack(1, 1));
        channel.runPendingTasks();
        String reason =
                "the connection with shop at nowhere:1 failed on this side:"
                        + " java.lang.IllegalStateException: no memory is left";
        assertThat(told).containsExactly("up", "Hello", reason);
        assertThat(ends).containsExactly(reason);
        assertThat(channel.isOpen()).isFalse();
        connection.send(new Frame.Ack(2, 1));
        channel.finishAndReleaseAll();
        assertThat(memory.metric().usedHeapMemory()).isZero();
    }

    @Test
    void whatIsQueuedLeavesByOneWrite() {
        greet();
        network.writes = 0;
        assertThat(connection.queue(new Frame.Ack(1, 1))).isTrue();
        assertThat(connection.queue(Side.message(1, 10))).isFalse();
        assertThat(network.writes).isZero();
        connection.flush();
        connection.flush();
        assertThat(network.writes).isEqualTo(1);
        // Behind a large one nothing is queued, as it would be copied.
        Frame.Msg large = Side.message(2, 60 << 10);
        assertThat(connection.queue(large)).isTrue();
        assertThat(connection.queue(large)).isTrue();
        assertThat(network.writes).isEqualTo(2);
        Frame.Msg tooLarge = Side.message(3, options.frameBytes());
        assertThatThrownBy(() -> connection.queue(tooLarge))
                .isInstanceOf(IllegalArgumentException.class);
        connection.flush();
        assertThat(network.writes).isEqualTo(3);
        assertThatThrownBy(() -> connection.queue(tooLarge))
                .isInstanceOf(IllegalArgumentException.class);
        connection.flush();
        assertThat(network.writes).isEqualTo(3);
        channel.finishAndReleaseAll();
        assertThat(memory.metric().usedHeapMemory()).isZero();
    }

    @Test
    void whatWaitsOverAllConnectionsEndsThoseThatHaveMuchWaiting() {
        greet();
        network.takesNothing = true;
        // As if other connections had as much waiting as is allowed.
        unsentOfAll.set(4 * options.unsentBytes());
        Frame.Msg small = Side.message(1, 10);
        // One frame may be as large as it likes, and a sixteenth is everyone's.
        connection.send(Side.message(1, options.bodyBytes()));
        connection.send(small);
        assertThat(told).hasSize(2);
        while (told.size() == 2 && network.waiting.size() < 100) {
            connection.send(Side.message(1, 60 << 10));
        }
        assertThat(network.waiting.size()).isBetween(3, 20);
        assertThat(told.get(2))
                .startsWith("shop at nowhere:1 takes too little: ")
                .contains(" over all connections, and unsentBytes is " + options.unsentBytes());
        assertThat(unsentOfAll.get()).isGreaterThan(4 * options.unsentBytes());
        network.waiting.forEach(ByteBuf::release);
        channel.finishAndReleaseAll();
        assertThat(memory.metric().usedHeapMemory()).isZero();
    }

    @Test
    void whatCameBeforeABadFrameIsTold() {
        greet();
        ByteBuf read = memory.buffer();
        for (int number = 1; number <= 100; number++) {
            ByteBuf one = codec.write(new Frame.Ack(number, 1), memory);
            read.writeBytes(one);
            one.release();
        }
        read.writeInt(1).writeByte(99);
        channel.writeInbound(read);
        assertThat(told.subList(2, told.size() - 1)).hasSize(100).containsOnly("Ack");
        assertThat(told.get(told.size() - 1)).contains("no frame of kind 99");
        channel.finishAndReleaseAll();
    }

    @Test
    void theLimitOfWhatIsUnsentIsExactAndLeavesNothing() {
        greet();
        network.takesNothing = true;
        Frame.Msg largest = Side.message(1, options.bodyBytes());
        ByteBuf one = codec.write(largest, memory);
        int bytes = one.readableBytes();
        one.release();
        int fits = (int) (options.unsentBytes() / bytes);
        assertThat(fits).isGreaterThan(8);
        for (int i = 0; i < fits; i++) {
            connection.send(largest);
            // What was written is kept as a number only: this is about counting.
            network.waiting.remove(network.waiting.size() - 1).release();
        }
        assertThat(told).hasSize(2);
        connection.send(largest);
        assertThat(told.get(2))
                .startsWith("shop at nowhere:1 takes too little: " + (long) fits * bytes)
                .endsWith("unsentBytes is " + options.unsentBytes());
        network.waiting.forEach(ByteBuf::release);
        channel.finishAndReleaseAll();
        assertThat(memory.metric().usedHeapMemory()).isZero();
    }
}
