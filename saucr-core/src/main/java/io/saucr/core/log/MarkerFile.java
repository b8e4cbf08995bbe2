package io.saucr.core.log;

import io.saucr.core.AsciiScanner;
import io.saucr.core.Zxid;
import io.saucr.core.quorum.View;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * The bytes of the marker files (R12, R13, R17, R26): ASCII lines that an operator can read,
 * guarded by a checksum.
 *
 * <pre>
 * saucr-fast-switch 1          saucr-latest-on-disk 1
 * zxid=100000005               zxid=100000009
 * crc32c=1f2e3d4c              lle=1=100000009,2=100000009
 *                              crc32c=0a0b0c0d
 *
 * saucr-latest-on-disk 2       (once a view was sealed, R23)
 * zxid=100000009
 * lle=1=100000009,2=100000009
 * view=100000007;3;1,2,3
 * crc32c=1b0a0c0d
 *
 * saucr-identity 1
 * ensemble=orders              (if it has a name)
 * server=2
 * log=9f8e7d6c5b4a3928
 * previous=1                   (if it is not the epoch)
 * epoch=2
 * extent=100000009
 * marker=100000005
 * crc32c=0b1c2d3e
 *
 * saucr-replacement 1          (in the folder of a copied history, R17)
 * log=9f8e7d6c5b4a3928         (if the log has an identity)
 * epoch=2
 * file=snapshot.200000003;4711
 * file=log.200000004;815
 * crc32c=1c2d3e4f
 * </pre>
 *
 * The checksum is over every byte before its line. Reading accepts exactly what writing produces.
 * Syncing, renaming and syncing the directory are the caller's.
 */
public final class MarkerFile {
    /** No marker file is longer than this many bytes; a reader need not look further. */
    public static final int MAX_LENGTH = 256 + LleMap.MAX_ENCODED_LENGTH + View.MAX_ENCODED_LENGTH;

    private static final String FAST_SWITCH = "saucr-fast-switch";
    private static final String LATEST_ON_DISK = "saucr-latest-on-disk";
    private static final String IDENTITY = "saucr-identity";
    private static final String REPLACEMENT = "saucr-replacement";
    private static final Pattern SIZED_FILE = Pattern.compile("([a-z0-9.]{1,64});([0-9]{1,18})");
    private static final String VERSION = "1";
    private static final String VERSION_WITH_VIEW = "2";

    private MarkerFile() {}

    /**
     * The content of the latest-on-disk marker.
     *
     * @param zxid what the force covered
     * @param lleMap the map as of that entry
     * @param view the own view
     */
    public record LatestOnDisk(long zxid, LleMap lleMap, View view) {}

    /**
     * What a copied history consists of that is about to replace a server's own (R17).
     *
     * @param log of the folder's identity; empty if it had none
     * @param epoch the least epoch that the server needs to load it, at least 0
     * @param files their sizes in bytes, by their names
     */
    public record Replacement(OptionalLong log, long epoch, SortedMap<String, Long> files) {}

    /** The fast-switch marker: {@code zxid} is the first fast entry. */
    public static byte[] encodeFastSwitch(long zxid) {
        return sealed(header(FAST_SWITCH) + zxidLine(zxid));
    }

    /** The latest-on-disk marker: the log is synced up to {@code zxid}. */
    public static byte[] encodeLatestOnDisk(long zxid, LleMap map, View view) {
        String version = view.isFirst() ? VERSION : VERSION_WITH_VIEW;
        return sealed(
                (LATEST_ON_DISK + " " + version + "\n")
                        + zxidLine(zxid)
                        + ("lle=" + map.encode() + "\n")
                        + (view.isFirst() ? "" : "view=" + view.encode() + "\n"));
    }

    /**
     * Reads a fast-switch marker.
     *
     * @return its zxid
     * @throws MalformedMarkerException when the bytes are anything but a whole marker of a known
     *     version
     */
    public static long decodeFastSwitch(byte[] bytes) throws MalformedMarkerException {
        Lines lines = new Lines("fast-switch marker", bytes);
        lines.header(FAST_SWITCH);
        long zxid = lines.zxid();
        lines.end();
        return zxid;
    }

    /**
     * Reads a latest-on-disk marker.
     *
     * @throws MalformedMarkerException when the bytes are anything but a whole marker of a known
     *     version
     */
    public static LatestOnDisk decodeLatestOnDisk(byte[] bytes) throws MalformedMarkerException {
        Lines lines = new Lines("latest-on-disk marker", bytes);
        boolean withView = lines.header(LATEST_ON_DISK, VERSION_WITH_VIEW);
        long zxid = lines.zxid();
        LleMap map = lines.lle();
        View view = withView ? lines.view(zxid) : View.FIRST;
        lines.end();
        return new LatestOnDisk(zxid, map, view);
    }

    /** What the log folder records about itself. */
    public static byte[] encodeIdentity(LogIdentity identity) {
        return sealed(
                header(IDENTITY)
                        + (identity.ensemble().isEmpty()
                                ? ""
                                : "ensemble=" + identity.ensemble() + "\n")
                        + ("server=" + identity.server() + "\n")
                        + ("log=" + Long.toHexString(identity.log()) + "\n")
                        + (identity.previous() == identity.epoch()
                                ? ""
                                : "previous=" + identity.previous() + "\n")
                        + ("epoch=" + identity.epoch() + "\n")
                        + ("extent=" + Long.toHexString(identity.extent()) + "\n")
                        + ("marker=" + Long.toHexString(identity.marker()) + "\n"));
    }

    /**
     * Reads what {@link #encodeIdentity} wrote.
     *
     * @throws MalformedMarkerException when the bytes are anything but a whole file of a known
     *     version
     */
    public static LogIdentity decodeIdentity(byte[] bytes) throws MalformedMarkerException {
        Lines lines = new Lines("identity", bytes);
        lines.header(IDENTITY);
        String ensemble = lines.optionalWord("ensemble=", LogIdentity.ENSEMBLE);
        long server = lines.number("server=");
        long log = lines.zxid("log=");
        long previous = lines.optionalNumber("previous=");
        long epoch = lines.number("epoch=");
        long extent = lines.zxid("extent=");
        long marker = lines.zxid("marker=");
        lines.end();
        lines.require(
                previous < epoch, "previous=" + previous + ", which is not before epoch=" + epoch);
        return new LogIdentity(
                ensemble, server, log, previous < 0 ? epoch : previous, epoch, extent, marker);
    }

    /** The files of a copied history. */
    public static byte[] encodeReplacement(Replacement replacement) {
        StringBuilder body = new StringBuilder(header(REPLACEMENT));
        replacement.log().ifPresent(log -> body.append("log=" + Long.toHexString(log) + "\n"));
        body.append("epoch=" + replacement.epoch() + "\n");
        replacement
                .files()
                .forEach((name, bytes) -> body.append("file=" + name + ";" + bytes + "\n"));
        return sealed(body.toString());
    }

    /**
     * Reads what {@link #encodeReplacement} wrote.
     *
     * @throws MalformedMarkerException when the bytes are anything but a whole file of a known
     *     version
     */
    public static Replacement decodeReplacement(byte[] bytes) throws MalformedMarkerException {
        Lines lines = new Lines("list of files", bytes);
        lines.header(REPLACEMENT);
        OptionalLong log =
                lines.nextIs("log=") ? OptionalLong.of(lines.zxid("log=")) : OptionalLong.empty();
        long epoch = lines.number("epoch=");
        SortedMap<String, Long> files = new TreeMap<>();
        while (lines.nextIs("file=")) {
            Matcher file = SIZED_FILE.matcher(lines.optionalWord("file=", SIZED_FILE));
            lines.require(file.matches(), "a file without a size");
            files.put(file.group(1), Long.parseLong(file.group(2)));
        }
        lines.end();
        return new Replacement(log, epoch, files);
    }

    private static String header(String kind) {
        return kind + " " + VERSION + "\n";
    }

    private static String zxidLine(long zxid) {
        if (zxid < 0) {
            throw new IllegalArgumentException("negative zxid " + Zxid.toString(zxid));
        }
        return "zxid=" + Long.toHexString(zxid) + "\n";
    }

    private static byte[] sealed(String body) {
        byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
        return (body + crcLine(bytes, bytes.length)).getBytes(StandardCharsets.US_ASCII);
    }

    private static String crcLine(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        String digits = Long.toHexString(crc.getValue());
        return "crc32c=" + "0".repeat(8 - digits.length()) + digits + "\n";
    }

    /** Walks the lines of one file. */
    private static final class Lines {
        private final String what;
        private final byte[] bytes;
        private int lineStart;
        private int lineNumber;

        Lines(String what, byte[] bytes) throws MalformedMarkerException {
            this.what = what;
            this.bytes = bytes;
            if (bytes.length > MAX_LENGTH) {
                throw new MalformedMarkerException(
                        "%s: %s bytes, at most %s are allowed"
                                .formatted(what, bytes.length, MAX_LENGTH));
            }
        }

        void header(String kind) throws MalformedMarkerException {
            header(kind, VERSION);
        }

        /** Whether the version is the newest one, and not the first. */
        boolean header(String kind, String newest) throws MalformedMarkerException {
            String line = next(kind + " " + VERSION);
            if (line.equals(kind + " " + VERSION)) {
                return false;
            }
            if (line.equals(kind + " " + newest)) {
                return true;
            }
            if (line.startsWith(kind + " ")) {
                throw malformed(
                        "version " + (newest.equals(VERSION) ? "" : VERSION + " or ") + newest,
                        "version " + line.substring(kind.length() + 1));
            }
            throw malformed("'" + kind + " " + VERSION + "'", "'" + line + "'");
        }

        long zxid() throws MalformedMarkerException {
            return zxid("zxid=");
        }

        long zxid(String key) throws MalformedMarkerException {
            return parse(key, in -> in.hex("a zxid in hex"));
        }

        long number(String key) throws MalformedMarkerException {
            return parse(
                    key,
                    in -> {
                        long value = in.decimal("a number");
                        if (value < 0) {
                            throw new IllegalArgumentException(key + value + " is negative");
                        }
                        return value;
                    });
        }

        /** The number after the key, or -1 if the next line does not begin with it. */
        long optionalNumber(String key) throws MalformedMarkerException {
            return nextIs(key) ? number(key) : -1;
        }

        void require(boolean holds, String found) throws MalformedMarkerException {
            if (!holds) {
                throw new MalformedMarkerException(what + ": " + found);
            }
        }

        /** What follows the key, or nothing if the next line does not begin with it. */
        String optionalWord(String key, Pattern allowed) throws MalformedMarkerException {
            if (!nextIs(key)) {
                return "";
            }
            String line = next(key + "...");
            String word = line.substring(key.length());
            if (!allowed.matcher(word).matches()) {
                throw malformed("'" + key + "' and " + allowed, "'" + line + "'");
            }
            return word;
        }

        private boolean nextIs(String key) throws MalformedMarkerException {
            int before = lineStart;
            boolean there = next(key + "...").startsWith(key);
            lineStart = before;
            lineNumber--;
            return there;
        }

        LleMap lle() throws MalformedMarkerException {
            return parse("lle=", LleMap::decode);
        }

        /** Its seal is on disk, too. */
        View view(long onDisk) throws MalformedMarkerException {
            View view = parse("view=", View::decode);
            if (view.seal() > onDisk) {
                throw malformed(
                        "a view sealed at " + Zxid.toString(onDisk) + " or before",
                        Zxid.toString(view.seal()));
            }
            return view;
        }

        void end() throws MalformedMarkerException {
            String expected = crcLine(bytes, lineStart).strip();
            String line = next(expected);
            if (!line.equals(expected)) {
                throw malformed("'" + expected + "'", "'" + line + "'");
            }
            if (lineStart != bytes.length) {
                lineNumber++;
                throw malformed("the end of the file", (bytes.length - lineStart) + " more bytes");
            }
        }

        private <T> T parse(String key, Function<AsciiScanner, T> value)
                throws MalformedMarkerException {
            String line = next(key + "...");
            if (!line.startsWith(key)) {
                throw malformed("'" + key + "...'", "'" + line + "'");
            }
            AsciiScanner in =
                    new AsciiScanner(what + ", line " + lineNumber, line.substring(key.length()));
            try {
                T parsed = value.apply(in);
                in.expectEnd();
                return parsed;
            } catch (IllegalArgumentException e) {
                throw new MalformedMarkerException(e.getMessage(), e);
            }
        }

        private String next(String expected) throws MalformedMarkerException {
            lineNumber++;
            if (lineStart == bytes.length) {
                throw malformed("'" + expected + "'", "the end of the file");
            }
            int end = lineStart;
            while (end < bytes.length && bytes[end] != '\n') {
                end++;
            }
            // Latin-1 keeps one character per byte, so damage shows up as a wrong character, not as
            // a guess.
            String line =
                    new String(bytes, lineStart, end - lineStart, StandardCharsets.ISO_8859_1);
            if (end == bytes.length) {
                throw malformed("a line that ends", "'" + line + "' without a line end");
            }
            lineStart = end + 1;
            return line;
        }

        private MalformedMarkerException malformed(String expected, String found) {
            String shown = found.length() <= 80 ? found : found.substring(0, 80) + "...";
            return new MalformedMarkerException(
                    what + ", line " + lineNumber + ": expected " + expected + ", found " + shown);
        }
    }
}
