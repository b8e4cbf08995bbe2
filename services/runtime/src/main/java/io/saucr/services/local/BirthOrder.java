package io.saucr.services.local;

import io.saucr.services.NewGeneration;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Claim.Seen;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.once.MarkerContent;
import io.saucr.services.ensemble.HeadOrder;
import io.saucr.services.ensemble.HeadOrder.Found;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.FolderBirth;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The order that gives a folder a new birth. In this sequence: the folder is locked and looked at,
 * the head too; the folder's identity is replaced, which is the one step that counts; the head is
 * replaced on the version that was seen. A crash behind the step leaves the head to the next start,
 * which may replace the one that was seen, and no other (K14).
 */
public final class BirthOrder implements NewGeneration {

    private final Disk disk;
    private final Path folder;
    private final String name;
    private final Optional<Place> ensemble;
    private Found found;
    private Birth birth;
    private final List<String> report = new ArrayList<>();

    private BirthOrder(Disk disk, Path folder, String name, Optional<Place> ensemble) {
        this.disk = disk;
        this.folder = folder;
        this.name = name;
        this.ensemble = ensemble;
    }

    /** Looks at a service's folder, and at its head where the place has an ensemble. */
    public static NewGeneration ofService(Disk disk, Place place)
            throws IOException, InterruptedException {
        return new BirthOrder(
                        disk,
                        place.folder(),
                        place.name(),
                        Optional.of(place).filter(it -> it.ensemble().isPresent()))
                .look();
    }

    /** Looks at a client's folder. */
    public static NewGeneration ofClient(Disk disk, Path folder, String name)
            throws IOException, InterruptedException {
        return new BirthOrder(disk, folder, name, Optional.empty()).look();
    }

    private NewGeneration look() throws IOException, InterruptedException {
        try (FolderBirth open = FolderBirth.open(disk, folder, name)) {
            look(open, Optional.empty());
        }
        return this;
    }

    private void look(FolderBirth open, Optional<HeadOrder> order)
            throws IOException, InterruptedException {
        birth = open.birth();
        found = new Found(Optional.empty(), Optional.empty(), List.of());
        if (order.isPresent()) {
            found = order.get().look();
        } else if (ensemble.isPresent()) {
            try (HeadOrder own = headOrder(ensemble.get())) {
                found = own.look();
            }
        }
        report(open);
    }

    private static HeadOrder headOrder(Place place) {
        return new HeadOrder(place.servicePath(Optional.empty()), place.onceClient());
    }

    private void report(FolderBirth open) {
        report.clear();
        report.add(
                folder
                        + " is "
                        + name
                        + ", generation "
                        + birth
                        + open.newest().map(it -> ", last start " + it.number()).orElse(""));
        if (found.head().isPresent()) {
            Incarnation holder = found.head().get().head().holder();
            report.add(
                    "The head is held by start "
                            + holder.number()
                            + " of generation "
                            + holder.birth()
                            + (open.knows(holder)
                                    ? ", which this folder knows"
                                    : ", of which this folder knows nothing: all that it did is"
                                            + " lost with the new generation"));
        } else if (ensemble.isPresent()) {
            report.add("There is no head: it was deleted, or the ensemble restored from before");
        }
        found.at().ifPresent(it -> report.add("A process says that it serves at " + it));
        report.add(
                "Lost: whatever was done under generation "
                        + birth
                        + " and is not in this folder. Unknown, and reported as unknown: what the"
                        + " folder's outboxes hold, and what peers sent and had no ack of");
        for (MarkerContent marker : found.markers()) {
            report.add(
                    "Writes to the ensemble happened up to number "
                            + marker.number()
                            + " of the once client's generation "
                            + marker.holder().birth()
                            + "; what this folder has open is reported as unknown, and not"
                            + " written");
        }
    }

    @Override
    public String birth() {
        return birth.toString();
    }

    @Override
    public Optional<String> serves() {
        return found.at();
    }

    @Override
    public List<String> report() {
        return List.copyOf(report);
    }

    @Override
    public String give(String instead) throws IOException, InterruptedException {
        return give(instead, Optional.empty());
    }

    @Override
    public String give(String instead, String dead) throws IOException, InterruptedException {
        return give(instead, Optional.of(dead));
    }

    private String give(String instead, Optional<String> dead)
            throws IOException, InterruptedException {
        Optional<HeadOrder> order = ensemble.map(BirthOrder::headOrder);
        try (FolderBirth open = FolderBirth.open(disk, folder, name)) {
            look(open, order);
            check(instead, dead);
            Optional<Seen> seen = found.head();
            Incarnation start =
                    open.bearAnew(
                            seen.map(it -> it.head().holder()),
                            found.markers().stream().findFirst().map(it -> it.holder().birth()),
                            new SecureRandom());
            if (seen.isPresent()) {
                Head next = new Head(start, seen.map(it -> it.head().holder().birth()));
                if (!order.orElseThrow().replace(seen.get(), next)) {
                    throw new ServiceException(
                            name
                                    + " has generation "
                                    + start.birth()
                                    + " now, but its head was taken meanwhile: a process runs it."
                                    + " Stop that process, look again, and repeat the command");
                }
                open.confirm();
            }
            return start.birth().toString();
        } finally {
            order.ifPresent(HeadOrder::close);
        }
    }

    private void check(String instead, Optional<String> dead) {
        if (!birth.toString().equals(instead)) {
            throw new IllegalArgumentException(
                    "the order is for generation "
                            + instead
                            + ", and "
                            + folder
                            + " is generation "
                            + birth
                            + ". Look at it again, and repeat the generation that is to be replaced");
        }
        if (found.at().isPresent() && !found.at().equals(dead)) {
            throw new ServiceException(
                    name
                            + " is served at "
                            + found.at().get()
                            + ". Stop that process first, or say that the one at "
                            + found.at().get()
                            + " is dead. Nothing was changed");
        }
    }
}
