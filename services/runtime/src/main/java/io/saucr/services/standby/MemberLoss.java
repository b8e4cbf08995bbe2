package io.saucr.services.standby;

import io.saucr.services.DataLoss;
import io.saucr.services.ServiceException;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.AcceptedLoss;
import io.saucr.services.core.standby.AcceptedLoss.Decision;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.StandbyOrder;
import io.saucr.services.ensemble.StandbyOrder.Seen;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.FolderContents;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The order that accepts a loss (C17). In this sequence: the folder is opened, as a start does; the
 * primary is asked to show it, and has time to; the head and who is there are looked at; all that
 * is to count is read and checked; the head is replaced on the version that was seen, which is the
 * one step that counts. The folder is left as it is: its next start follows the head.
 */
public final class MemberLoss implements DataLoss {

    /** So long the primary has to write the head anew: five times what standbys wait. */
    private static final Duration ANSWER = Duration.ofSeconds(1);

    private final Disk disk;
    private final Place place;
    private final SecureRandom random = new SecureRandom();
    private final List<String> report = new ArrayList<>();
    private Decision decision;

    private MemberLoss(Disk disk, Place place) {
        this.disk = disk;
        this.place = place;
    }

    /** Looks at the folder of a member, and at the head of its service. */
    public static DataLoss of(Disk disk, Place place) throws IOException, InterruptedException {
        MemberLoss loss = new MemberLoss(disk, place);
        try (MemberFolder folder = loss.open();
                StandbyOrder order = loss.order()) {
            loss.look(folder, order);
        }
        return loss;
    }

    private MemberFolder open() throws IOException {
        Path path = place.folder();
        if (!MemberFolder.isOne(disk, path)) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "this is not the folder of a member of a service with standbys. Name that of"
                            + " the member that is to continue");
        }
        return MemberFolder.open(disk, path, place.name(), random);
    }

    private StandbyOrder order() {
        return new StandbyOrder(StandbyService.servicePath(place));
    }

    /** What was seen, which no primary has changed for a while. */
    private Seen look(MemberFolder folder, StandbyOrder order)
            throws IOException, InterruptedException {
        Seen before = order.seen();
        order.challenge("an order to accept a loss asks");
        Thread.sleep(ANSWER.toMillis());
        Seen seen = order.seen();
        report.clear();
        decision =
                seen.found().version() == before.found().version()
                                && seen.node().equals(before.node())
                        ? AcceptedLoss.decide(
                                seen.found(), folder.member(), new FolderChain(folder))
                        : new Decision.Refuse(
                                "somebody is primary: the head was written while it was looked"
                                        + " at, by member "
                                        + seen.found().head().member()
                                        + seen.found()
                                                .serves()
                                                .map(it -> ", which serves at " + it)
                                                .orElse("")
                                        + ". Nothing was changed");
        report(folder, seen);
        return seen;
    }

    private void report(MemberFolder folder, Seen seen) throws IOException {
        StandbyHead head = seen.found().head();
        report.add(
                "The head of "
                        + place.name()
                        + " names segment "
                        + head.segment()
                        + ", up to turn "
                        + head.turn()
                        + ", written at "
                        + Instant.ofEpochMilli(seen.writtenMillis())
                        + " by member "
                        + head.member()
                        + " in epoch "
                        + head.holder().number()
                        + " of generation "
                        + head.holder().birth());
        AcceptedLoss.holders(seen.found())
                .forEach(
                        (member, at) ->
                                report.add(
                                        "Member "
                                                + member
                                                + " has it, as the head says, and is "
                                                + at.map(it -> "there, at " + it)
                                                        .orElse(
                                                                "not there: if it can be started,"
                                                                        + " nothing is lost, so"
                                                                        + " do that first")));
        seen.found().announced().entrySet().stream()
                .filter(it -> !head.holders().contains(it.getKey()))
                .forEach(
                        it ->
                                report.add(
                                        "Member "
                                                + it.getKey()
                                                + " is there, at "
                                                + it.getValue()
                                                + ": its status says up to which segment it has"
                                                + " all. If that is more than this folder has, stop"
                                                + " it and accept the loss with its folder"));
        SegmentId last = folder.last();
        report.add(
                place.folder()
                        + " is member "
                        + folder.member()
                        + ", and holds segments up to "
                        + last
                        + "; it knows that the head named number "
                        + folder.known());
        if (decision instanceof Decision.Offer offer) {
            report(folder, head, offer);
        }
    }

    private void report(MemberFolder folder, StandbyHead head, Decision.Offer offer)
            throws IOException {
        Position keeps = position(folder, offer.keeps());
        report.add(
                "It would continue after segment "
                        + offer.keeps()
                        + ", turn "
                        + keeps.turn()
                        + keeps.millis().map(it -> " of " + Instant.ofEpochMilli(it)).orElse(""));
        report.add(
                "Lost: turns "
                        + (keeps.turn() + 1)
                        + " to "
                        + head.turn()
                        + ", in segments "
                        + (offer.keeps().number() + 1)
                        + " to "
                        + head.segment().number()
                        + ", and whatever their replies promised");
        if (offer.unnamed() > 0) {
            report.add(
                    "Of "
                            + offer.unnamed()
                            + " segments behind that in this folder nobody knows whether the head"
                            + " ever named them: they do not count, and are kept under"
                            + " names that end in .given-up");
        }
    }

    /** The last turn up to a segment, and when it ran, where that is known. */
    private record Position(long turn, Optional<Long> millis) {}

    private static Position position(MemberFolder folder, SegmentId at) throws IOException {
        if (folder.oldest() <= at.number()) {
            Segment segment = folder.read(at);
            ByteBuffer body = segment.body();
            long turn = segment.header().lastTurn();
            return new Position(
                    turn,
                    body.hasRemaining()
                            ? Optional.of(DeltaFormat.read(turn, body).nowMillis())
                            : Optional.empty());
        }
        // It is known from the base as of it alone.
        List<Long> turns = new ArrayList<>();
        folder.restore(at)
                .sections(
                        (name, content) ->
                                FolderContents.turnOf(name, content).ifPresent(turns::add));
        if (turns.isEmpty()) {
            throw new IOException("the base as of segment " + at + " does not say its turn");
        }
        return new Position(turns.get(0), Optional.empty());
    }

    @Override
    public List<String> report() {
        return List.copyOf(report);
    }

    @Override
    public Optional<String> refusal() {
        return decision instanceof Decision.Refuse it ? Optional.of(it.reason()) : Optional.empty();
    }

    @Override
    public Optional<String> token() {
        return decision instanceof Decision.Offer it ? Optional.of(it.token()) : Optional.empty();
    }

    @Override
    public String give(String token) throws IOException, InterruptedException {
        try (MemberFolder folder = open();
                StandbyOrder order = order()) {
            Seen seen = look(folder, order);
            if (!(decision instanceof Decision.Offer offer)) {
                throw new ServiceException(refusal().orElseThrow());
            }
            if (!offer.token().equals(token)) {
                throw new IllegalArgumentException(
                        "the order is for "
                                + token
                                + ", and the loss is "
                                + offer.token()
                                + " now. Look at it again, and repeat what it says");
            }
            // All that is to count is whole, or it says what is not.
            folder.restore(offer.keeps());
            StandbyHead next =
                    AcceptedLoss.head(
                            seen.found(),
                            folder.member(),
                            offer.keeps(),
                            position(folder, offer.keeps()).turn(),
                            new Birth(random.nextLong(), random.nextLong()),
                            random.nextLong());
            if (!order.replace(seen, next)) {
                throw new ServiceException(
                        "the head of "
                                + place.name()
                                + " was written meanwhile: a member came. Look again");
            }
            return next.holder().birth().toString();
        }
    }
}
