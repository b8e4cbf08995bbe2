package io.saucr.services.move;

import io.saucr.services.ServiceException;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Restored;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Claim;
import io.saucr.services.core.head.Claim.Decision;
import io.saucr.services.core.head.Claim.Seen;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.HeadOrder;
import io.saucr.services.ensemble.StandbyOrder;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.FolderBirth;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.local.OwnDisk;
import io.saucr.services.standby.StandbyService;
import io.saucr.services.turns.FoldedState;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Moves a service that is stopped from {@code Protection.local()} to {@code Protection.standby()},
 * or back. The birth stays, so clients and peers continue as after a restart: each message is
 * consumed exactly once (K11, K14).
 *
 * <p>First a new folder is written and synced. Then one conditional write of the head hands the
 * service over (C5), and that is the step which counts: before it the old folder is the service's,
 * after it the new one. The folder that the service leaves is kept, and refused by every start,
 * since the head is not its own any more.
 */
public final class ProtectionMove {

    /** A primary that is asked to show its head has so long to do it. */
    private static final Duration ANSWER = Duration.ofSeconds(1);

    /** So often it looks whether a process that was stopped has ended. */
    private static final Duration LOOK = Duration.ofMillis(200);

    private static final int DIGEST_BYTES = 32;

    /** Nobody listens there: the member that the head names takes over without asking. */
    private static final String NOWHERE = "localhost:1";

    private final Disk disk;
    private final Place place;
    private final Path to;
    private final SecureRandom random = new SecureRandom();

    private ProtectionMove(Disk disk, Place place, Path to) {
        this.disk = disk;
        this.place = place;
        this.to = to;
    }

    /**
     * Makes a member's folder of a service's, and hands that member the service.
     *
     * @param place of the service, with the folder that it has now
     * @param to the member's folder: empty, or not there yet
     * @return what was done, and what to do next: lines for people
     * @throws RefusedFolderException where a folder is in use, damaged, or not what it has to be
     * @throws ServiceException where the service runs, or its head is not this folder's
     */
    public static List<String> toStandby(Disk disk, Place place, Path to)
            throws IOException, InterruptedException {
        return new ProtectionMove(disk, place, to).toStandby();
    }

    /**
     * Makes a service's folder of a member's, and hands it the service.
     *
     * @param place of the service, with the folder of a member that has what the head names
     * @param to the service's folder: empty, or not there yet
     * @return what was done, and what to do next: lines for people
     * @throws RefusedFolderException where a folder is in use, damaged, or not what it has to be
     * @throws ServiceException where a member runs, or this one lacks what the head names
     */
    public static List<String> toLocal(Disk disk, Place place, Path to)
            throws IOException, InterruptedException {
        return new ProtectionMove(disk, place, to).toLocal();
    }

    private List<String> toStandby() throws IOException, InterruptedException {
        throwUnlessFree();
        Claim claim;
        try (FolderBirth there = FolderBirth.open(disk, place.folder(), place.name())) {
            claim = there.nextClaim(random);
        }
        try (HeadOrder order =
                new HeadOrder(place.servicePath(Optional.empty()), place.onceClient())) {
            // Before a start is recorded in the folder: a refusal changes nothing.
            return toStandby(order, claimed(claim, order));
        }
    }

    private List<String> toStandby(HeadOrder order, Seen seen)
            throws IOException, InterruptedException {
        JournalOptions options = new JournalOptions(new ForceMode.Always(), place.segmentBytes());
        OwnDisk from = OwnDisk.open(disk, place.folder(), place.name(), options, random);
        boolean handed = false;
        try {
            // An order may have given the folder another birth since it was looked at.
            throwIfRefused(
                    new Claim(
                            place.name(),
                            from.incarnation(),
                            from.incarnations(),
                            from.confirmed(),
                            from.replaces()),
                    seen);
            Birth birth = from.incarnation().birth();
            FoldedState state = new FoldedState(place.name(), from.outbox());
            Guard.Start found = from.recover(Guard.Recovery.of(state::section, state::turn));
            long turn = found.newestTurn();
            throwUnlessMovable(state, birth, !found.formers().isEmpty());
            Incarnation start = from.incarnation();
            StandbyHead head;
            try (MemberFolder member = MemberFolder.open(disk, to, place.name(), random)) {
                member.birth(birth);
                SegmentId at = at(start, turn);
                member.begin(at, from.incarnations(), state.sections());
                head =
                        new StandbyHead(
                                start,
                                member.member(),
                                NOWHERE,
                                at,
                                turn,
                                new TreeSet<>(List.of(member.member())),
                                StandbyHead.Copies.ALONE,
                                Optional.of(member.member()),
                                Optional.empty());
                // From here on the head may name this start, whatever is heard of it.
                handed = true;
                if (!order.handTo(seen, head)) {
                    handed = false;
                    throw takenMeanwhile();
                }
            }
            return List.of(
                    to
                            + " is the folder of member "
                            + head.member()
                            + " of "
                            + place.name()
                            + " now, with all up to turn "
                            + turn
                            + " of generation "
                            + birth,
                    "Start it with Protection.standby() first; then start other members, each with"
                            + " an empty folder",
                    place.folder()
                            + " was left as it is, and no start takes it any more: delete it once"
                            + " the members run");
        } finally {
            if (!handed) {
                from.withdraw();
            }
            from.close();
        }
    }

    /** Refuses what a start of that folder would refuse (K14), and a service that runs. */
    private Seen claimed(Claim claim, HeadOrder order) throws IOException, InterruptedException {
        long end = patience();
        HeadOrder.Found found = order.look();
        while (found.at().isPresent() && System.nanoTime() < end) {
            Thread.sleep(LOOK.toMillis());
            found = order.look();
        }
        if (found.at().isPresent()) {
            throw new ServiceException(
                    place.name()
                            + " is served at "
                            + found.at().get()
                            + ". Stop that process first. Nothing was changed");
        }
        if (found.head().isEmpty()) {
            throw new ServiceException(
                    "there is no head at "
                            + place.path(place.name())
                            + ": the service never ran there, or the head was deleted. Nothing was"
                            + " changed");
        }
        throwIfRefused(claim, found.head().get());
        return found.head().get();
    }

    private static void throwIfRefused(Claim claim, Seen seen) {
        if (claim.seen(Optional.of(seen)) instanceof Decision.Refuse refuse) {
            throw new ServiceException(refuse.reason());
        }
    }

    private void throwUnlessMovable(FoldedState state, Birth birth, boolean hasFormers) {
        state.throwUnlessMovable(
                "move. Start it under another name with the protection that it is to have",
                "stop it, and move it then");
        if (hasFormers && !state.ranAs(birth)) {
            throw new ServiceException(
                    place.name()
                            + " has not run since an order gave it generation "
                            + birth
                            + ". Start it as before once, stop it, and move it then. Nothing was"
                            + " changed");
        }
    }

    /**
     * A segment that nobody has, whose number is above all that members of this birth ever had: a
     * segment holds a turn at least, or names a start.
     */
    private SegmentId at(Incarnation start, long turn) {
        byte[] before = new byte[DIGEST_BYTES];
        random.nextBytes(before);
        long number = Math.addExact(Math.addExact(turn, start.number()), 2);
        SegmentHeader header =
                new SegmentHeader(
                        place.name(),
                        start,
                        number,
                        turn + 1,
                        turn,
                        HexFormat.of().formatHex(before),
                        0);
        return Segment.of(header, new byte[0]).id();
    }

    private List<String> toLocal() throws IOException, InterruptedException {
        throwUnlessFree();
        Path path = place.folder();
        if (!MemberFolder.isOne(disk, path)) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "this is not the folder of a member of a service with standbys. Name that of a"
                            + " member that has what the head names");
        }
        try (MemberFolder member = MemberFolder.open(disk, path, place.name(), random);
                StandbyOrder order = new StandbyOrder(StandbyService.servicePath(place))) {
            StandbyOrder.Seen seen = stopped(order);
            StandbyHead head = seen.found().head();
            Birth birth = head.holder().birth();
            throwUnlessHas(member, head);
            Incarnation mine = new Incarnation(birth, 1, random.nextLong());
            OutboxFiles outbox =
                    new OutboxFiles(disk, path, mine, mine::equals, place.segmentBytes());
            FoldedState state = new FoldedState(place.name(), outbox);
            try {
                List<Incarnation> starts = read(member, head, outbox, state);
                throwUnlessMovable(state, birth, head.replaces().isPresent());
                try (ServiceFolder made =
                        ServiceFolder.make(
                                disk,
                                to,
                                place.name(),
                                starts,
                                state.turn(),
                                state.sections(),
                                random)) {
                    if (!order.handTo(seen, new Head(made.incarnation()), place.onceClient())) {
                        throw takenMeanwhile();
                    }
                    made.confirm();
                }
            } finally {
                outbox.close();
            }
            return List.of(
                    to
                            + " is the folder of "
                            + place.name()
                            + " now, with all up to turn "
                            + state.turn()
                            + " of generation "
                            + birth,
                    "Start it with Protection.local()",
                    "The members' folders were left as they are, and no start takes them any more:"
                            + " delete them once the service runs");
        }
    }

    /** The head, where nobody is there who could change it. */
    private StandbyOrder.Seen stopped(StandbyOrder order) throws IOException, InterruptedException {
        long end = patience();
        StandbyOrder.Seen before = order.seen();
        while (isAnnounced(before) && System.nanoTime() < end) {
            Thread.sleep(LOOK.toMillis());
            before = order.seen();
        }
        order.challenge("a command that moves the service asks");
        Thread.sleep(ANSWER.toMillis());
        StandbyOrder.Seen seen = order.seen();
        Map<String, String> members = seen.found().announced();
        if (isAnnounced(seen) || seen.found().version() != before.found().version()) {
            throw new ServiceException(
                    "members of "
                            + place.name()
                            + " run: "
                            + (members.isEmpty()
                                    ? seen.found().serves().orElse(seen.found().head().at())
                                    : members)
                            + ". Stop them first. Nothing was changed");
        }
        return seen;
    }

    private static boolean isAnnounced(StandbyOrder.Seen seen) {
        return !seen.found().announced().isEmpty() || seen.found().serves().isPresent();
    }

    /**
     * What a process said about itself goes with its session, after a kill only once that expires.
     */
    private long patience() {
        return System.nanoTime() + place.sessionTimeout().plus(ANSWER).toNanos();
    }

    private void throwUnlessHas(MemberFolder member, StandbyHead head) {
        Birth birth = head.holder().birth();
        boolean own = member.birth().equals(Optional.of(birth));
        if (!own || !member.at(head.segment().number()).equals(Optional.of(head.segment()))) {
            throw new ServiceException(
                    place.folder()
                            + (own
                                    ? " lacks segment " + head.segment()
                                    : " is of generation "
                                            + member.birth().map(Birth::toString).orElse("none")
                                            + ", and the head of generation "
                                            + birth)
                            + ". Members that have all: "
                            + String.join(", ", head.holders())
                            + ", and this one is "
                            + member.member()
                            + ". Name the folder of one of them. Nothing was changed");
        }
    }

    /** Reads all that the head names; says which starts of its birth there were, in order. */
    private List<Incarnation> read(
            MemberFolder member, StandbyHead head, OutboxFiles outbox, FoldedState state)
            throws IOException {
        Restored restored = member.restore(head.segment());
        List<Incarnation> starts = new ArrayList<>(restored.epochs());
        restored.sections(outbox.beside(state::section));
        outbox.cut();
        restored.segments(
                segment -> {
                    SegmentHeader header = segment.header();
                    if (!starts.contains(header.by())) {
                        starts.add(header.by());
                    }
                    if (!header.isEmpty()) {
                        state.turn(header.lastTurn(), segment.body());
                    }
                });
        if (!starts.contains(head.holder())) {
            starts.add(head.holder());
        }
        // Those of a birth that was replaced mean nothing to peers of this one (K11).
        starts.removeIf(it -> !it.birth().equals(head.holder().birth()));
        if (state.turn() != head.turn()) {
            throw new IllegalStateException(
                    member.member()
                            + " leads to turn "
                            + state.turn()
                            + ", and the head names "
                            + head.turn());
        }
        return starts;
    }

    private void throwUnlessFree() throws IOException {
        if (to.toAbsolutePath()
                .normalize()
                .startsWith(place.folder().toAbsolutePath().normalize())) {
            throw new IllegalArgumentException(
                    "the new folder is not within the old one, "
                            + place.folder()
                            + ": name another one than "
                            + to);
        }
        if (disk.exists(to) && !disk.list(to).isEmpty()) {
            throw new RefusedFolderException(
                    to, -1, "it is not empty. Name an empty folder, or one that is not there yet");
        }
    }

    private ServiceException takenMeanwhile() {
        return new ServiceException(
                "the head of "
                        + place.name()
                        + " was written meanwhile: somebody runs it. The service is as it was;"
                        + " delete "
                        + to
                        + " and look again");
    }
}
