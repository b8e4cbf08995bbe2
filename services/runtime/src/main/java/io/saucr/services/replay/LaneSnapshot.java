package io.saucr.services.replay;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * All that a service was at a quiet cut: no request is open there, so no handler is half-run (X13).
 * The same state gives the same bytes (X19). Immutable.
 *
 * @param newest the newest request that began
 * @param nowMillis when it began, in milliseconds since 1970
 * @param replies the newest by sender
 * @param maps the content of each map by its name, as bytes
 */
public record LaneSnapshot(
        long newest,
        long nowMillis,
        Map<Long, ReplayedLanes.Reply> replies,
        Map<String, Map<ByteBuffer, byte[]>> maps) {

    private static final int FORMAT = 1;

    /** The newest number that was consumed, by sender. */
    Map<Long, Long> consumed() {
        Map<Long, Long> consumed = new HashMap<>();
        replies.forEach((sender, reply) -> consumed.put(sender, reply.number()));
        return consumed;
    }

    /** Writes it; leaves the stream open. */
    public void writeTo(OutputStream stream) throws IOException {
        DataOutputStream out = new DataOutputStream(stream);
        out.writeByte(FORMAT);
        out.writeLong(newest);
        out.writeLong(nowMillis);
        out.writeInt(replies.size());
        for (Map.Entry<Long, ReplayedLanes.Reply> each : new TreeMap<>(replies).entrySet()) {
            out.writeLong(each.getKey());
            out.writeLong(each.getValue().number());
            out.writeBoolean(each.getValue().threw());
            block(out, each.getValue().bytes());
        }
        out.writeInt(maps.size());
        for (Map.Entry<String, Map<ByteBuffer, byte[]>> map : new TreeMap<>(maps).entrySet()) {
            block(out, map.getKey().getBytes(StandardCharsets.UTF_8));
            out.writeInt(map.getValue().size());
            for (Map.Entry<ByteBuffer, byte[]> entry : new TreeMap<>(map.getValue()).entrySet()) {
                block(out, LaneMap.bytesOf(entry.getKey()));
                block(out, entry.getValue());
            }
        }
        out.flush();
    }

    private static void block(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads what {@link #writeTo} writes, to the end of the stream.
     *
     * @throws IOException if it is anything else; says what
     */
    public static LaneSnapshot read(InputStream stream) throws IOException {
        DataInputStream in = new DataInputStream(stream);
        try {
            int format = in.readByte();
            if (format != FORMAT) {
                throw new IOException(
                        "a snapshot of format " + format + ", and this release reads " + FORMAT);
            }
            long newest = in.readLong();
            long nowMillis = in.readLong();
            Map<Long, ReplayedLanes.Reply> replies = new TreeMap<>();
            for (int left = count(in, "replies"); left > 0; left--) {
                long sender = in.readLong();
                replies.put(
                        sender,
                        new ReplayedLanes.Reply(in.readLong(), in.readBoolean(), block(in)));
            }
            Map<String, Map<ByteBuffer, byte[]>> maps = new LinkedHashMap<>();
            for (int left = count(in, "maps"); left > 0; left--) {
                String name = new String(block(in), StandardCharsets.UTF_8);
                Map<ByteBuffer, byte[]> content = new TreeMap<>();
                for (int entries = count(in, "entries of " + name); entries > 0; entries--) {
                    content.put(ByteBuffer.wrap(block(in)), block(in));
                }
                maps.put(name, content);
            }
            if (in.read() >= 0) {
                throw new IOException("a snapshot with more bytes behind its end");
            }
            return new LaneSnapshot(newest, nowMillis, replies, maps);
        } catch (EOFException e) {
            throw new IOException("a snapshot whose end is missing", e);
        }
    }

    private static int count(DataInputStream in, String of) throws IOException {
        int count = in.readInt();
        if (count < 0) {
            throw new IOException("a snapshot with " + count + " " + of);
        }
        return count;
    }

    private static byte[] block(DataInputStream in) throws IOException {
        int length = count(in, "bytes");
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException();
        }
        return bytes;
    }
}
