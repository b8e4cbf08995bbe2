package io.saucr.services.checkpoint;

import io.saucr.services.checkpoint.SegmentLog.Entry;
import io.saucr.services.checkpoint.SegmentLog.Scan;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a member's folder holds, every byte checked. Immutable.
 *
 * @param path of the folder
 * @param member whose it is; empty where that cannot be read, and nothing else was looked at then
 * @param service whose member it is; empty as the member
 * @param birth of the service; empty where the member met none, too
 * @param bases the newest first
 * @param logs in order
 * @param from number of the first segment of the unbroken chain up to the last
 * @param last the newest segment that is whole, or as of which there is a whole base; {@link
 *     SegmentId#NONE} where there is none
 * @param known number of the newest segment of which the folder knows that the head named it
 * @param restoredFrom as of which segment the base is from which a start could restore the last
 *     one; {@link SegmentId#NONE} where it would begin with segment 1, empty where it could not
 * @param torn the end of the newest log file, which the next start cuts off
 * @param damages what no crash leaves
 */
public record MemberReport(
        Path path,
        Optional<String> member,
        Optional<String> service,
        Optional<Birth> birth,
        List<BaseFile> bases,
        List<LogFile> logs,
        long from,
        SegmentId last,
        long known,
        Optional<SegmentId> restoredFrom,
        Optional<Damage> torn,
        List<Damage> damages) {

    /**
     * A base.
     *
     * @param number that its name says
     * @param at the segment as of which it is; empty where it is not whole
     */
    public record BaseFile(Path file, long number, long bytes, Optional<SegmentId> at) {}

    /**
     * A log file.
     *
     * @param first number that its name says
     * @param segments that are whole, from the first on
     */
    public record LogFile(Path file, long first, long segments, long bytes) {}

    public MemberReport {
        bases = List.copyOf(bases);
        logs = List.copyOf(logs);
        damages = List.copyOf(damages);
    }

    /** Whether a start could restore the last segment from what is here. */
    public boolean leadsToLast() {
        return member.isPresent() && restoredFrom.isPresent();
    }

    /** Whether nothing is damaged or missing; a torn end is no damage. */
    public boolean isWhole() {
        return leadsToLast() && damages.isEmpty() && missing().isEmpty();
    }

    /** Segments that are not here and that no whole base covers, for people. */
    public List<String> missing() {
        List<String> missing = new ArrayList<>();
        long next = 1;
        for (LogFile log : logs) {
            long before = log.first() - 1;
            boolean covered =
                    bases.stream()
                            .flatMap(it -> it.at().stream())
                            .anyMatch(it -> it.number() >= before);
            if (log.first() > next && !covered) {
                missing.add(
                        (next == before ? "segment " + next + " is" : range(next, before) + " are")
                                + " missing or damaged before "
                                + log.file()
                                + ", and no base covers that. Put the files back, or let this"
                                + " member begin with an empty folder and take all from the"
                                + " others");
            }
            next = log.first() + log.segments();
        }
        return missing;
    }

    private static String range(long from, long to) {
        return "segments " + from + " to " + to;
    }

    static MemberReport of(Disk disk, Path path) throws IOException {
        Path file = path.resolve(MemberFolder.IDENTITY);
        if (!MemberFolder.isOne(disk, path)) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "this is not the folder of a member: it has no " + MemberFolder.IDENTITY);
        }
        try {
            if (!disk.exists(file)) {
                throw new RefusedFolderException(
                        file, -1, "it is missing. Put the file back, or use another folder");
            }
            return new Look(disk, path, MemberFolder.read(disk, file)).report();
        } catch (RefusedFolderException e) {
            return new MemberReport(
                    path,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    List.of(),
                    List.of(),
                    1,
                    SegmentId.NONE,
                    0,
                    Optional.empty(),
                    Optional.empty(),
                    List.of(new Damage(e.file(), e.offset(), e.reason())));
        }
    }

    /** One look. */
    private static final class Look {

        private final Disk disk;
        private final Path path;
        private final MemberIdentity identity;
        private final List<BaseFile> bases = new ArrayList<>();
        private final List<LogFile> logs = new ArrayList<>();
        private final List<Entry> entries = new ArrayList<>();
        private final List<Damage> damages = new ArrayList<>();
        private Optional<Damage> torn = Optional.empty();
        private long known;

        Look(Disk disk, Path path, MemberIdentity identity) {
            this.disk = disk;
            this.path = path;
            this.identity = identity;
            this.known = identity.known();
        }

        MemberReport report() throws IOException {
            for (String name : List.of(MemberFolder.SEGMENTS, MemberFolder.BASES)) {
                if (!disk.exists(path.resolve(name))) {
                    damages.add(
                            new Damage(
                                    path.resolve(name),
                                    -1,
                                    "it is missing, with what was in it. Put it back"));
                }
            }
            if (identity.birth().isPresent() && damages.isEmpty()) {
                try {
                    lookAtBases();
                    lookAtSegments();
                } catch (RefusedFolderException e) {
                    damages.add(new Damage(e.file(), e.offset(), e.reason()));
                }
            }
            List<SegmentId> whole = bases.stream().flatMap(it -> it.at().stream()).toList();
            SegmentId last =
                    entries.isEmpty() ? SegmentId.NONE : entries.get(entries.size() - 1).id();
            long from = entries.isEmpty() ? 1 : entries.get(0).number();
            if (!whole.isEmpty()) {
                known = Math.max(known, whole.get(0).number());
                if (whole.get(0).number() > last.number()) {
                    last = whole.get(0);
                    from = last.number() + 1;
                }
            }
            return new MemberReport(
                    path,
                    Optional.of(identity.member()),
                    Optional.of(identity.service()),
                    identity.birth(),
                    bases,
                    logs,
                    from,
                    last,
                    known,
                    restoredFrom(whole, last),
                    torn,
                    damages);
        }

        private void lookAtBases() throws IOException {
            Path folder = path.resolve(MemberFolder.BASES);
            for (long number : MemberBase.numbers(disk, folder)) {
                Path file = MemberBase.file(folder, number);
                Optional<SegmentId> at = Optional.empty();
                try (Disk.File opened = disk.open(file)) {
                    try {
                        at =
                                Optional.of(
                                        MemberBase.whole(
                                                        opened,
                                                        file,
                                                        number,
                                                        identity.service(),
                                                        identity.birthOf(number),
                                                        (name, content) -> {})
                                                .at());
                    } catch (RefusedFolderException e) {
                        damages.add(new Damage(file, e.offset(), e.reason()));
                    }
                    bases.add(new BaseFile(file, number, opened.size(), at));
                }
            }
        }

        private void lookAtSegments() throws IOException {
            Path folder = path.resolve(MemberFolder.SEGMENTS);
            List<Long> firsts = SegmentLog.firstNumbers(disk, folder);
            for (int index = 0; index < firsts.size(); index++) {
                long first = firsts.get(index);
                Path file = SegmentLog.file(folder, first);
                Scan scan =
                        SegmentLog.scan(
                                disk, file, first, identity.service(), identity::birthOf, true);
                logs.add(new LogFile(file, first, scan.entries().size(), scan.size()));
                for (Entry entry : scan.entries()) {
                    add(entry);
                }
                boolean newest = index == firsts.size() - 1;
                if (newest && scan.problem().map(SegmentChain::isOfCrash).orElse(false)) {
                    torn = scan.damage();
                } else {
                    scan.damage().ifPresent(damages::add);
                }
            }
        }

        private void add(Entry entry) {
            if (!entries.isEmpty()) {
                SegmentId before = entries.get(entries.size() - 1).id();
                if (entry.number() != before.number() + 1
                        || !entry.previous().equals(before.digest())) {
                    entries.clear();
                }
            }
            entries.add(entry);
            known = Math.max(known, entry.named());
        }

        /** From the newest base that leads to the last, as a start would. */
        private Optional<SegmentId> restoredFrom(List<SegmentId> whole, SegmentId last) {
            List<SegmentId> candidates = new ArrayList<>(whole);
            candidates.add(SegmentId.NONE);
            return candidates.stream().filter(it -> leadsTo(it, last)).findFirst();
        }

        private boolean leadsTo(SegmentId base, SegmentId last) {
            if (base.equals(last)) {
                return true;
            }
            return !entries.isEmpty()
                    && entries.get(entries.size() - 1).id().equals(last)
                    && entries.stream()
                            .anyMatch(
                                    it ->
                                            it.number() == base.number() + 1
                                                    && it.previous().equals(base.digest()));
        }
    }
}
