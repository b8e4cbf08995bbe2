package io.saucr.services.core.replay;

import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.TurnRecord.Attempt;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import io.saucr.services.core.replay.TurnRecord.Own;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The body of a segment: a byte for the format, one for the barrier, the number of lanes, and the
 * last clock of each, the turn thread's first; then the records of the turn thread, and those of
 * each lane. Numbers are varints of 7 bits, the lowest first; clocks of records are differences to
 * the record before; numbers that may be below 0 are zigzag. An event without a record costs no
 * byte.
 */
public final class TraceFormat {

    /** Most lanes. */
    public static final int MOST_LANES = 64;

    /** Most locks, read-write locks and stripes. */
    public static final int MOST_RESOURCES = 65_536;

    /** Clocks and versions are less. */
    public static final int MOST_CLOCK = 1 << 30;

    private static final int FORMAT = 1;

    private static final int BEGIN = 1;
    private static final int END = 2;
    private static final int END_THREW = 3;
    private static final int OWN = 4;
    private static final int ATTEMPT = 5;

    private static final int EDGE = 0;
    private static final int CHOICE = 1;

    private TraceFormat() {}

    /** Encodes a segment. */
    public static byte[] encode(TraceSegment segment) {
        Writer to = new Writer();
        to.bytes.write(FORMAT);
        to.bytes.write(code(segment.barrier()));
        to.number(segment.lanes().size());
        segment.until().forEach(to::number);
        to.number(segment.turns().size());
        segment.turns().forEach(it -> encode(it, to));
        for (List<LaneRecord> lane : segment.lanes()) {
            to.number(lane.size());
            int clock = 0;
            for (LaneRecord line : lane) {
                int kind = line instanceof Edge ? EDGE : CHOICE;
                to.number(((line.clock() - (long) clock) << 1) | kind);
                clock = line.clock();
                if (line instanceof Edge edge) {
                    to.number(edge.resource());
                    to.number(edge.version());
                    to.number(edge.sourceLane());
                    // Lanes have clocks of about the same size.
                    to.signed(edge.sourceClock() - (long) clock);
                } else if (line instanceof Choice choice) {
                    to.signed(choice.value());
                }
            }
        }
        return to.bytes.toByteArray();
    }

    private static void encode(TurnRecord turn, Writer to) {
        if (turn instanceof Begin begin) {
            to.bytes.write(BEGIN);
            to.number(begin.request());
            to.number(begin.lane());
            to.number(begin.clock());
            to.signed(begin.nowMillis());
            to.signed(begin.seed());
            to.signed(begin.sender());
            to.number(begin.number());
            to.block(begin.body());
        } else if (turn instanceof End end) {
            to.bytes.write(end.threw() ? END_THREW : END);
            to.number(end.request());
            to.number(end.clock());
            to.number(Integer.toUnsignedLong(end.hash()));
            to.block(end.delta());
        } else if (turn instanceof Own own) {
            to.bytes.write(OWN);
            to.block(own.delta());
        } else if (turn instanceof Attempt attempt) {
            to.bytes.write(ATTEMPT);
            to.number(attempt.request());
        }
    }

    /**
     * Decodes a segment. {@link Replay#append} checks whether it continues a trace.
     *
     * @throws BadTraceException if the bytes are none, with the offset
     */
    public static TraceSegment decode(byte[] body) throws BadTraceException {
        Reader from = new Reader(body);
        int format = from.one();
        if (format != FORMAT) {
            throw from.bad("format " + format + ", this version reads " + FORMAT);
        }
        Barrier barrier = barrier(from);
        int lanes = from.number("lanes", 1, MOST_LANES);
        List<Integer> until = new ArrayList<>();
        for (int lane = 0; lane <= lanes; lane++) {
            until.add(from.number("clock of a lane", 0, MOST_CLOCK - 1));
        }
        int count = from.count("records of the turn thread");
        List<TurnRecord> turns = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            turns.add(turn(from, lanes));
        }
        List<List<LaneRecord>> records = new ArrayList<>();
        for (int lane = 1; lane <= lanes; lane++) {
            records.add(lane(from, lanes));
        }
        if (from.left() > 0) {
            throw from.bad(from.left() + " bytes behind the end");
        }
        return new TraceSegment(barrier, until, turns, records);
    }

    private static int code(Barrier barrier) {
        return switch (barrier) {
            case NONE -> 0;
            case EPOCH -> 1;
            case QUIET -> 2;
        };
    }

    private static Barrier barrier(Reader from) throws BadTraceException {
        int code = from.one() & 0xff;
        return switch (code) {
            case 0 -> Barrier.NONE;
            case 1 -> Barrier.EPOCH;
            case 2 -> Barrier.QUIET;
            default -> throw from.bad("barrier " + code + " of 0 to 2");
        };
    }

    private static TurnRecord turn(Reader from, int lanes) throws BadTraceException {
        int kind = from.one();
        switch (kind) {
            case BEGIN:
                return new Begin(
                        from.number("request", 1, Long.MAX_VALUE),
                        from.number("lane", 1, lanes),
                        from.number("clock", 1, MOST_CLOCK - 1),
                        from.signed(),
                        from.signed(),
                        from.signed(),
                        from.number("number of a message", 1, Long.MAX_VALUE),
                        from.block());
            case END:
            case END_THREW:
                return new End(
                        from.number("request", 1, Long.MAX_VALUE),
                        from.number("clock", 0, MOST_CLOCK - 1),
                        (int) from.number("hash", 0, 0xffff_ffffL),
                        kind == END_THREW,
                        from.block());
            case OWN:
                return new Own(from.block());
            case ATTEMPT:
                return new Attempt(from.number("request", 1, Long.MAX_VALUE));
            default:
                throw from.bad("a record of kind " + kind + " of 1 to 5");
        }
    }

    private static List<LaneRecord> lane(Reader from, int lanes) throws BadTraceException {
        int count = from.count("records of a lane");
        List<LaneRecord> lines = new ArrayList<>();
        long clock = 0;
        for (int i = 0; i < count; i++) {
            long head = from.number("clock and kind", 0, 2L * MOST_CLOCK - 1);
            clock += head >> 1;
            if (clock < 1 || clock >= MOST_CLOCK) {
                throw from.bad("clock " + clock + " of 1 to " + (MOST_CLOCK - 1));
            }
            if ((head & 1) == EDGE) {
                int resource = from.number("resource", 0, MOST_RESOURCES - 1);
                int version = from.number("version", 0, MOST_CLOCK - 1);
                int lane = from.number("lane", 1, lanes);
                long source = clock + from.signed();
                if (source < 1 || source >= MOST_CLOCK) {
                    throw from.bad("an edge from clock " + source);
                }
                lines.add(new Edge((int) clock, resource, version, lane, (int) source));
            } else {
                long value = from.signed();
                if (value < Choice.KILLED_BEFORE || value >= MOST_CLOCK) {
                    throw from.bad("choice " + value);
                }
                lines.add(new Choice((int) clock, (int) value));
            }
        }
        return lines;
    }

    private static final class Writer {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        private void number(long number) {
            long left = number;
            while ((left & ~0x7fL) != 0) {
                bytes.write((int) ((left & 0x7f) | 0x80));
                left >>>= 7;
            }
            bytes.write((int) left);
        }

        private void signed(long number) {
            number((number << 1) ^ (number >> 63));
        }

        private void block(byte[] block) {
            number(block.length);
            bytes.write(block, 0, block.length);
        }
    }

    private static final class Reader {
        private final byte[] bytes;
        private int at;

        Reader(byte[] bytes) {
            this.bytes = bytes;
        }

        private int left() {
            return bytes.length - at;
        }

        private int one() throws BadTraceException {
            if (at == bytes.length) {
                throw bad("the end is missing");
            }
            return bytes[at++];
        }

        private long raw() throws BadTraceException {
            long number = 0;
            for (int shift = 0; ; shift += 7) {
                int next = one();
                if (shift == 63 && (next & ~1) != 0) {
                    throw bad("a number of more than 64 bits");
                }
                number |= (next & 0x7fL) << shift;
                if (next >= 0) {
                    return number;
                }
            }
        }

        private long number(String what, long least, long most) throws BadTraceException {
            long number = raw();
            if (number < least || number > most) {
                throw bad(
                        "%s: %s of %d to %d"
                                .formatted(what, Long.toUnsignedString(number), least, most));
            }
            return number;
        }

        private int number(String what, int least, int most) throws BadTraceException {
            return (int) number(what, (long) least, (long) most);
        }

        /** How many there are of what takes at least a byte each: no more than there are bytes. */
        private int count(String what) throws BadTraceException {
            long count = raw();
            if (count < 0 || count > left()) {
                throw bad("%s: %d of 0 to %d".formatted(what, count, left()));
            }
            return (int) count;
        }

        private long signed() throws BadTraceException {
            long number = raw();
            return (number >>> 1) ^ -(number & 1);
        }

        private byte[] block() throws BadTraceException {
            byte[] block = new byte[count("bytes")];
            System.arraycopy(bytes, at, block, 0, block.length);
            at += block.length;
            return block;
        }

        private BadTraceException bad(String why) {
            return new BadTraceException("at byte " + at + " of the trace: " + why);
        }
    }
}
