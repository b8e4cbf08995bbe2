package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a folder that members share holds of one birth, every byte checked. Which segment counts
 * only the head knows: this is about the newest one of the newest epoch. Immutable.
 *
 * @param path of the birth's folder
 * @param service whose it is; empty where no segment is whole
 * @param segments that are whole
 * @param bases that are whole, the newest last
 * @param last the newest segment of the newest epoch, or as of which there is such a base; {@link
 *     SegmentId#NONE} where there is none
 * @param restoredFrom as of which segment the base is from which a chain leads to the last one;
 *     {@link SegmentId#NONE} where it begins with segment 1, empty where none does
 * @param missing what that chain lacks; empty text where it lacks nothing
 * @param unfinished files that a process left that ended while it wrote
 * @param damages what no crash leaves
 */
public record SharedReport(
        Path path,
        Birth birth,
        Optional<String> service,
        int segments,
        List<SegmentId> bases,
        SegmentId last,
        Optional<SegmentId> restoredFrom,
        String missing,
        int unfinished,
        List<Damage> damages) {

    private static final Pattern BIRTH = Pattern.compile("[0-9a-f]{32}");
    private static final String UNFINISHED = ".tmp";

    public SharedReport {
        bases = List.copyOf(bases);
        damages = List.copyOf(damages);
    }

    /** Whether a member could take over with the last segment from what is here. */
    public boolean leadsToLast() {
        return restoredFrom.isPresent();
    }

    /** Whether nothing is damaged or missing; unfinished files are no damage. */
    public boolean isWhole() {
        return leadsToLast() && damages.isEmpty();
    }

    /**
     * Looks at a folder that members share, without changing anything: at each birth in it, or at
     * the one whose folder it is.
     *
     * @param disk {@link Disk#readOnly} will do
     * @return empty where it is none
     * @throws IOException where the disk fails
     */
    public static List<SharedReport> of(Disk disk, Path path) throws IOException {
        List<SharedReport> all = new ArrayList<>();
        List<Path> births = new ArrayList<>();
        if (BIRTH.matcher(String.valueOf(path.getFileName())).matches()) {
            births.add(path);
        } else {
            for (String name : disk.list(path)) {
                if (BIRTH.matcher(name).matches()) {
                    births.add(path.resolve(name));
                }
            }
        }
        for (Path each : births) {
            all.add(new Look(disk, each).report());
        }
        return all;
    }

    /** One look at one birth. */
    private static final class Look {

        private final Disk disk;
        private final Path path;
        private final Birth birth;
        private final Map<SegmentId, SegmentHeader> segments = new HashMap<>();
        private final List<SegmentId> bases = new ArrayList<>();
        private final List<Damage> damages = new ArrayList<>();
        private Optional<String> service = Optional.empty();

        Look(Disk disk, Path path) {
            this.disk = disk;
            this.path = path;
            this.birth = Birth.parse(path.getFileName().toString());
        }

        SharedReport report() throws IOException {
            List<String> names = disk.list(path);
            for (SegmentId id : SegmentName.parse(names)) {
                segment(id);
            }
            for (SegmentId at : SegmentName.parseBases(names)) {
                base(at);
            }
            List<SegmentId> all = new ArrayList<>(segments.keySet());
            all.addAll(bases);
            SegmentId last =
                    all.stream()
                            .max(
                                    Comparator.comparingLong(SegmentId::epoch)
                                            .thenComparingLong(SegmentId::number))
                            .orElse(SegmentId.NONE);
            SegmentId at = last;
            String missing = "";
            while (missing.isEmpty() && at.number() > 0 && !bases.contains(at)) {
                SegmentHeader header = segments.get(at);
                Optional<SegmentId> before = before(header, all);
                if (before.isEmpty()) {
                    missing =
                            "segment "
                                    + (header.number() - 1)
                                    + ", after which "
                                    + at
                                    + " comes, is missing or damaged, and no base is as of it. Put"
                                    + " the file back; a primary fills a store that is empty from"
                                    + " its own disk";
                }
                at = before.orElse(at);
            }
            return new SharedReport(
                    path,
                    birth,
                    service,
                    segments.size(),
                    bases,
                    last,
                    missing.isEmpty() ? Optional.of(at) : Optional.empty(),
                    missing,
                    (int) names.stream().filter(it -> it.endsWith(UNFINISHED)).count(),
                    damages);
        }

        private static Optional<SegmentId> before(SegmentHeader header, List<SegmentId> all) {
            if (header.number() == 1) {
                return Optional.of(SegmentId.NONE);
            }
            return all.stream()
                    .filter(
                            it ->
                                    it.number() == header.number() - 1
                                            && it.digest().equals(header.previous()))
                    .findFirst();
        }

        private void segment(SegmentId id) throws IOException {
            Path file = path.resolve(SegmentName.of(id));
            try (Disk.File opened = disk.open(file)) {
                ByteBuffer content =
                        ByteBuffer.allocate(
                                (int) Math.min(opened.size(), Segment.LARGEST_BYTES + 1L));
                opened.read(content, 0);
                Segment segment = Segment.decode(content.flip());
                String of = service.orElse(segment.header().service());
                segments.put(id, SegmentName.checked(id, segment, of, birth).header());
                service = Optional.of(of);
            } catch (RefusedSegmentException e) {
                damages.add(new Damage(file, e.offset(), e.getMessage()));
            }
        }

        private void base(SegmentId at) throws IOException {
            Path file = path.resolve(SegmentName.ofBase(at));
            Disk.File opened = disk.open(file);
            try {
                if (service.isEmpty()) {
                    throw new RefusedFolderException(
                            file, -1, "no segment next to it says whose base this is");
                }
                SegmentName.checkedBase(at, opened, file, service.get(), birth).close();
                bases.add(at);
            } catch (RefusedFolderException e) {
                opened.close();
                damages.add(new Damage(file, e.offset(), e.reason()));
            }
        }
    }
}
