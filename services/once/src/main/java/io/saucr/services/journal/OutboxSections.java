package io.saucr.services.journal;

import io.saucr.services.journal.OutboxFiles.Named;
import io.saucr.services.journal.OutboxFiles.Names;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The two sections of a base that are about messages which wait for peers: one names the streams of
 * {@link OutboxFiles}, and how far each was written; the other one holds the messages themselves.
 * Stateless.
 */
final class OutboxSections {

    /** Names streams; a release that knows no streams refuses it. */
    static final String NAMES = "outbox";

    /** Holds the messages; a release that knows none refuses it. */
    static final String MESSAGES = "messages";

    private static final int MESSAGES_FORMAT = 1;

    /** So much is read at once for a base, so that it holds nobody up who waits to read. */
    private static final int INSIDE_BYTES = 1 << 20;

    private static final int MOST_INSIDE = 1 << 10;
    private static final int MOST_STREAMS = 1 << 24;

    private OutboxSections() {}

    /** Reads names. */
    static List<Named> names(InputStream content) throws IOException {
        List<Named> named = new ArrayList<>();
        DataInputStream in = new DataInputStream(content);
        try {
            int count = in.readInt();
            if (count < 0 || count > MOST_STREAMS) {
                throw new IOException("a base's section " + NAMES + " names no " + count);
            }
            for (int index = 0; index < count; index++) {
                named.add(
                        new Named(
                                in.readLong(),
                                in.readLong(),
                                in.readLong(),
                                in.readInt(),
                                in.readLong()));
            }
        } catch (EOFException e) {
            throw new IOException("a base's section " + NAMES + " ends early", e);
        }
        return named;
    }

    /** Writes names. */
    static void write(Names names, OutputStream to) throws IOException {
        DataOutputStream out = new DataOutputStream(to);
        out.writeInt(names.all().size());
        for (Named each : names.all()) {
            out.writeLong(each.stream());
            out.writeLong(each.index());
            out.writeLong(each.end());
            out.writeInt(each.checksum());
            out.writeLong(each.last());
        }
        out.flush();
    }

    /** Writes the messages that these names name and that are not released. */
    static void write(Names names, OutputStream to, OutboxFiles files) throws IOException {
        DataOutputStream out = new DataOutputStream(to);
        out.writeInt(MESSAGES_FORMAT);
        out.writeInt(names.all().size());
        for (Named each : names.all()) {
            write(each, out, files);
        }
        out.flush();
    }

    /** Number, last count, messages each with its count and length; a count of 0 ends them. */
    private static void write(Named named, DataOutputStream out, OutboxFiles files)
            throws IOException {
        out.writeLong(named.stream());
        out.writeLong(named.last());
        long after = files.neededAfter(named.stream());
        while (after < named.last()) {
            int most = (int) Math.min(MOST_INSIDE, named.last() - after);
            List<byte[]> messages = files.read(named.stream(), after, most, INSIDE_BYTES);
            for (byte[] message : messages) {
                out.writeLong(++after);
                out.writeInt(message.length);
                out.write(message);
            }
            if (messages.isEmpty()) {
                after = files.neededAfter(named.stream());
            }
        }
        out.writeLong(0);
    }

    /** Takes the messages of a base into files that are begun anew. */
    static void take(InputStream content, OutboxFiles files) throws IOException {
        DataInputStream in = new DataInputStream(content);
        try {
            int format = in.readInt();
            if (format != MESSAGES_FORMAT) {
                throw new IOException(
                        ("a base's section %s has format %s, and this release reads format %s; use"
                                        + " the release that wrote it")
                                .formatted(MESSAGES, format, MESSAGES_FORMAT));
            }
            int count = in.readInt();
            if (count < 0 || count > MOST_STREAMS) {
                throw damagedInside("it holds no " + count + " streams");
            }
            for (int index = 0; index < count; index++) {
                takeStream(in, files);
            }
            if (in.read() >= 0) {
                throw damagedInside("it continues behind its last stream");
            }
        } catch (EOFException e) {
            throw new IOException("a base's section " + MESSAGES + " ends early", e);
        }
    }

    private static void takeStream(DataInputStream in, OutboxFiles files) throws IOException {
        long number = in.readLong();
        long last = in.readLong();
        if (number < 1 || last < 1 || !files.begin(number)) {
            throw damagedInside("it begins stream " + number + " up to " + last);
        }
        long before = 0;
        for (long count = in.readLong(); count != 0; count = in.readLong()) {
            if (count < 1 || count > last || (before > 0 && count != before + 1)) {
                throw damagedInside(
                        "in stream " + number + " message " + count + " is behind " + before);
            }
            int length = in.readInt();
            if (length < 0) {
                throw damagedInside("message " + count + " has " + length + " bytes");
            }
            // As much as is there, whatever the length says.
            byte[] message = in.readNBytes(length);
            if (message.length < length) {
                throw new EOFException();
            }
            files.append(number, count, message);
            before = count;
        }
        if (before > 0 && before != last) {
            throw damagedInside("stream " + number + " ends with " + before + ", not " + last);
        }
        files.end(number, last);
    }

    private static IOException damagedInside(String how) {
        return new IOException("a base's section " + MESSAGES + " is damaged: " + how);
    }
}
