package io.saucr.core.recovery;

import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The bytes of recovery messages on the election channel (R18).
 *
 * <p>The header is 40 bytes: magic, then wire version, type and six zero bytes, nonce, sender,
 * request id, and a zero int. To a server without SAUCR that looks like a notification with an
 * unknown server state and no configuration, which it drops. Every message fits into {@link
 * #MAX_LENGTH}. Reading checks every length before it allocates, and accepts exactly what writing
 * produces.
 */
public final class RecoveryWire {
    /** Below the election channel's 512 KiB, with room to spare. */
    public static final int MAX_LENGTH = 480 * 1024;

    /** The most bytes of entries, or of a part of an entry or snapshot, in one message. */
    public static final int MAX_PAYLOAD = MAX_LENGTH - 1024;

    /** Bytes that an entry takes in addition to its transaction. */
    public static final int ENTRY_OVERHEAD = 12;

    private static final int MAGIC = 0x53415543;
    private static final byte VERSION = 1;
    private static final int HEADER_LENGTH = 40;
    private static final int MAX_MAP_LENGTH = LleMap.MAX_ENCODED_LENGTH;

    private static final byte LLE_QUERY = 1;
    private static final byte LLE_ANSWER = 2;
    private static final byte EPOCH_ENDS_REQUEST = 3;
    private static final byte EPOCH_ENDS_ANSWER = 4;
    private static final byte ENTRIES_REQUEST = 5;
    private static final byte ENTRIES_ANSWER = 6;
    private static final byte ENTRY_PART = 7;
    private static final byte SNAPSHOT_REQUEST = 8;
    private static final byte SNAPSHOT_PART = 9;
    private static final byte UNAVAILABLE = 10;
    private static final byte LOST_QUERY = 11;
    private static final byte LOST_ANSWER = 12;
    private static final byte NO_ANSWER = 13;
    private static final byte VIEW_QUERY = 14;
    private static final byte VIEW_ANSWER = 15;

    /** A value's position is its code on the wire. */
    private static final List<Compression> COMPRESSIONS =
            List.of(Compression.NONE, Compression.GZIP, Compression.SNAPPY);

    private static final List<Reason> REASONS = List.of(Reason.DIVERGED, Reason.GONE);

    private RecoveryWire() {}

    /**
     * Whether these are the bytes of a recovery message and not of a vote. Does not move the
     * buffer.
     */
    public static boolean isRecoveryMessage(ByteBuffer packet) {
        return packet.remaining() >= Integer.BYTES && packet.getInt(packet.position()) == MAGIC;
    }

    /**
     * The packet of a message, ready to be read.
     *
     * @throws IllegalArgumentException when it does not fit into {@link #MAX_LENGTH}
     */
    public static ByteBuffer encode(RecoveryMessage message) {
        ByteBuffer out = ByteBuffer.allocate(length(message));
        if (message instanceof LleQuery m) {
            header(out, m.withView() ? VIEW_QUERY : LLE_QUERY, m, 0);
        } else if (message instanceof LleAnswer m && m.ownView() != LleAnswer.NOT_ASKED) {
            header(out, VIEW_ANSWER, m, 0);
            put(out, m);
            out.putLong(m.ownView());
        } else if (message instanceof LleAnswer m) {
            header(out, LLE_ANSWER, m, 0);
            put(out, m);
        } else if (message instanceof LostQuery m) {
            header(out, LOST_QUERY, m, m.round());
        } else if (message instanceof LostAnswer m) {
            header(out, LOST_ANSWER, m, m.round());
            out.put((byte) (m.leads() ? 1 : 0)).putLong(m.acceptedEpoch());
            put(out, m.answer());
        } else if (message instanceof NoAnswer m) {
            header(out, NO_ANSWER, m, 0);
            out.put((byte) (m.blank() ? 1 : 0));
        } else if (message instanceof EpochEndsRequest m) {
            header(out, EPOCH_ENDS_REQUEST, m, m.requestId());
        } else if (message instanceof EpochEndsAnswer m) {
            header(out, EPOCH_ENDS_ANSWER, m, m.requestId());
            long[] ends = m.epochEnds().ends();
            out.putLong(m.epochEnds().base()).putInt(ends.length);
            for (long end : ends) {
                out.putLong(end);
            }
        } else if (message instanceof EntriesRequest m) {
            header(out, ENTRIES_REQUEST, m, m.requestId());
            out.putLong(m.after()).putLong(m.through()).putInt(m.offset());
        } else if (message instanceof EntriesAnswer m) {
            header(out, ENTRIES_ANSWER, m, m.requestId());
            out.put((byte) (m.end() ? 1 : 0)).putInt(m.entries().size());
            for (Entry entry : m.entries()) {
                out.putLong(entry.zxid());
                put(out, entry.transaction());
            }
        } else if (message instanceof EntryPart m) {
            header(out, ENTRY_PART, m, m.requestId());
            out.putLong(m.zxid()).putInt(m.total()).putInt(m.offset());
            put(out, m.bytes());
        } else if (message instanceof SnapshotRequest m) {
            header(out, SNAPSHOT_REQUEST, m, m.requestId());
            out.putLong(m.snapshot()).putLong(m.offset());
        } else if (message instanceof SnapshotPart m) {
            header(out, SNAPSHOT_PART, m, m.requestId());
            out.putLong(m.snapshot())
                    .put((byte) COMPRESSIONS.indexOf(m.compression()))
                    .putLong(m.through());
            out.putLong(m.total()).putLong(m.offset());
            put(out, m.bytes());
        } else if (message instanceof Unavailable m) {
            header(out, UNAVAILABLE, m, m.requestId());
            out.put((byte) REASONS.indexOf(m.reason()));
        } else {
            throw new AssertionError(message);
        }
        return out.flip();
    }

    /**
     * Reads a packet to its end.
     *
     * @throws IllegalArgumentException when it is anything but one whole recovery message of a
     *     known version; the text says what is wrong
     */
    public static RecoveryMessage decode(ByteBuffer packet) {
        Reader in = new Reader(packet.duplicate());
        in.expect(packet.remaining() <= MAX_LENGTH, "length " + packet.remaining());
        in.need(HEADER_LENGTH, "header");
        int magic = in.buffer.getInt();
        in.expect(magic == MAGIC, "magic " + Integer.toHexString(magic));
        byte version = in.buffer.get();
        in.expect(
                version == VERSION, "wire version " + version + ", this server speaks " + VERSION);
        byte type = in.buffer.get();
        in.expect(in.buffer.getShort() == 0 && in.buffer.getInt() == 0, "padding");
        long nonce = in.buffer.getLong();
        long sender = in.buffer.getLong();
        long requestId = in.buffer.getLong();
        in.expect(in.buffer.getInt() == 0, "header's end");
        RecoveryMessage message = body(in, type, nonce, sender, requestId);
        in.expect(!in.buffer.hasRemaining(), in.buffer.remaining() + " bytes too many");
        return message;
    }

    private static RecoveryMessage body(
            Reader in, byte type, long nonce, long sender, long requestId) {
        switch (type) {
            case LLE_QUERY:
                in.expect(requestId == 0, "request id " + requestId);
                return new LleQuery(nonce, sender, false);
            case VIEW_QUERY:
                in.expect(requestId == 0, "request id " + requestId);
                return new LleQuery(nonce, sender, true);
            case LLE_ANSWER:
                in.expect(requestId == 0, "request id " + requestId);
                return in.lleAnswer(nonce, sender, false);
            case VIEW_ANSWER:
                in.expect(requestId == 0, "request id " + requestId);
                return in.lleAnswer(nonce, sender, true);
            case LOST_QUERY:
                in.expect(requestId > 0, "round " + requestId);
                return new LostQuery(nonce, sender, requestId);
            case LOST_ANSWER:
                in.expect(requestId > 0, "round " + requestId);
                return new LostAnswer(
                        nonce,
                        sender,
                        requestId,
                        in.flag("leads"),
                        in.nonNegative("accepted epoch"),
                        in.lleAnswer(nonce, sender, false));
            case NO_ANSWER:
                in.expect(requestId == 0, "request id " + requestId);
                return new NoAnswer(nonce, sender, in.flag("blank"));
            case EPOCH_ENDS_REQUEST:
                return new EpochEndsRequest(nonce, sender, requestId);
            case EPOCH_ENDS_ANSWER:
                return new EpochEndsAnswer(nonce, sender, requestId, in.epochEnds());
            case ENTRIES_REQUEST:
                return new EntriesRequest(
                        nonce,
                        sender,
                        requestId,
                        in.nonNegative("after"),
                        in.nonNegative("through"),
                        in.count("offset", Integer.MAX_VALUE));
            case ENTRIES_ANSWER:
                boolean end = in.flag("end");
                return new EntriesAnswer(nonce, sender, requestId, in.entries(), end);
            case ENTRY_PART:
                {
                    long zxid = in.nonNegative("zxid");
                    int total = in.count("total", Integer.MAX_VALUE);
                    int offset = in.count("offset", total);
                    Bytes bytes = in.bytes("entry part");
                    in.expect(bytes.length() <= total - offset, "an entry part beyond the entry");
                    return new EntryPart(nonce, sender, requestId, zxid, total, offset, bytes);
                }
            case SNAPSHOT_REQUEST:
                {
                    long snapshot = in.number("snapshot");
                    in.expect(snapshot >= SnapshotRequest.NEWEST, "snapshot " + snapshot);
                    return new SnapshotRequest(
                            nonce, sender, requestId, snapshot, in.nonNegative("offset"));
                }
            case SNAPSHOT_PART:
                {
                    long snapshot = in.nonNegative("snapshot");
                    Compression compression = in.constant(COMPRESSIONS, "compression");
                    long through = in.nonNegative("through");
                    long total = in.nonNegative("total");
                    long offset = in.nonNegative("offset");
                    Bytes bytes = in.bytes("snapshot part");
                    in.expect(
                            offset <= total && bytes.length() <= total - offset,
                            "a snapshot part beyond the file");
                    return new SnapshotPart(
                            nonce,
                            sender,
                            requestId,
                            snapshot,
                            compression,
                            through,
                            total,
                            offset,
                            bytes);
                }
            case UNAVAILABLE:
                return new Unavailable(nonce, sender, requestId, in.constant(REASONS, "reason"));
            default:
                throw in.malformed("type " + type);
        }
    }

    private static int length(RecoveryMessage message) {
        long length = HEADER_LENGTH;
        if (message instanceof LleAnswer m) {
            length += length(m) + (m.ownView() == LleAnswer.NOT_ASKED ? 0 : 8);
        } else if (message instanceof LostAnswer m) {
            length += 1 + 8 + length(m.answer());
        } else if (message instanceof NoAnswer) {
            length += 1;
        } else if (message instanceof EpochEndsAnswer m) {
            length += 8 + 4 + 8L * m.epochEnds().ends().length;
        } else if (message instanceof EntriesRequest) {
            length += 8 + 8 + 4;
        } else if (message instanceof EntriesAnswer m) {
            length += 1 + 4;
            for (Entry entry : m.entries()) {
                length += ENTRY_OVERHEAD + entry.transaction().length();
            }
        } else if (message instanceof EntryPart m) {
            length += 8 + 4 + 4 + 4 + m.bytes().length();
        } else if (message instanceof SnapshotRequest) {
            length += 8 + 8;
        } else if (message instanceof SnapshotPart m) {
            length += 8 + 1 + 8 + 8 + 8 + 4 + m.bytes().length();
        } else if (message instanceof Unavailable) {
            length += 1;
        }
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "recovery message of " + length + " bytes, at most " + MAX_LENGTH + " fit");
        }
        return (int) length;
    }

    private static int length(LleAnswer answer) {
        return 8
                + 8
                + 4
                + answer.lleMap().encode().length()
                + length(answer.committed())
                + 1
                + answer.pending().map(RecoveryWire::length).orElse(0);
    }

    private static int length(Configuration configuration) {
        return 8 + 4 + 8 * configuration.voters().size();
    }

    private static void header(ByteBuffer out, byte type, RecoveryMessage message, long requestId) {
        out.putInt(MAGIC).put(VERSION).put(type).putShort((short) 0).putInt(0);
        out.putLong(message.nonce()).putLong(message.sender()).putLong(requestId).putInt(0);
    }

    private static void put(ByteBuffer out, LleAnswer answer) {
        out.putLong(answer.currentEpoch()).putLong(answer.lastLogged());
        byte[] map = answer.lleMap().encode().getBytes(StandardCharsets.US_ASCII);
        out.putInt(map.length).put(map);
        put(out, answer.committed());
        out.put((byte) (answer.pending().isPresent() ? 1 : 0));
        answer.pending().ifPresent(pending -> put(out, pending));
    }

    private static void put(ByteBuffer out, Configuration configuration) {
        out.putLong(configuration.version()).putInt(configuration.voters().size());
        for (long voter : configuration.voters()) {
            out.putLong(voter);
        }
    }

    private static void put(ByteBuffer out, Bytes bytes) {
        out.putInt(bytes.length()).put(bytes.asReadOnlyBuffer());
    }

    /** Takes a packet apart; every read is checked against what is left. */
    private static final class Reader {
        private final ByteBuffer buffer;

        Reader(ByteBuffer buffer) {
            this.buffer = buffer;
        }

        IllegalArgumentException malformed(String what) {
            return new IllegalArgumentException("malformed recovery message: " + what);
        }

        void expect(boolean condition, String otherwise) {
            if (!condition) {
                throw malformed(otherwise);
            }
        }

        void need(int bytes, String field) {
            if (buffer.remaining() < bytes) {
                throw malformed(
                        field + " needs " + bytes + " bytes, " + buffer.remaining() + " are left");
            }
        }

        long number(String field) {
            need(Long.BYTES, field);
            return buffer.getLong();
        }

        long nonNegative(String field) {
            long value = number(field);
            expect(value >= 0, field + " " + value);
            return value;
        }

        int count(String field, int most) {
            need(Integer.BYTES, field);
            int value = buffer.getInt();
            expect(value >= 0 && value <= most, field + " " + value);
            return value;
        }

        boolean flag(String field) {
            need(1, field);
            byte value = buffer.get();
            expect(value == 0 || value == 1, field + " flag " + value);
            return value == 1;
        }

        <E> E constant(List<E> constants, String field) {
            need(1, field);
            byte value = buffer.get();
            expect(value >= 0 && value < constants.size(), field + " " + value);
            return constants.get(value);
        }

        Bytes bytes(String field) {
            int length = count(field + " length", MAX_LENGTH);
            need(length, field);
            byte[] content = new byte[length];
            buffer.get(content);
            return Bytes.wrap(content);
        }

        LleMap map() {
            int length = count("LLE map length", MAX_MAP_LENGTH);
            need(length, "LLE map");
            byte[] text = new byte[length];
            buffer.get(text);
            return LleMap.decode(new String(text, StandardCharsets.ISO_8859_1));
        }

        Configuration configuration() {
            long version = number("configuration version");
            int size = count("voters", Configuration.MAX_VOTERS);
            need(size * Long.BYTES, "voters");
            List<Long> voters = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                voters.add(buffer.getLong());
            }
            Configuration configuration = new Configuration(version, voters);
            expect(configuration.voters().equals(voters), "voters not ascending: " + voters);
            return configuration;
        }

        LleAnswer lleAnswer(long nonce, long sender, boolean withView) {
            return new LleAnswer(
                    nonce,
                    sender,
                    nonNegative("current epoch"),
                    nonNegative("last logged zxid"),
                    map(),
                    configuration(),
                    flag("pending configuration") ? Optional.of(configuration()) : Optional.empty(),
                    withView ? nonNegative("own view") : LleAnswer.NOT_ASKED);
        }

        EpochEnds epochEnds() {
            long base = nonNegative("base of the epoch ends");
            int size = count("epochs", EpochEnds.MAX_EPOCHS);
            need(size * Long.BYTES, "epoch ends");
            long[] ends = new long[size];
            for (int i = 0; i < size; i++) {
                ends[i] = buffer.getLong();
            }
            return EpochEnds.of(base, ends);
        }

        List<Entry> entries() {
            int size = count("entries", MAX_LENGTH / ENTRY_OVERHEAD);
            need(size * ENTRY_OVERHEAD, "entries");
            List<Entry> entries = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                entries.add(new Entry(nonNegative("zxid"), bytes("transaction")));
            }
            return entries;
        }
    }
}
