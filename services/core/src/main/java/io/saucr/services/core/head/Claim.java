package io.saucr.services.core.head;

import io.saucr.services.core.Incarnation;
import java.util.List;
import java.util.Optional;

/**
 * Decides whether a start may take its service's head (K14): the one znode that says who holds the
 * service. Who is behind its own past is refused: a copied folder, an old backup of one, an
 * ensemble that was restored from before. The start's own incarnation, nonce included, is forced in
 * its folder before the first decision, so that a head which names a nonce that the folder does not
 * know was written by another folder.
 *
 * <p>The head changes by conditional writes alone. A write whose outcome is not known is followed
 * by a new look: either the head names this start's nonce, or the write is repeated on the same
 * version, and then the first one can no longer succeed.
 *
 * <p>Belongs to the thread that starts the service.
 */
public final class Claim {

    private final String name;
    private final Incarnation self;
    private final List<Incarnation> known;
    private final long confirmed;
    private final Optional<Incarnation> replaces;

    /** What an operator may do who has nothing newer. */
    private static final String NEW_BIRTH =
            "If what it wrote is lost for good, give this folder a new generation: Services.newGeneration, or"
                    + " bin/saucr-services new-generation";

    /**
     * A claim of one start.
     *
     * @param name of the service, for messages
     * @param self this start; forced in the folder
     * @param known all starts of this folder, with this one, in the order of their numbers
     * @param confirmed the highest number of them that is known to have held the head, 0 for none
     * @throws IllegalArgumentException where the starts are of several births, not in order, or
     *     without this one
     */
    public Claim(String name, Incarnation self, List<Incarnation> known, long confirmed) {
        this(name, self, known, confirmed, Optional.empty());
    }

    /**
     * A claim of one start of a folder that an operator gave a new birth (K11).
     *
     * @param replaces the head that the order named, of another birth; only this one is replaced
     */
    public Claim(
            String name,
            Incarnation self,
            List<Incarnation> known,
            long confirmed,
            Optional<Incarnation> replaces) {
        this.replaces = replaces;
        this.name = name;
        this.self = self;
        this.known = List.copyOf(known);
        this.confirmed = confirmed;
        long before = 0;
        for (Incarnation start : this.known) {
            if (!start.birth().equals(self.birth()) || start.number() <= before) {
                throw new IllegalArgumentException(
                        "starts of one folder are of one generation and in order: " + known);
            }
            before = start.number();
        }
        if (before != self.number()
                || !this.known.contains(self)
                || confirmed >= self.number()
                || confirmed < 0) {
            throw new IllegalArgumentException(
                    "start "
                            + self
                            + " is not the newest of "
                            + known
                            + ", or not above "
                            + confirmed);
        }
    }

    /**
     * What to do, now that the head was read. The reading must be of the server's newest state (a
     * sync before it), as an old one only costs a refused write, but is told as trouble.
     *
     * @param seen what the znode holds; empty where there is none
     */
    public Decision seen(Optional<Seen> seen) {
        if (seen.isEmpty()) {
            return confirmed == 0
                    ? new Decision.Create(head())
                    : new Decision.Refuse(
                            "the head of "
                                    + name
                                    + " is missing, which incarnation "
                                    + confirmed
                                    + " of generation "
                                    + self.birth()
                                    + " held: it was deleted, or the ensemble was restored from"
                                    + " before. Nothing is created anew. If nobody else holds this service, write"
                                    + " the head again by hand, or give the service a new generation:"
                                    + " Services.newGeneration, or bin/saucr-services new-generation");
        }
        Head head = seen.get().head();
        Incarnation holder = head.holder();
        if (holder.equals(self)) {
            return new Decision.Taken(seen.get().version());
        }
        if (!holder.birth().equals(self.birth())) {
            return ofAnother(holder, seen.get().version());
        }
        if (!known.contains(holder)) {
            return new Decision.Refuse(
                    "this folder is an old copy or a twin: the head of "
                            + name
                            + " is held by incarnation "
                            + holder.number()
                            + " with nonce "
                            + nonce(holder)
                            + ", which this folder does not know; it"
                            + " knows "
                            + known.size()
                            + " up to number "
                            + self.number()
                            + ". Use the folder which that incarnation wrote. "
                            + NEW_BIRTH);
        }
        if (holder.number() < confirmed) {
            return new Decision.Refuse(
                    "the head of "
                            + name
                            + " went back: it names incarnation "
                            + holder.number()
                            + ", but number "
                            + confirmed
                            + " of the same generation held it already. The ensemble was restored from"
                            + " before, or the znode was written by hand");
        }
        return new Decision.Take(head(), seen.get().version());
    }

    /**
     * What to do while the service runs, now that its head has changed or was looked at again.
     *
     * @param seen what the znode holds; empty where it does not exist
     * @return {@link Decision.Taken} where this start still holds it, else {@link Decision.Refuse}:
     *     the process has to halt
     */
    public Decision changed(Optional<Seen> seen) {
        if (seen.isEmpty()) {
            return new Decision.Refuse(
                    "the head of " + name + " is missing while the service runs");
        }
        Incarnation holder = seen.get().head().holder();
        return holder.equals(self)
                ? new Decision.Taken(seen.get().version())
                : new Decision.Refuse(
                        "the head of "
                                + name
                                + " was taken by incarnation "
                                + holder.number()
                                + " of generation "
                                + holder.birth()
                                + " with nonce "
                                + nonce(holder));
    }

    private Head head() {
        return new Head(self, replaces.map(Incarnation::birth));
    }

    private Decision ofAnother(Incarnation holder, int version) {
        if (confirmed == 0 && replaces.equals(Optional.of(holder))) {
            return new Decision.Take(head(), version);
        }
        if (replaces.isPresent()) {
            return new Decision.Refuse(
                    "this folder has a new generation, "
                            + self.birth()
                            + ", which replaces the head of incarnation "
                            + replaces.get().number()
                            + " of generation "
                            + replaces.get().birth()
                            + ", and since then the head of "
                            + name
                            + " was taken by incarnation "
                            + holder.number()
                            + " of generation "
                            + holder.birth()
                            + ". Use the folder of that generation. "
                            + NEW_BIRTH);
        }
        return new Decision.Refuse(
                "the name "
                        + name
                        + " is taken: its head is held by generation "
                        + holder.birth()
                        + ", and this folder is generation "
                        + self.birth()
                        + ". Choose another name, or use the folder of that generation. "
                        + NEW_BIRTH);
    }

    private static String nonce(Incarnation start) {
        return String.format("%016x", start.nonce());
    }

    /**
     * A head as it was read.
     *
     * @param head what it says
     * @param version of the znode's data, on which the next write is conditional
     */
    public record Seen(Head head, int version) {}

    /** What a start has to do with its head. */
    public sealed interface Decision {

        /** Create the znode; where it exists meanwhile, look again. */
        record Create(Head head) implements Decision {}

        /**
         * Set the znode's data on this version; where that has changed or the outcome is unknown,
         * look again.
         */
        record Take(Head head, int version) implements Decision {}

        /** The head names this start. The folder notes it, forced, before anything leaves. */
        record Taken(int version) implements Decision {}

        /** The service does not start, or halts; the reason says what is where and what to do. */
        record Refuse(String reason) implements Decision {}
    }
}
