package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.BaseFormat;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The file of a base in a member's folder: the state as of a segment. Its format is that of other
 * bases; its first section, "checkpoint", says which segment and which epochs. Immutable.
 *
 * <p>That section, big endian: 1 (4), the service's name as {@link DataOutputStream#writeUTF}
 * writes it, epoch (8), number (8) and digest (32) of the segment, how many epochs (4), of each its
 * number (8) and nonce (8).
 *
 * @param file where it is
 * @param at the segment as of which it is
 * @param epochs up to that segment, in order
 * @param bytes of the file
 */
record MemberBase(Path file, SegmentId at, List<Incarnation> epochs, long bytes) {

    static final String SECTION = "checkpoint";

    private static final Pattern NAME = Pattern.compile("([0-9]{19})\\.snap");
    private static final String RENAMED = ".named";
    private static final int FORMAT = 1;
    private static final int DIGEST_BYTES = 32;
    private static final String ADVICE =
            "The older base and its chain serve instead, if they are whole; else take a base from"
                    + " another member";

    MemberBase {
        epochs = List.copyOf(epochs);
    }

    /** The numbers of the segments as of which there are bases, the newest first. */
    static List<Long> numbers(Disk disk, Path folder) throws IOException {
        List<Long> numbers = SegmentLog.numbers(disk, folder, NAME);
        Collections.reverse(numbers);
        return numbers;
    }

    static Path file(Path folder, long number) {
        return folder.resolve(String.format(Locale.ROOT, "%019d.snap", number));
    }

    static RefusedFolderException gone(Path path) {
        return new RefusedFolderException(path, -1, "the base is missing. " + ADVICE);
    }

    /**
     * Gives the bases of a folder their names once more, on disk: those that are read may be in
     * memory only, where a process before failed to force them.
     */
    static void nameAgain(Disk disk, Path folder) throws IOException {
        for (String name : disk.list(folder)) {
            if (name.endsWith(RENAMED)) {
                String own = name.substring(0, name.length() - RENAMED.length());
                disk.rename(folder.resolve(name), folder.resolve(own));
            }
        }
        for (long number : numbers(disk, folder)) {
            Path file = file(folder, number);
            Path renamed = file.resolveSibling(file.getFileName() + RENAMED);
            disk.rename(file, renamed);
            disk.rename(renamed, file);
        }
        disk.forceFolder(folder);
    }

    /**
     * Writes a base into an empty file.
     *
     * @param epochs among them that of the segment
     */
    static void write(
            Disk.File file,
            String service,
            SegmentId at,
            List<Incarnation> epochs,
            Base.Sections sections)
            throws IOException {
        Incarnation epoch =
                epochs.stream().filter(it -> it.number() == at.epoch()).findFirst().orElseThrow();
        BaseFormat.FileWriter writer = new BaseFormat.FileWriter(file, epoch, at.number());
        DataOutputStream out = new DataOutputStream(writer.section(SECTION));
        out.writeInt(FORMAT);
        out.writeUTF(service);
        out.writeLong(at.epoch());
        out.writeLong(at.number());
        out.write(HexFormat.of().parseHex(at.digest()));
        out.writeInt(epochs.size());
        for (Incarnation each : epochs) {
            out.writeLong(each.number());
            out.writeLong(each.nonce());
        }
        out.flush();
        sections.writeTo(writer);
        writer.end();
    }

    /** Reads what a base is about; of its bytes those are checked that were read for it. */
    static MemberBase about(Disk.File file, Path path, long number, String service, Birth birth)
            throws IOException {
        return read(file, path, number, service, birth, null);
    }

    /**
     * Reads all of a base.
     *
     * @param sections takes those that were given to {@link #write}
     * @throws RefusedFolderException where it is not a whole base of that segment, service and
     *     birth
     */
    static MemberBase whole(
            Disk.File file,
            Path path,
            long number,
            String service,
            Birth birth,
            Base.SectionReader sections)
            throws IOException {
        return read(file, path, number, service, birth, sections);
    }

    private static MemberBase read(
            Disk.File file,
            Path path,
            long number,
            String service,
            Birth birth,
            Base.SectionReader sections)
            throws IOException {
        BaseFormat.FileReader reader =
                new BaseFormat.FileReader(
                        path, file, number, it -> it.birth().equals(birth), ADVICE);
        List<MemberBase> found = new ArrayList<>();
        Base.SectionReader each =
                (name, content) -> {
                    if (found.isEmpty()) {
                        found.add(
                                checkpoint(
                                        path, number, file.size(), service, birth, name, content));
                    } else {
                        sections.section(name, content);
                    }
                };
        if (sections == null) {
            reader.first(each);
        } else {
            reader.sections(each);
        }
        if (found.isEmpty()) {
            throw new RefusedFolderException(path, -1, "the base is empty. " + ADVICE);
        }
        return found.get(0);
    }

    private static MemberBase checkpoint(
            Path path,
            long number,
            long bytes,
            String service,
            Birth birth,
            String section,
            InputStream content)
            throws IOException {
        if (!section.equals(SECTION)) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "it is a base, but not that of a service with standbys: it begins with section"
                            + " \""
                            + section
                            + "\". "
                            + ADVICE);
        }
        try {
            return fields(path, number, bytes, service, birth, new DataInputStream(content));
        } catch (IllegalArgumentException | EOFException e) {
            // Its checksums fit: the one that wrote it did not mean it as a base of ours.
            throw new RefusedFolderException(
                    path, -1, "the base says what none says: " + e.getMessage() + ". " + ADVICE);
        }
    }

    private static MemberBase fields(
            Path path, long number, long bytes, String service, Birth birth, DataInputStream in)
            throws IOException {
        int format = in.readInt();
        if (format != FORMAT) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "the base says what it is in format "
                            + format
                            + ", and this release reads "
                            + FORMAT
                            + ". Use the release that wrote it");
        }
        String of = in.readUTF();
        if (!of.equals(service)) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "the base is one of service \""
                            + of
                            + "\", not of \""
                            + service
                            + "\". Put back the files of this folder");
        }
        long epoch = in.readLong();
        long segment = in.readLong();
        byte[] digest = new byte[DIGEST_BYTES];
        in.readFully(digest);
        SegmentId at = new SegmentId(epoch, segment, HexFormat.of().formatHex(digest));
        if (segment != number) {
            throw new IllegalArgumentException(
                    "it is as of segment " + at + ", and its name and header say " + number);
        }
        List<Incarnation> epochs = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            epochs.add(new Incarnation(birth, in.readLong(), in.readLong()));
        }
        return new MemberBase(path, at, epochs, bytes);
    }
}
