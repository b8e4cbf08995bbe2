package io.saucr.services.once;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the journal of a once client says, read record by record: which operations were accepted and
 * not decided, which keys are remembered with what outcome, and how far everything is decided. Used
 * by one thread.
 */
public final class OnceRecords {

    private static final byte OPERATION = 1;
    private static final byte DECIDED = 2;
    private static final byte MARKER_MADE = 3;
    private static final byte DECLARED = 4;
    private static final byte WITHDRAWN = 5;

    /** Outcomes by key that are remembered; older ones are forgotten. */
    private static final int REMEMBERED = 100_000;

    /** What is written, one after the other. */
    public sealed interface Entry {}

    /**
     * An operation that was accepted.
     *
     * @param key that its user gave, or empty
     */
    public record Accepted(long number, String key, Operation operation) implements Entry {}

    /**
     * What became of an operation.
     *
     * @param code 0 where it happened, else of the error
     * @param created path of the child of a sequential create, or empty
     */
    public record Decided(long number, int code, String created) implements Entry {}

    /** There is a marker, which may be missed from now on (E9). */
    public record MarkerMade() implements Entry {}

    /** An ephemeral was declared (E7). */
    public record Declared(Ephemeral ephemeral) implements Entry {}

    /** The ephemeral of that path is none any more (E7). */
    public record Withdrawn(String path) implements Entry {}

    /** Not decided yet, by number. */
    public final Map<Long, Accepted> open = new TreeMap<>();

    /** By key, the oldest first. */
    public final Map<String, Decided> remembered = new LinkedHashMap<>();

    /** By path, those that were declared and not withdrawn (E7). */
    public final Map<String, Ephemeral> ephemerals = new TreeMap<>();

    public boolean markerMade;

    public long lastNumber;
    public long highestDecided;

    static ByteBuffer encode(Entry entry) {
        if (entry instanceof Accepted it) {
            return record(
                    OPERATION,
                    out -> {
                        out.writeLong(it.number);
                        out.writeUTF(it.key);
                        bytes(out, it.operation.encoded());
                    });
        } else if (entry instanceof Decided it) {
            return record(
                    DECIDED,
                    out -> {
                        out.writeLong(it.number);
                        out.writeInt(it.code);
                        out.writeUTF(it.created);
                    });
        } else if (entry instanceof Declared it) {
            return record(DECLARED, out -> bytes(out, it.ephemeral.encoded()));
        } else if (entry instanceof Withdrawn it) {
            return record(WITHDRAWN, out -> bytes(out, it.path.getBytes(UTF_8)));
        }
        return record(MARKER_MADE, out -> {});
    }

    private static void bytes(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private static ByteBuffer record(byte type, Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(type);
            body.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    /**
     * Takes the next record.
     *
     * @throws IOException where it is none: it was written by a newer release, as the journal
     *     itself is sound
     */
    void take(ByteBuffer record) throws IOException {
        byte[] bytes = new byte[record.remaining()];
        record.duplicate().get(bytes);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        byte type = in.readByte();
        switch (type) {
            case OPERATION -> {
                long number = in.readLong();
                String key = in.readUTF();
                byte[] operation = in.readNBytes(in.readInt());
                take(new Accepted(number, key, Operation.decode(operation)));
            }
            case DECIDED -> take(new Decided(in.readLong(), in.readInt(), in.readUTF()));
            case MARKER_MADE -> markerMade = true;
            case DECLARED -> take(Ephemeral.decode(in.readNBytes(in.readInt())));
            case WITHDRAWN -> ephemerals.remove(new String(in.readNBytes(in.readInt()), UTF_8));
            default ->
                    throw new IOException(
                            "a record of type "
                                    + type
                                    + ": this folder was written by a newer release");
        }
    }

    public void take(Accepted accepted) {
        open.put(accepted.number, accepted);
        lastNumber = accepted.number;
    }

    void take(Ephemeral declared) {
        ephemerals.put(declared.path(), declared);
    }

    public void take(Decided decided) {
        Accepted accepted = open.remove(decided.number);
        highestDecided = Math.max(highestDecided, decided.number);
        if (accepted != null && !accepted.key.isEmpty()) {
            remembered.put(accepted.key, decided);
            if (remembered.size() > REMEMBERED) {
                remembered.remove(remembered.keySet().iterator().next());
            }
        }
    }

    /** All of it, for a base. */
    byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeBoolean(markerMade);
            out.writeLong(lastNumber);
            out.writeLong(highestDecided);
            out.writeInt(open.size());
            for (Accepted each : open.values()) {
                out.writeLong(each.number);
                out.writeUTF(each.key);
                out.writeInt(each.operation.encoded().length);
                out.write(each.operation.encoded());
            }
            out.writeInt(remembered.size());
            for (Map.Entry<String, Decided> each : remembered.entrySet()) {
                out.writeUTF(each.getKey());
                out.writeLong(each.getValue().number);
                out.writeInt(each.getValue().code);
                out.writeUTF(each.getValue().created);
            }
            out.writeInt(ephemerals.size());
            for (Ephemeral each : ephemerals.values()) {
                out.writeInt(each.encoded().length);
                out.write(each.encoded());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Takes what {@link #encode} wrote, instead of all that was taken before. */
    void decode(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        markerMade = in.readBoolean();
        lastNumber = in.readLong();
        highestDecided = in.readLong();
        open.clear();
        for (int left = in.readInt(); left > 0; left--) {
            long number = in.readLong();
            String key = in.readUTF();
            open.put(
                    number,
                    new Accepted(number, key, Operation.decode(in.readNBytes(in.readInt()))));
        }
        remembered.clear();
        for (int left = in.readInt(); left > 0; left--) {
            String key = in.readUTF();
            remembered.put(key, new Decided(in.readLong(), in.readInt(), in.readUTF()));
        }
        ephemerals.clear();
        for (int left = in.readInt(); left > 0; left--) {
            take(Ephemeral.decode(in.readNBytes(in.readInt())));
        }
    }
}
