package io.saucr.services.standby;

import io.saucr.services.Protection;
import io.saucr.services.ServiceException;
import io.saucr.services.checkpoint.EnsembleStore;
import io.saucr.services.checkpoint.FolderStore;
import io.saucr.services.checkpoint.Loading;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.MissingSegmentException;
import io.saucr.services.checkpoint.RefusedSegmentException;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.StandbyOrder;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Makes a member's folder out of what members share, where all their own are lost: up to what the
 * head names, or to the newest segment there that an unbroken chain leads to (C4). Which of its
 * segments count the head decides, or an order that accepts a loss ({@link MemberLoss}). What is
 * shared is only read. A crash in between does no harm: the next call continues.
 */
public final class FolderRestore {

    /** The chain of the newest epoch has all that earlier ones named, so it comes first. */
    private static final Comparator<SegmentId> NEWEST_FIRST =
            Comparator.comparingLong(SegmentId::epoch)
                    .thenComparingLong(SegmentId::number)
                    .thenComparing(SegmentId::digest)
                    .reversed();

    private FolderRestore() {}

    /**
     * Fills the folder of a place.
     *
     * @return what was done and what to do next: lines for people
     * @throws RefusedFolderException where the folder is in use, or another's, or the store cannot
     *     be used
     * @throws ServiceException where there is no head, or the store has nothing to begin with
     */
    public static List<String> from(Disk disk, Place place, Protection.Store store)
            throws IOException, InterruptedException {
        Path path = place.folder();
        SecureRandom random = new SecureRandom();
        ServicePath servicePath = StandbyService.servicePath(place);
        if (store instanceof Protection.Store.Folder it
                && path.toAbsolutePath().startsWith(it.path().toAbsolutePath())) {
            throw new IllegalArgumentException(
                    "a member's own folder is not within what members share, "
                            + it.path()
                            + ": name another one than "
                            + path);
        }
        throwIfForeign(disk, path);
        StandbyHead head = head(servicePath);
        List<String> report = new ArrayList<>();
        try (SharedStore.Opener opener = opener(place, store, servicePath);
                SharedStore shared = opener.open(head.holder().birth());
                SharedStore before =
                        opener.open(
                                head.replaces()
                                        .map(Replaced::birth)
                                        .orElse(head.holder().birth()))) {
            List<SegmentId> ends = ends(shared, head.segment());
            // What counts of the birth before, until a base of this one is there (C17).
            List<SegmentId> earlier = head.replaces().map(Replaced::upTo).stream().toList();
            if (ends.isEmpty() && earlier.isEmpty()) {
                throw nothing(opener.where(), place, head, report);
            }
            try (MemberFolder folder = MemberFolder.open(disk, path, place.name(), random)) {
                folder.birth(head.holder().birth(), head.replaces());
                SegmentId last = fill(shared, folder, ends, report::add);
                if (last.number() == 0) {
                    last = fill(before, folder, earlier, report::add);
                }
                if (last.number() == 0) {
                    throw nothing(opener.where(), place, head, report);
                }
                report.add(
                        path
                                + " is the folder of member "
                                + folder.member()
                                + " now, with all up to segment "
                                + last
                                + ", from "
                                + opener.where());
                report.add(
                        last.equals(head.segment())
                                ? "The head names that segment: start this member"
                                : "The head names segment "
                                        + head.segment()
                                        + ", up to which nothing whole leads there. Start this"
                                        + " member where another one has it; where nobody has,"
                                        + " 'accept-data-loss' says what would be lost");
            } catch (IllegalArgumentException e) {
                throw new ServiceException(
                        path
                                + " holds segments that do not lead to those of "
                                + opener.where()
                                + ": "
                                + e.getMessage()
                                + ". This folder was left as it is: name an empty one");
            }
        }
        return report;
    }

    private static ServiceException nothing(
            String where, Place place, StandbyHead head, List<String> problems) {
        return new ServiceException(
                where
                        + " holds no segment of generation "
                        + head.holder().birth()
                        + " of "
                        + place.name()
                        + " that a whole chain leads to"
                        + (problems.isEmpty() ? "" : ": " + String.join("; ", problems)));
    }

    private static void throwIfForeign(Disk disk, Path path) throws IOException {
        boolean usable = true;
        if (disk.exists(path)) {
            try {
                usable = disk.list(path).isEmpty() || MemberFolder.isOne(disk, path);
            } catch (FileSystemException e) {
                // A file, or nobody may read it.
                usable = false;
            }
        }
        if (!usable) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "there is something else than a member's folder here. Name an empty folder, or"
                            + " one that is not there yet");
        }
    }

    private static StandbyHead head(ServicePath servicePath)
            throws IOException, InterruptedException {
        try (StandbyOrder order = new StandbyOrder(servicePath)) {
            return order.seen().found().head();
        }
    }

    private static SharedStore.Opener opener(
            Place place, Protection.Store store, ServicePath servicePath) {
        if (store instanceof Protection.Store.Folder it) {
            return FolderStore.toRead(it.path(), place.name());
        }
        if (store instanceof Protection.Store.Ensemble) {
            return EnsembleStore.below(servicePath, place.name());
        }
        throw new IllegalArgumentException(
                "a folder is restored from Store.folder(path) or Store.ensemble(): else members"
                        + " share nothing");
    }

    /**
     * Where a chain may end.
     *
     * @param named by the head: where it is there it comes first, as nothing behind it counts
     */
    static List<SegmentId> ends(SharedStore from, SegmentId named) throws IOException {
        Set<SegmentId> all = new TreeSet<>(NEWEST_FIRST);
        all.addAll(from.list());
        all.addAll(from.bases());
        List<SegmentId> ends = new ArrayList<>();
        if (all.remove(named)) {
            ends.add(named);
        }
        ends.addAll(all);
        return ends;
    }

    /**
     * Loads the first chain that is whole.
     *
     * @param problems hears what could not be used
     * @return the newest segment that the folder holds
     * @throws IllegalArgumentException where the folder holds something else; it was left as it is
     */
    static SegmentId fill(
            SharedStore from, MemberFolder into, List<SegmentId> ends, Consumer<String> problems)
            throws IOException {
        for (SegmentId end : ends) {
            try {
                boolean unused =
                        new Loading(from, into)
                                .load(
                                        end,
                                        segment -> {
                                            into.append(segment);
                                            return true;
                                        });
                into.force();
                return into.last();
            } catch (MissingSegmentException | RefusedSegmentException | RefusedFolderException e) {
                problems.accept("Not up to segment " + end + ": " + e.getMessage());
            }
        }
        return into.last();
    }
}
