package io.saucr.services.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Count;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Mark;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Vertex;
import io.saucr.services.wire.BadFrameException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;

/**
 * Malformed streams of bytes against the decoder: {@code FrameFuzz RUNS SEED}. Each run writes some
 * frames, spoils the bytes, and hands them over in pieces. The decoder must give signals, or wait,
 * or end with a reason, and never hold more than a frame and what was handed over; anything else
 * throws here, naming the run's seed.
 */
public final class FrameFuzz {

    static final int FRAME_BYTES = 4096;

    /** What became of the runs. */
    static final class Outcomes {
        int ended;
        int unharmed;
        int signals;
    }

    private final FrameCodec codec = new FrameCodec(FRAME_BYTES);

    public static void main(String[] args) {
        int runs = Integer.parseInt(args[0]);
        long seed = Long.parseLong(args[1]);
        Outcomes outcomes = new FrameFuzz().run(runs, seed);
        System.out.println(
                runs
                        + " streams from seed "
                        + seed
                        + ": "
                        + outcomes.ended
                        + " ended with a reason, "
                        + outcomes.unharmed
                        + " gave signals only or wait for more; "
                        + outcomes.signals
                        + " signals");
    }

    Outcomes run(int runs, long seed) {
        Outcomes outcomes = new Outcomes();
        for (int run = 0; run < runs; run++) {
            try {
                one(new Random(seed + run), outcomes);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + (seed + run), e);
            }
        }
        return outcomes;
    }

    private void one(Random random, Outcomes outcomes) {
        byte[] bytes = spoil(stream(random), random);
        EmbeddedChannel channel = new EmbeddedChannel(new SignalDecoder(codec));
        boolean ended = false;
        int at = 0;
        while (at < bytes.length) {
            int piece = Math.min(1 + random.nextInt(600), bytes.length - at);
            try {
                channel.writeInbound(Unpooled.copiedBuffer(bytes, at, piece));
            } catch (DecoderException e) {
                ended = reason(e, ended);
            }
            at += piece;
            checkHeld(channel, piece);
        }
        for (Object in = channel.readInbound(); in != null; in = channel.readInbound()) {
            if (!(in instanceof Signal)) {
                throw new AssertionError("no signal: " + in);
            }
            outcomes.signals++;
        }
        try {
            channel.finishAndReleaseAll();
        } catch (DecoderException e) {
            ended = reason(e, ended);
        }
        if (ended) {
            outcomes.ended++;
        } else {
            outcomes.unharmed++;
        }
    }

    private static boolean reason(DecoderException e, boolean ended) {
        if (!(e.getCause() instanceof BadFrameException bad) || bad.getMessage().isBlank()) {
            throw new AssertionError("an end without a reason", e);
        }
        if (ended) {
            throw new AssertionError("it ended twice", e);
        }
        return true;
    }

    /** What the decoder keeps is what may still become a frame. */
    private static void checkHeld(EmbeddedChannel channel, int piece) {
        int held = channel.pipeline().get(SignalDecoder.class).held();
        if (held > 4 + FRAME_BYTES + piece) {
            throw new AssertionError("it holds " + held + " bytes");
        }
    }

    private byte[] stream(Random random) {
        ByteBuf all = Unpooled.buffer();
        add(
                all,
                codec.preface(
                        random.nextBoolean(),
                        Duration.ofMillis(1 + random.nextInt(9999)),
                        "bank",
                        ALLOC));
        int frames = random.nextInt(6);
        for (int i = 0; i < frames; i++) {
            add(all, codec.write(frame(random), ALLOC));
        }
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        return bytes;
    }

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    private static void add(ByteBuf all, ByteBuf part) {
        all.writeBytes(part);
        part.release();
    }

    private static byte[] spoil(byte[] bytes, Random random) {
        byte[] spoiled = bytes;
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            spoiled = spoilOnce(spoiled, random);
        }
        return spoiled;
    }

    private static byte[] spoilOnce(byte[] bytes, Random random) {
        if (bytes.length == 0) {
            return bytes;
        }
        int at = random.nextInt(bytes.length);
        byte[] out = bytes.clone();
        switch (random.nextInt(6)) {
            case 0 -> out[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> out[at] = (byte) random.nextInt(256);
            case 2 -> {
                // A length of four bytes that may be huge or negative.
                for (int i = at; i < Math.min(at + 4, out.length); i++) {
                    out[i] = (byte) (random.nextBoolean() ? 0xFF : random.nextInt(256));
                }
            }
            case 3 -> {
                // A piece is missing.
                int end = at + random.nextInt(bytes.length - at + 1);
                out = new byte[bytes.length - (end - at)];
                System.arraycopy(bytes, 0, out, 0, at);
                System.arraycopy(bytes, end, out, at, bytes.length - end);
            }
            case 4 -> {
                // Noise in between.
                byte[] noise = new byte[random.nextInt(200)];
                random.nextBytes(noise);
                out = new byte[bytes.length + noise.length];
                System.arraycopy(bytes, 0, out, 0, at);
                System.arraycopy(noise, 0, out, at, noise.length);
                System.arraycopy(bytes, at, out, at + noise.length, bytes.length - at);
            }
            default -> random.nextBytes(out);
        }
        return out;
    }

    /** Any frame that may be sent. */
    static Frame frame(Random random) {
        return switch (random.nextInt(12)) {
            case 0 ->
                    new Frame.Hello(
                            name(random),
                            new Incarnation(
                                    birth(random), 1 + number(random) / 2, random.nextLong()),
                            random.nextBoolean() ? Optional.of(birth(random)) : Optional.empty(),
                            Frame.PairState.values()[random.nextInt(3)],
                            count(random),
                            count(random),
                            count(random));
            case 1 -> message(random);
            case 10 ->
                    new Frame.Tagged(
                            new Vertex(
                                    random.nextInt(GroupHead.MOST_MEMBERS),
                                    1 + number(random) / 2,
                                    number(random)),
                            message(random));
            case 2 -> new Frame.Ack(number(random), random.nextInt(Integer.MAX_VALUE));
            case 3 -> new Frame.Refused(number(random), text(random));
            case 4 -> new Frame.Gone(birth(random));
            case 5 -> new Frame.Ask(number(random), body(random));
            case 6 -> new Frame.Early(number(random), mark(random), body(random));
            case 7 -> new Frame.Covered(mark(random));
            case 9 -> new Frame.Seen(mark(random));
            case 8 -> new Frame.Past(epochs(random));
            default ->
                    new Frame.Answer(
                            number(random),
                            random.nextBoolean() ? Optional.of(body(random)) : Optional.empty());
        };
    }

    private static Frame.Msg message(Random random) {
        return new Frame.Msg(
                1 + number(random) / 2,
                number(random),
                random.nextBoolean() ? Optional.of(text(random)) : Optional.empty(),
                body(random));
    }

    private static Mark mark(Random random) {
        return new Mark(1 + number(random) / 2, number(random));
    }

    private static Epochs epochs(Random random) {
        Epochs all = Epochs.NONE;
        for (int i = random.nextInt(20); i > 0; i--) {
            long after =
                    all.begun().isEmpty() ? 0 : all.begun().get(all.begun().size() - 1).after();
            all =
                    all.with(
                            new Epochs.Begun(
                                    all.newest() + 1 + random.nextInt(3),
                                    after + random.nextInt(100)));
        }
        return all;
    }

    private static long number(Random random) {
        return random.nextLong() >>> (1 + random.nextInt(62));
    }

    private static Birth birth(Random random) {
        return new Birth(random.nextLong(), random.nextLong());
    }

    private static Count count(Random random) {
        return new Count(number(random), number(random), random.nextLong());
    }

    private static String name(Random random) {
        return "näme-" + "x".repeat(random.nextInt(100));
    }

    private static String text(Random random) {
        return "why: ∞\n" + "y".repeat(random.nextInt(200));
    }

    private static Body body(Random random) {
        byte[] bytes = new byte[random.nextInt(1000)];
        random.nextBytes(bytes);
        return new Body(name(random), bytes);
    }
}
