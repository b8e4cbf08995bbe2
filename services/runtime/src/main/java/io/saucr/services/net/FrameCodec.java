package io.saucr.services.net;

import static io.saucr.services.wire.FrameFields.BIRTH_BYTES;
import static io.saucr.services.wire.FrameFields.LONGEST_NAME_BYTES;
import static io.saucr.services.wire.FrameFields.checkNameBytes;
import static io.saucr.services.wire.FrameFields.foreign;
import static io.saucr.services.wire.FrameFields.nameBytes;
import static io.saucr.services.wire.FrameFields.need;
import static io.saucr.services.wire.FrameFields.printable;
import static io.saucr.services.wire.FrameFields.readBirth;
import static io.saucr.services.wire.FrameFields.readByte;
import static io.saucr.services.wire.FrameFields.readFlag;
import static io.saucr.services.wire.FrameFields.readLong;
import static io.saucr.services.wire.FrameFields.readName;
import static io.saucr.services.wire.FrameFields.readNumber;
import static io.saucr.services.wire.FrameFields.readText;
import static io.saucr.services.wire.FrameFields.textBytes;
import static io.saucr.services.wire.FrameFields.writeBirth;
import static io.saucr.services.wire.FrameFields.writeName;
import static io.saucr.services.wire.FrameFields.writeText;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
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
import io.saucr.services.wire.CheckedFrames;
import io.saucr.services.wire.FrameFields;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The bytes of a connection. Each direction begins with a preface:
 *
 * <pre>
 * magic "SAUS" | version, 1 byte | 0 of a service, 1 of a client | keep-alive in ms, 4
 *         | service at the accepting end, a name
 * </pre>
 *
 * then frames, all numbers big-endian:
 *
 * <pre>
 * length of what follows, 4 | kind, 1 | fields
 * HELLO      name | incarnation | 0, or 1 and birth | pair, 1 | sent | acked | consumed
 * MSG        number, 8 | answers, 8 | 0, or 1 and text | type, a name | body to the end
 * ACK        number, 8 | credit, 4
 * REFUSED    request, 8 | text
 * GONE       birth
 * ASK        request, 8 | type, a name | body to the end
 * ANSWER     request, 8 | 0, or 1 and type, a name | body to the end
 * EARLY      request, 8 | epoch, 8 | turn, 8 | type, a name | body to the end
 * PAST       epoch, 8 | turn behind which it began, 8 | ... to the end, the newest last
 * COVERED    epoch, 8 | turn, 8
 * SEEN       epoch, 8 | turn, 8
 * TAGGED     member, 1 | world, 8 | version, 8 | as MSG
 * KEEPALIVE
 * GOODBYE    text
 * </pre>
 *
 * A name is two bytes of length, from 1, and printable UTF-8; a text the same and any UTF-8; a
 * birth 16 bytes; an incarnation its birth, number and nonce; a count its three numbers.
 *
 * <p>Whatever bytes arrive, reading gives a signal, asks for more, or throws {@link
 * BadFrameException}; lengths are checked before anything of that length is made. Immutable, any
 * thread.
 */
final class FrameCodec {

    static final int VERSION = 1;

    private static final int MAGIC = CheckedFrames.MAGIC_OF_SERVICES;
    private static final int LENGTH_BYTES = 4;
    private static final int PREFACE_BYTES = 4 + 1 + 1 + 4;
    private static final long LONGEST_KEEP_ALIVE_MILLIS = Duration.ofHours(1).toMillis();

    private static final int HELLO = 1;
    private static final int MSG = 2;
    private static final int ACK = 3;
    private static final int REFUSED = 4;
    private static final int GONE = 5;
    private static final int ASK = 6;
    private static final int ANSWER = 7;
    private static final int KEEPALIVE = 8;
    private static final int GOODBYE = 9;
    private static final int EARLY = 10;
    private static final int PAST = 11;
    private static final int COVERED = 12;
    private static final int SEEN = 13;
    private static final int TAGGED = 14;

    private static final int BEGUN_BYTES = 8 + 8;
    private static final int VERTEX_BYTES = 1 + 8 + 8;

    private final int frameBytes;

    /**
     * Makes a codec.
     *
     * @param frameBytes the largest frame, its length not counted
     */
    FrameCodec(int frameBytes) {
        this.frameBytes = frameBytes;
    }

    ByteBuf preface(boolean client, Duration keepAlive, String accepting, ByteBufAllocator alloc) {
        ByteBuf out = alloc.buffer(PREFACE_BYTES + 2 + LONGEST_NAME_BYTES);
        out.writeInt(MAGIC);
        out.writeByte(VERSION);
        out.writeByte(client ? 1 : 0);
        out.writeInt(Math.toIntExact(keepAlive.toMillis()));
        writeName(out, nameBytes("service", accepting));
        return out;
    }

    ByteBuf keepAlive(ByteBufAllocator alloc) {
        return begin(KEEPALIVE, 0, bytes -> alloc.buffer(bytes));
    }

    ByteBuf goodbye(String reason, ByteBufAllocator alloc) {
        byte[] text = textBytes(reason);
        ByteBuf out = begin(GOODBYE, 2 + text.length, bytes -> alloc.buffer(bytes));
        writeText(out, text);
        return out;
    }

    /**
     * Writes a frame.
     *
     * @throws IllegalArgumentException where it exceeds the limit, or a name is too long or not
     *     printable
     */
    ByteBuf write(Frame frame, ByteBufAllocator alloc) {
        return write(frame, bytes -> alloc.buffer(bytes));
    }

    /**
     * Writes a frame behind others; where it throws, nothing of it is there.
     *
     * @throws IllegalArgumentException as {@link #write(Frame, ByteBufAllocator)}
     */
    void append(Frame frame, ByteBuf out) {
        ByteBuf unused = write(frame, bytes -> out.ensureWritable(bytes));
    }

    /** Where bytes go of which is known how many they are. */
    private interface Room {
        ByteBuf of(int bytes);
    }

    private ByteBuf write(Frame frame, Room room) {
        if (frame instanceof Frame.Hello hello) {
            return write(hello, room);
        } else if (frame instanceof Frame.Msg msg) {
            return write(MSG, 0, msg, room, out -> {});
        } else if (frame instanceof Frame.Tagged tagged) {
            return write(tagged, room);
        } else if (frame instanceof Frame.Ack ack) {
            return begin(ACK, 8 + 4, room).writeLong(ack.number()).writeInt(ack.credit());
        } else if (frame instanceof Frame.Refused refused) {
            byte[] text = textBytes(refused.reason());
            ByteBuf out = begin(REFUSED, 8 + 2 + text.length, room).writeLong(refused.request());
            writeText(out, text);
            return out;
        } else if (frame instanceof Frame.Gone gone) {
            ByteBuf out = begin(GONE, BIRTH_BYTES, room);
            writeBirth(out, gone.birth());
            return out;
        } else if (frame instanceof Frame.Ask ask) {
            byte[] type = nameBytes("type", ask.body().type());
            ByteBuf out = begin(ASK, 8 + 2 + type.length, ask.body(), room);
            out.writeLong(ask.request());
            writeBody(out, type, ask.body());
            return out;
        } else if (frame instanceof Frame.Answer answer) {
            return write(answer, room);
        } else if (frame instanceof Frame.Early early) {
            byte[] type = nameBytes("type", early.body().type());
            ByteBuf out = begin(EARLY, 8 + 8 + 8 + 2 + type.length, early.body(), room);
            out.writeLong(early.request());
            writeMark(out, early.mark());
            writeBody(out, type, early.body());
            return out;
        } else if (frame instanceof Frame.Past past) {
            return write(past, room);
        } else if (frame instanceof Frame.Covered covered) {
            ByteBuf out = begin(COVERED, 8 + 8, room);
            writeMark(out, covered.upTo());
            return out;
        } else if (frame instanceof Frame.Seen seen) {
            ByteBuf out = begin(SEEN, 8 + 8, room);
            writeMark(out, seen.newest());
            return out;
        }
        throw new IllegalArgumentException("no kind of frame: " + frame);
    }

    private ByteBuf write(Frame.Hello hello, Room room) {
        byte[] name = nameBytes("service", hello.name());
        int birth = hello.to().isPresent() ? BIRTH_BYTES : 0;
        ByteBuf out =
                begin(HELLO, 2 + name.length + BIRTH_BYTES + 16 + 1 + birth + 1 + 3 * 24, room);
        writeName(out, name);
        writeBirth(out, hello.from().birth());
        out.writeLong(hello.from().number());
        out.writeLong(hello.from().nonce());
        out.writeByte(hello.to().isPresent() ? 1 : 0);
        hello.to().ifPresent(to -> writeBirth(out, to));
        out.writeByte(
                switch (hello.pair()) {
                    case NEW -> 0;
                    case OPENED -> 1;
                    case KNOWN -> 2;
                });
        writeCount(out, hello.sent());
        writeCount(out, hello.acked());
        writeCount(out, hello.consumed());
        return out;
    }

    private ByteBuf write(Frame.Tagged tagged, Room room) {
        Vertex of = tagged.of();
        return write(
                TAGGED,
                VERTEX_BYTES,
                tagged.message(),
                room,
                out -> out.writeByte(of.member()).writeLong(of.world()).writeLong(of.version()));
    }

    private ByteBuf write(
            int kind, int before, Frame.Msg msg, Room room, Consumer<ByteBuf> writesBefore) {
        byte[] type = nameBytes("type", msg.body().type());
        byte[] refusal = msg.refusal().map(FrameFields::textBytes).orElse(null);
        int fields =
                before + 8 + 8 + 1 + (refusal == null ? 0 : 2 + refusal.length) + 2 + type.length;
        ByteBuf out = begin(kind, fields, msg.body(), room);
        writesBefore.accept(out);
        out.writeLong(msg.number());
        out.writeLong(msg.answers());
        out.writeByte(refusal == null ? 0 : 1);
        if (refusal != null) {
            writeText(out, refusal);
        }
        writeBody(out, type, msg.body());
        return out;
    }

    private ByteBuf write(Frame.Answer answer, Room room) {
        if (answer.body().isEmpty()) {
            return begin(ANSWER, 8 + 1, room).writeLong(answer.request()).writeByte(0);
        }
        Body body = answer.body().get();
        byte[] type = nameBytes("type", body.type());
        ByteBuf out = begin(ANSWER, 8 + 1 + 2 + type.length, body, room);
        out.writeLong(answer.request());
        out.writeByte(1);
        writeBody(out, type, body);
        return out;
    }

    /** The newest epochs that a frame takes: who knows an older one has lost all of it. */
    private ByteBuf write(Frame.Past past, Room room) {
        List<Epochs.Begun> all = past.epochs().begun();
        int most = (frameBytes - 1) / BEGUN_BYTES;
        List<Epochs.Begun> newest = all.subList(Math.max(0, all.size() - most), all.size());
        ByteBuf out = begin(PAST, newest.size() * BEGUN_BYTES, room);
        for (Epochs.Begun each : newest) {
            out.writeLong(each.epoch());
            out.writeLong(each.after());
        }
        return out;
    }

    private static void writeMark(ByteBuf out, Mark mark) {
        out.writeLong(mark.epoch());
        out.writeLong(mark.turn());
    }

    private ByteBuf begin(int kind, int fields, Body body, Room room) {
        if (body.bytes().length > frameBytes - 1 - fields) {
            throw new IllegalArgumentException(
                    "a message of type "
                            + body.type()
                            + " has "
                            + body.bytes().length
                            + " bytes, and a frame takes "
                            + (frameBytes - 1 - fields)
                            + ": send less, or raise frameBytes on both sides");
        }
        return begin(kind, fields + body.bytes().length, room);
    }

    private static ByteBuf begin(int kind, int fields, Room room) {
        ByteBuf out = room.of(LENGTH_BYTES + 1 + fields);
        out.writeInt(1 + fields);
        out.writeByte(kind);
        return out;
    }

    private static void writeBody(ByteBuf out, byte[] type, Body body) {
        writeName(out, type);
        out.writeBytes(body.bytes());
    }

    private static void writeCount(ByteBuf out, Count count) {
        out.writeLong(count.number());
        out.writeLong(count.incarnation());
        out.writeLong(count.nonce());
    }

    /**
     * Reads the preface.
     *
     * @return null where bytes are missing; nothing was taken then
     */
    Signal.Preface readPreface(ByteBuf in) {
        int start = in.readerIndex();
        if (in.readableBytes() < LENGTH_BYTES) {
            return null;
        }
        int magic = in.getInt(start);
        if (magic != MAGIC) {
            throw new BadFrameException(foreign(magic));
        }
        // The version before the rest, as of another one the rest may be shorter.
        if (in.readableBytes() < 4 + 1) {
            return null;
        }
        int version = in.getUnsignedByte(start + 4);
        if (version != VERSION) {
            throw new BadFrameException(
                    "it speaks version "
                            + version
                            + " of the protocol, this side version "
                            + VERSION
                            + ": run releases that share one");
        }
        if (in.readableBytes() < PREFACE_BYTES + 2) {
            return null;
        }
        int client = in.getUnsignedByte(start + 5);
        if (client > 1) {
            throw new BadFrameException("it is a service (0) or a client (1), not " + client);
        }
        long keepAliveMillis = in.getUnsignedInt(start + 6);
        if (keepAliveMillis < 1 || keepAliveMillis > LONGEST_KEEP_ALIVE_MILLIS) {
            throw new BadFrameException(
                    "its keep-alive is from 1 to "
                            + LONGEST_KEEP_ALIVE_MILLIS
                            + " ms, not "
                            + keepAliveMillis);
        }
        int nameBytes = in.getUnsignedShort(start + PREFACE_BYTES);
        checkNameBytes(nameBytes);
        if (in.readableBytes() < PREFACE_BYTES + 2 + nameBytes) {
            return null;
        }
        in.skipBytes(PREFACE_BYTES);
        String accepting = readName(in);
        return new Signal.Preface(client == 1, Duration.ofMillis(keepAliveMillis), accepting);
    }

    /**
     * Reads a frame.
     *
     * @return null where bytes are missing; nothing was taken then
     */
    Signal read(ByteBuf in) {
        int start = in.readerIndex();
        if (in.readableBytes() < LENGTH_BYTES) {
            return null;
        }
        long length = in.getUnsignedInt(start);
        if (length < 1 || length > frameBytes) {
            throw new BadFrameException(
                    "a frame has 1 to " + frameBytes + " bytes (frameBytes), not " + length);
        }
        if (in.readableBytes() < LENGTH_BYTES + length) {
            return null;
        }
        in.skipBytes(LENGTH_BYTES);
        ByteBuf frame = in.readSlice((int) length);
        Signal signal = readWhole(frame, LENGTH_BYTES + (int) length);
        if (frame.isReadable()) {
            throw new BadFrameException(
                    frame.readableBytes() + " bytes too many in a frame of " + length);
        }
        return signal;
    }

    private static Signal readWhole(ByteBuf in, int bytes) {
        int kind = in.readUnsignedByte();
        return switch (kind) {
            case HELLO -> new Signal.Arrived(readHello(in), bytes);
            case MSG -> new Signal.Arrived(readMsg(in), bytes);
            case ACK ->
                    new Signal.Arrived(
                            new Frame.Ack(readNumber(in, "ack", 0), readCredit(in)), bytes);
            case REFUSED ->
                    new Signal.Arrived(
                            new Frame.Refused(readNumber(in, "request", 0), readText(in)), bytes);
            case GONE -> new Signal.Arrived(new Frame.Gone(readBirth(in)), bytes);
            case ASK ->
                    new Signal.Arrived(
                            new Frame.Ask(readNumber(in, "request", 0), readBody(in)), bytes);
            case ANSWER ->
                    new Signal.Arrived(
                            new Frame.Answer(
                                    readNumber(in, "request", 0),
                                    readFlag(in) ? Optional.of(readBody(in)) : Optional.empty()),
                            bytes);
            case EARLY ->
                    new Signal.Arrived(
                            new Frame.Early(
                                    readNumber(in, "request", 0), readMark(in), readBody(in)),
                            bytes);
            case PAST -> new Signal.Arrived(new Frame.Past(readEpochs(in)), bytes);
            case SEEN -> new Signal.Arrived(new Frame.Seen(readMark(in)), bytes);
            case TAGGED -> new Signal.Arrived(new Frame.Tagged(readVertex(in), readMsg(in)), bytes);
            case COVERED -> new Signal.Arrived(new Frame.Covered(readMark(in)), bytes);
            case KEEPALIVE -> new Signal.KeepAlive();
            case GOODBYE -> new Signal.Goodbye(printable(readText(in)));
            default -> throw new BadFrameException("there is no frame of kind " + kind);
        };
    }

    private static Frame.Hello readHello(ByteBuf in) {
        String name = readName(in);
        Birth birth = readBirth(in);
        long number = readNumber(in, "incarnation", 1);
        Incarnation from = new Incarnation(birth, number, readLong(in));
        Optional<Birth> to = readFlag(in) ? Optional.of(readBirth(in)) : Optional.empty();
        int state = readByte(in);
        Frame.PairState pair =
                switch (state) {
                    case 0 -> Frame.PairState.NEW;
                    case 1 -> Frame.PairState.OPENED;
                    case 2 -> Frame.PairState.KNOWN;
                    default ->
                            throw new BadFrameException("a pair's state is 0 to 2, not " + state);
                };
        return new Frame.Hello(name, from, to, pair, readCount(in), readCount(in), readCount(in));
    }

    private static Frame.Msg readMsg(ByteBuf in) {
        long number = readNumber(in, "message", 1);
        long answers = readNumber(in, "answered message", 0);
        Optional<String> refusal = readFlag(in) ? Optional.of(readText(in)) : Optional.empty();
        return new Frame.Msg(number, answers, refusal, readBody(in));
    }

    private static Vertex readVertex(ByteBuf in) {
        int member = readByte(in);
        if (member >= GroupHead.MOST_MEMBERS) {
            throw new BadFrameException(
                    "a group has members 0 to " + (GroupHead.MOST_MEMBERS - 1) + ", not " + member);
        }
        return new Vertex(member, readNumber(in, "world", 1), readNumber(in, "version", 0));
    }

    private static Mark readMark(ByteBuf in) {
        return new Mark(readNumber(in, "epoch", 1), readNumber(in, "turn", 0));
    }

    private static Epochs readEpochs(ByteBuf in) {
        List<Epochs.Begun> all = new ArrayList<>();
        while (in.isReadable()) {
            if (all.size() == Epochs.MOST) {
                throw new BadFrameException("more than " + Epochs.MOST + " epochs in a frame");
            }
            all.add(new Epochs.Begun(readNumber(in, "epoch", 1), readNumber(in, "turn", 0)));
        }
        try {
            return new Epochs(all);
        } catch (IllegalArgumentException e) {
            throw new BadFrameException(e.getMessage());
        }
    }

    private static Body readBody(ByteBuf in) {
        String type = readName(in);
        byte[] bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        return new Body(type, bytes);
    }

    private static Count readCount(ByteBuf in) {
        return new Count(
                readNumber(in, "count", 0), readNumber(in, "incarnation", 0), readLong(in));
    }

    private static int readCredit(ByteBuf in) {
        need(in, 4);
        int credit = in.readInt();
        if (credit < 0) {
            throw new BadFrameException("a credit is not negative: " + credit);
        }
        return credit;
    }
}
