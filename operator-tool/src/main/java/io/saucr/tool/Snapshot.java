package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.Adler32;
import java.util.zip.CheckedInputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.Index;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.StatPersisted;
import org.apache.zookeeper.server.EphemeralType;
import org.apache.zookeeper.server.SnapshotDigest;
import org.apache.zookeeper.server.persistence.FileHeader;
import org.apache.zookeeper.server.persistence.FileSnap;
import org.xerial.snappy.SnappyInputStream;

/**
 * What a snapshot file holds, read from its first byte to its last, with every checksum. Immutable.
 *
 * @param bytes of the file
 * @param suffix that a server knows its compression by: {@code .gz}, {@code .snappy}, or none
 * @param zxid the last one that it may show
 * @param kind whether it is the tree as it was after that zxid
 * @param digest of the tree, as a server calculates it
 * @param nodes with those that every tree has
 * @param ephemerals those of them that belong to sessions
 * @param sessions that were open
 * @param dataBytes of all nodes together
 */
record Snapshot(
        long bytes,
        String suffix,
        long zxid,
        Kind kind,
        long digest,
        long nodes,
        long ephemerals,
        int sessions,
        long dataBytes) {
    /** What the file's own digest says. */
    enum Kind {
        /** The tree after the zxid, and no other; every node has its ACL. */
        EXACT,
        /**
         * Writes continued while it was taken: later ones are in it in part, or without their ACL.
         * It takes the log behind it to be the state of any moment.
         */
        FUZZY,
        /** It has no digest of a version that is known here. */
        UNKNOWN
    }

    private static final int GZIP_FIRST = 0x1f;
    private static final int GZIP_SECOND = 0x8b;
    private static final byte[] SNAPPY = {(byte) 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    private static final int DIGEST_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;
    private static final int SEAL_BYTES = Long.BYTES + Integer.BYTES + 1;

    /** The first byte of an owner is the server of its session, or says that it is none. */
    private static final int SERVER_SHIFT = 56;

    private static final int EXTENDED = 0xff;
    private static final int LONGEST_END = 4096;
    private static final int LARGEST_NODE = 128 << 20;

    /** Everything for everybody: no map of ACLs has it. */
    private static final long OPEN_ACL = -1;

    private static final Pattern NAME = Pattern.compile("snapshot\\.([0-9a-f]{1,16})(\\..*)?");

    /**
     * Reads a file.
     *
     * @throws UnusableFileException if it is no snapshot, or not a whole and sound one
     */
    static Snapshot read(Path file) throws IOException {
        try (InputStream raw = new BufferedInputStream(Files.newInputStream(file))) {
            String suffix = suffix(raw);
            try (InputStream plain = new BufferedInputStream(decompress(raw, suffix))) {
                return new Reader(file, plain).read(suffix);
            }
        } catch (NoSuchFileException e) {
            throw new UnusableFileException(file + ": there is no such file");
        } catch (EOFException e) {
            throw new UnusableFileException(
                    file + ": it is torn: it ends in the middle of a snapshot");
        } catch (ZipException e) {
            throw new UnusableFileException(file + ": it is damaged: " + e.getMessage());
        }
    }

    private static String suffix(InputStream raw) throws IOException {
        raw.mark(SNAPPY.length);
        byte[] start = raw.readNBytes(SNAPPY.length);
        raw.reset();
        if (Arrays.equals(start, SNAPPY)) {
            return ".snappy";
        }
        return start.length > 1
                        && (start[0] & 0xff) == GZIP_FIRST
                        && (start[1] & 0xff) == GZIP_SECOND
                ? ".gz"
                : "";
    }

    private static InputStream decompress(InputStream raw, String suffix) throws IOException {
        return switch (suffix) {
            case ".gz" -> new GZIPInputStream(raw);
            case ".snappy" -> new SnappyInputStream(raw);
            default -> raw;
        };
    }

    /** Goes through one file. */
    private static final class Reader {
        private final Path file;
        private final InputStream plain;
        private final Adler32 checksum = new Adler32();
        private final BinaryInputArchive archive;
        private final SnapshotDigest digest = new SnapshotDigest();
        private final Set<Long> acls = new HashSet<>();
        private boolean lacksAcl;
        private long nodes;
        private long ephemerals;
        private long dataBytes;

        Reader(Path file, InputStream plain) {
            this.file = file;
            this.plain = plain;
            // An archive of jute's own would refuse nodes larger than the default of
            // jute.maxbuffer.
            this.archive =
                    new BinaryInputArchive(
                            new DataInputStream(new CheckedInputStream(plain, checksum)),
                            LARGEST_NODE,
                            0);
        }

        Snapshot read(String suffix) throws IOException {
            FileHeader header = new FileHeader();
            try {
                header.deserialize(archive, "fileheader");
            } catch (EOFException e) {
                throw foreign();
            }
            if (header.getMagic() != FileSnap.SNAP_MAGIC) {
                throw foreign();
            }
            int sessions;
            try {
                sessions = sessions();
                acls();
                tree();
            } catch (EOFException e) {
                throw e;
            } catch (IOException | RuntimeException e) {
                throw damaged("it makes no sense after " + nodes + " nodes");
            }
            long expected = checksum.getValue();
            if (archive.readLong("val") != expected) {
                throw damaged("its checksum does not fit");
            }
            if (archive.readInt("length") != 1 || archive.readByte("path") != '/') {
                throw damaged("its seal is broken");
            }
            return end(suffix, sessions);
        }

        private int sessions() throws IOException {
            int count = archive.readInt("count");
            for (int i = 0; i < count; i++) {
                archive.readLong("id");
                archive.readInt("timeout");
            }
            return count;
        }

        private void acls() throws IOException {
            int count = archive.readInt("map");
            for (int i = 0; i < count; i++) {
                acls.add(archive.readLong("long"));
                Index index = archive.startVector("acls");
                while (index != null && !index.done()) {
                    new ACL().deserialize(archive, "acl");
                    index.incr();
                }
            }
        }

        private void tree() throws IOException {
            String path = archive.readString("path");
            while (!path.equals("/")) {
                byte[] data = archive.readBuffer("data");
                long acl = archive.readLong("acl");
                // The ACLs are written before the tree, and no digest counts them.
                lacksAcl |= acl != OPEN_ACL && !acls.contains(acl);
                StatPersisted stat = new StatPersisted();
                stat.deserialize(archive, "statpersisted");
                digest.add(path, data, stat);
                nodes++;
                dataBytes += data == null ? 0 : data.length;
                if (isSession(stat.getEphemeralOwner())) {
                    ephemerals++;
                }
                path = archive.readString("path");
            }
        }

        /**
         * Containers and nodes that expire have an owner that is no session. Sessions of servers
         * from 128 on are negative.
         */
        private static boolean isSession(long owner) {
            return owner != 0
                    && owner != EphemeralType.CONTAINER_EPHEMERAL_OWNER
                    && owner >>> SERVER_SHIFT != EXTENDED;
        }

        /** Behind the tree's seal: since 3.6 a digest, since 3.9 the last zxid; each sealed. */
        private Snapshot end(String suffix, int sessions) throws IOException {
            byte[] rest = plain.readNBytes(LONGEST_END);
            int digestEnd = DIGEST_BYTES + SEAL_BYTES;
            int zxidEnd = Long.BYTES + SEAL_BYTES;
            boolean hasDigest = rest.length == digestEnd || rest.length == digestEnd + zxidEnd;
            boolean hasZxid = rest.length == zxidEnd || rest.length == digestEnd + zxidEnd;
            if (rest.length > 0 && !hasDigest && !hasZxid) {
                throw damaged(
                        rest.length < digestEnd + zxidEnd
                                ? "it is torn behind its tree"
                                : "there is something behind its end");
            }
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(rest));
            int at = 0;
            long zxid = nameOf();
            Kind kind = Kind.UNKNOWN;
            if (hasDigest) {
                long digestZxid = in.readLong();
                int version = in.readInt();
                long value = in.readLong();
                seal(in, rest, at, DIGEST_BYTES);
                at += digestEnd;
                zxid = Math.max(zxid, digestZxid);
                if (version == digest.version()) {
                    kind = value == digest.value() ? Kind.EXACT : Kind.FUZZY;
                }
            }
            if (hasZxid) {
                zxid = in.readLong();
                seal(in, rest, at, Long.BYTES);
            }
            if (lacksAcl) {
                kind = Kind.FUZZY;
            }
            if (zxid < 0) {
                throw damaged("neither it nor its name says which zxid it is of");
            }
            return new Snapshot(
                    Files.size(file),
                    suffix,
                    zxid,
                    kind,
                    digest.value(),
                    nodes,
                    ephemerals,
                    sessions,
                    dataBytes);
        }

        private void seal(DataInputStream in, byte[] rest, int at, int length) throws IOException {
            checksum.update(rest, at, length);
            if (in.readLong() != checksum.getValue()) {
                throw damaged("the checksum at its end does not fit");
            }
            if (in.readInt() != 1 || in.readByte() != '/') {
                throw damaged("the seal at its end is broken");
            }
            checksum.update(rest, at + length, SEAL_BYTES);
        }

        /** The zxid that the file is named after, as in a server's folder; -1 if it is not. */
        private long nameOf() {
            Matcher name = NAME.matcher(file.getFileName().toString());
            return name.matches() ? Long.parseUnsignedLong(name.group(1), 16) : -1;
        }

        private UnusableFileException foreign() {
            return new UnusableFileException(
                    file + ": it is no snapshot of a ZooKeeper server: it does not begin as one");
        }

        private UnusableFileException damaged(String how) {
            return new UnusableFileException(file + ": it is damaged: " + how);
        }
    }

    /** As ZooKeeper writes it: hexadecimal with 0x. */
    static String hex(long zxid) {
        return "0x" + Long.toHexString(zxid);
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("zxid", hex(zxid));
        json.put("kind", kind.name().toLowerCase(Locale.ROOT));
        json.put("digest", Long.toHexString(digest));
        json.put("nodes", nodes);
        json.put("ephemerals", ephemerals);
        json.put("sessions", sessions);
        json.put("dataBytes", dataBytes);
        json.put("bytes", bytes);
        return json;
    }
}
