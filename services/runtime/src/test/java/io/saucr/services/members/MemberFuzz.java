package io.saucr.services.members;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.wire.BadFrameException;
import io.saucr.services.wire.CheckedFrames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

/**
 * Malformed streams of bytes against the decoder: {@code MemberFuzz RUNS SEED}. Each run writes
 * some frames, spoils the bytes, with every second one's checksums put right, and hands them over
 * in pieces. The decoder must give frames, or wait, or end with a reason; what came before the
 * spoilt place must come as it was; and it must never hold more than what arrived explains.
 * Anything else throws here, naming the run's seed.
 */
public final class MemberFuzz {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    /** What became of the runs. */
    static final class Outcomes {
        int ended;
        int unharmed;
        int frames;
    }

    private final MemberCodec codec = new MemberCodec(MemberLinks.FORMAT);

    public static void main(String[] args) {
        int runs = Integer.parseInt(args[0]);
        long seed = Long.parseLong(args[1]);
        Outcomes outcomes = new MemberFuzz().run(runs, seed);
        System.out.println(
                runs
                        + " streams from seed "
                        + seed
                        + ": "
                        + outcomes.ended
                        + " ended with a reason, "
                        + outcomes.unharmed
                        + " gave frames only or wait for more; "
                        + outcomes.frames
                        + " frames");
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
        List<MemberFrame> frames = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        byte[] whole = stream(random, frames, ends);
        byte[] bytes = whole.clone();
        for (int left = random.nextInt(3); left > 0; left--) {
            bytes = spoil(bytes, random);
        }
        int same = 0;
        while (same < Math.min(whole.length, bytes.length) && whole[same] == bytes[same]) {
            same++;
        }
        if (random.nextBoolean()) {
            mend(bytes);
        }
        EmbeddedChannel channel = new EmbeddedChannel(new MemberDecoder(codec, () -> {}));
        boolean ended = false;
        int at = 0;
        while (at < bytes.length) {
            int piece =
                    Math.min(
                            1 + random.nextInt(random.nextInt(20) == 0 ? 99_999 : 600),
                            bytes.length - at);
            try {
                channel.writeInbound(Unpooled.copiedBuffer(bytes, at, piece));
            } catch (DecoderException e) {
                ended = reason(e, ended);
            }
            at += piece;
            checkHeld(channel, at, piece);
        }
        List<Object> got = new ArrayList<>();
        for (Object in = channel.readInbound(); in != null; in = channel.readInbound()) {
            got.add(in instanceof MemberDecoder.Collected segment ? segment.join() : in);
        }
        try {
            channel.finishAndReleaseAll();
        } catch (DecoderException e) {
            ended = reason(e, ended);
        }
        for (int i = 0; i < frames.size() && ends.get(i) <= same; i++) {
            if (got.size() <= i || !got.get(i).equals(frames.get(i))) {
                throw new AssertionError("frame " + i + " was not spoilt, and is not there");
            }
        }
        outcomes.frames += got.size();
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

    private static void checkHeld(EmbeddedChannel channel, int arrived, int piece) {
        int held = channel.pipeline().get(MemberDecoder.class).held();
        int most = 4 + MemberCodec.MOST_BYTES + piece + MemberDecoder.CHUNK_BYTES + arrived;
        if (held > most) {
            throw new AssertionError("it holds " + held + " bytes, of " + arrived);
        }
    }

    private byte[] stream(Random random, List<MemberFrame> frames, List<Integer> ends) {
        ByteBuf all = Unpooled.buffer();
        add(all, codec.preface(ALLOC));
        int count = random.nextInt(6);
        for (int i = 0; i < count; i++) {
            MemberFrame frame = frame(random);
            if (frame instanceof MemberFrame.Segment segment) {
                ByteBuffer left = segment.bytes();
                while (left.hasRemaining()) {
                    add(all, codec.piece(left, segment.bytes().remaining(), ALLOC));
                    if (left.hasRemaining() && random.nextInt(4) == 0) {
                        MemberFrame.Heartbeat beat = heartbeat(random);
                        add(all, codec.write(beat, ALLOC));
                        frames.add(beat);
                        ends.add(all.readableBytes());
                    }
                }
            } else {
                add(all, codec.write(frame, ALLOC));
            }
            frames.add(frame);
            ends.add(all.readableBytes());
        }
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        return bytes;
    }

    private static void add(ByteBuf all, ByteBuf part) {
        all.writeBytes(part);
        part.release();
    }

    /** Puts checksums right, as far as there are frames: so that what they hold is looked at. */
    private static void mend(byte[] bytes) {
        ByteBuffer all = ByteBuffer.wrap(bytes);
        int at = CheckedFrames.PREFACE_BYTES;
        while (at + 4 <= bytes.length) {
            int length = all.getInt(at);
            if (length < 5 || length > bytes.length - at - 4) {
                return;
            }
            CRC32C crc = new CRC32C();
            crc.update(bytes, at + 4, length - 4);
            all.putInt(at + length, (int) crc.getValue());
            at += 4 + length;
        }
    }

    private static byte[] spoil(byte[] bytes, Random random) {
        // Most bytes are a segment's: the first ones are looked at more often.
        int at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(200, bytes.length));
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
                int end = at + random.nextInt(bytes.length - at);
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
    static MemberFrame frame(Random random) {
        return switch (random.nextInt(14)) {
            case 0 ->
                    new MemberFrame.Hello(
                            "bänk-" + "x".repeat(random.nextInt(100)),
                            random.nextBoolean()
                                    ? Optional.of(new Birth(random.nextLong(), random.nextLong()))
                                    : Optional.empty(),
                            HexFormat.of().toHexDigits(random.nextLong()),
                            random.nextLong(),
                            MemberLinks.FORMAT);
            case 1 -> new MemberFrame.Follow(segmentId(random), number(random));
            case 2, 3 -> new MemberFrame.Segment(bytes(random, 300_000));
            case 4 -> new MemberFrame.Base(1 + number(random), number(random), digest(random));
            case 5 -> new MemberFrame.BasePart(bytes(random, MemberFrame.BASE_PART_BYTES));
            case 6 -> new MemberFrame.BaseEnd();
            case 7 -> new MemberFrame.Committed(segmentId(random));
            case 8 -> heartbeat(random);
            case 9 -> new MemberFrame.Written(1 + number(random));
            case 10 -> new MemberFrame.Stored(1 + number(random));
            case 11 -> {
                long from = 1 + number(random) / 2;
                yield new MemberFrame.Fetch(from, from + number(random) / 2);
            }
            case 12 -> new MemberFrame.NeedsBase(1 + number(random));
            default ->
                    random.nextBoolean()
                            ? new MemberFrame.Missing(1 + number(random), text(random))
                            : new MemberFrame.Sorry(text(random));
        };
    }

    private static MemberFrame.Heartbeat heartbeat(Random random) {
        return new MemberFrame.Heartbeat(number(random), number(random));
    }

    private static long number(Random random) {
        return random.nextLong() >>> (2 + random.nextInt(61));
    }

    private static SegmentId segmentId(Random random) {
        return random.nextInt(4) == 0
                ? SegmentId.NONE
                : new SegmentId(1 + number(random), 1 + number(random), digest(random));
    }

    private static String digest(Random random) {
        byte[] digest = new byte[32];
        random.nextBytes(digest);
        return HexFormat.of().formatHex(digest);
    }

    private static ByteBuffer bytes(Random random, int most) {
        byte[] bytes = new byte[1 + random.nextInt(1 + random.nextInt(most))];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private static String text(Random random) {
        return "why: ∞ " + "y".repeat(random.nextInt(200));
    }
}
