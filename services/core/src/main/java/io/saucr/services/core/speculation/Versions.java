package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a member of a group knows of its own versions: the open one, to which turns are added, those
 * that are sealed and above the boundary, and which of them are on disk. Decides what may be
 * consumed (D2 to D4), what is final (D7) and what is kept in a new world (D11). Immutable.
 */
public final class Versions {

    /** A message whose version is further ahead than this is of a member that is damaged (D15). */
    public static final long MOST_AHEAD = 1_000_000;

    private final int member;
    private final long world;

    /** Whether the record that the member passed to this world is on disk (D10). */
    private final boolean passed;

    private final VersionVector boundary;

    /**
     * Sealed, above the boundary, in order, as they were recorded until that record is on disk;
     * then {@link #shortened}.
     */
    private final List<Sealed> above;

    /** The newest of them that is on disk. */
    private final long forced;

    private final long open;
    private final boolean turns;
    private final VersionVector dependencies;

    /** When the turn of a message may run. */
    public enum Taking {
        NOW,
        /** The open version is sealed first: a version depends on none with a higher number. */
        AFTER_A_SEAL,
        /** The sender was in another world: it sends it again once both are in one. */
        SENT_AGAIN,
        /** The number can be no sender's. */
        REFUSED
    }

    private Versions(
            int member,
            long world,
            boolean passed,
            VersionVector boundary,
            List<Sealed> above,
            long forced,
            long open,
            boolean turns,
            VersionVector dependencies) {
        this.member = member;
        this.world = world;
        this.passed = passed;
        this.boundary = boundary;
        this.above = List.copyOf(above);
        this.forced = forced;
        this.open = open;
        this.turns = turns;
        this.dependencies = dependencies;
    }

    /**
     * As a snapshot has them; what the journal has above it follows by {@link #recovered}.
     *
     * @param member its index in the group
     * @param world that the snapshot was made in; 1 for a new member
     * @param base the version of the snapshot, which is final; 0 for a new member
     */
    public static Versions of(int member, long world, long base) {
        return new Versions(
                member,
                world,
                true,
                VersionVector.NONE.with(member, base),
                List.of(),
                base,
                base + 1,
                false,
                VersionVector.NONE);
    }

    /** Takes the next record of the journal; a passage drops what it does not keep (D10). */
    public Versions recovered(VersionRecord record) {
        if (record instanceof Sealed sealed) {
            List<Sealed> more = new ArrayList<>(above);
            more.add(sealed);
            long newest = sealed.version();
            return with(boundary, shortened(more, newest), newest, newest + 1);
        }
        if (record instanceof Bounded it) {
            return bounded(it.world(), VersionVector.NONE.with(member, it.version()));
        }
        Passed passage = (Passed) record;
        List<Sealed> kept = new ArrayList<>();
        for (Sealed each : above) {
            if (each.version() > passage.cut() && each.version() <= passage.kept()) {
                kept.add(new Sealed(passage.world(), each.version(), VersionVector.NONE));
            }
        }
        return new Versions(
                member,
                passage.world(),
                true,
                // A snapshot may be of a later version, which was final by its own fsync (D7).
                VersionVector.NONE.with(member, Math.max(passage.cut(), boundary.at(member))),
                kept,
                passage.kept(),
                passage.kept() + 1,
                false,
                VersionVector.NONE);
    }

    private Versions with(
            VersionVector newBoundary, List<Sealed> newAbove, long newForced, long newOpen) {
        return new Versions(
                member,
                world,
                passed,
                newBoundary,
                newAbove,
                newForced,
                newOpen,
                newOpen == open && turns,
                newOpen == open ? dependencies : VersionVector.NONE);
    }

    // ---- turns

    /** When the turn of a message from another member may run (D3, D4). */
    public Taking taking(Vertex of) {
        if (of.world() != world) {
            return Taking.SENT_AGAIN;
        }
        if (of.version() > open + MOST_AHEAD) {
            return Taking.REFUSED;
        }
        return of.version() > open && turns ? Taking.AFTER_A_SEAL : Taking.NOW;
    }

    /** A turn of the open version consumes a message from another member (D2). */
    public Versions took(Vertex of) {
        if (taking(of) != Taking.NOW) {
            throw new IllegalStateException(of + " is taken " + taking(of));
        }
        boolean isFinal = of.version() <= boundary.at(of.member());
        return turn(
                Math.max(open, of.version()),
                isFinal || of.version() <= dependencies.at(of.member())
                        ? dependencies
                        : dependencies.with(of.member(), of.version()));
    }

    /** A turn of the open version consumes something else. */
    public Versions turn() {
        return turn(open, dependencies);
    }

    Versions turn(long number, VersionVector on) {
        return turns && number == open && on.equals(dependencies)
                ? this
                : new Versions(member, world, passed, boundary, above, forced, number, true, on);
    }

    /** What the open version depends on. */
    VersionVector dependencies() {
        return dependencies;
    }

    /** Whether a turn belongs to the open version. */
    public boolean hasTurns() {
        return turns;
    }

    /** The version to which turns are added. */
    public long open() {
        return open;
    }

    /** What a message says of its turn, whose version is known (D2). */
    public Vertex vertex(long version) {
        return new Vertex(member, world, version <= finalVersion() ? 0 : version);
    }

    /** The same where the version is not known: that of the newest turn. */
    public Vertex newestVertex() {
        return vertex(turns ? open : newest());
    }

    // ---- seals and fsyncs

    /** What the journal gets when the open version is sealed, which has turns (D5). */
    public Sealed seal() {
        if (!turns) {
            throw new IllegalStateException("version " + open + " has no turns");
        }
        return new Sealed(world, open, dependencies.beyond(boundary));
    }

    /** The record of {@link #seal} was appended, and a version is opened. */
    public Versions sealed() {
        List<Sealed> more = new ArrayList<>(above);
        more.add(seal());
        return with(boundary, more, forced, open + 1);
    }

    /** A record is on disk, and so is all before it; one that was dropped meanwhile is nothing. */
    public Versions forced(VersionRecord record) {
        if (record instanceof Sealed sealed) {
            return above.contains(sealed)
                    ? with(boundary, shortened(above, sealed.version()), sealed.version(), open)
                    : this;
        }
        if (!(record instanceof Passed passage) || passage.world() != world || passed) {
            return this;
        }
        List<Sealed> free = new ArrayList<>();
        for (Sealed each : above) {
            free.add(
                    each.version() <= passage.kept()
                            ? new Sealed(world, each.version(), VersionVector.NONE)
                            : each);
        }
        return new Versions(
                member,
                world,
                true,
                boundary,
                free,
                Math.max(forced, passage.kept()),
                open,
                turns,
                dependencies);
    }

    /**
     * Of versions in a row that are on disk and were recorded without dependencies the last one
     * alone, as each of them is final once what is before the first one is (D7). So the list stays
     * short though no coordinator announces anything (D14).
     */
    private static List<Sealed> shortened(List<Sealed> all, long onDisk) {
        List<Sealed> left = new ArrayList<>();
        for (Sealed each : all) {
            int last = left.size() - 1;
            if (each.version() <= onDisk
                    && each.dependencies().isNone()
                    && last >= 0
                    && left.get(last).dependencies().isNone()) {
                left.remove(last);
            }
            left.add(each);
        }
        return left;
    }

    /** What is on disk above the boundary and may be reported (D5, D10). */
    public List<Sealed> reportable() {
        return passed ? above.stream().filter(it -> it.version() <= forced).toList() : List.of();
    }

    /** All that this member says about itself to a coordinator (D9). */
    public Listing listing() {
        if (!passed) {
            throw new IllegalStateException("the passage to world " + world + " is not on disk");
        }
        return new Listing(world, boundary.at(member), reportable(), boundary);
    }

    // ---- what is final

    /**
     * What the journal gets now and then, before a version is sealed: which versions the group has
     * announced as final.
     *
     * @param noted up to where the journal has it
     */
    public Optional<Bounded> toNote(long noted) {
        long own = boundary.at(member);
        return own > noted ? Optional.of(new Bounded(world, own)) : Optional.empty();
    }

    /** More is final, if it is of this world. */
    public Versions bounded(long of, VersionVector more) {
        if (of != world) {
            return this;
        }
        VersionVector higher = boundary.and(more);
        long own = higher.at(member);
        if (own > newest()) {
            throw new IllegalStateException(
                    "version " + own + " is final, and " + newest() + " is the newest here");
        }
        return with(higher, above.stream().filter(it -> it.version() > own).toList(), forced, open);
    }

    /**
     * The newest version that nothing can undo (D7): it is in the boundary, or it is on disk and
     * was recorded without dependencies, and all before it are final.
     */
    public long finalVersion() {
        long end = boundary.at(member);
        for (Sealed each : above) {
            if (each.version() > forced || !each.dependencies().isNone()) {
                break;
            }
            end = each.version();
        }
        return end;
    }

    /** What is final in the whole group, as far as this member knows. */
    public VersionVector boundary() {
        return boundary;
    }

    // ---- decisions

    /** How many decisions this member has passed, and the first world. */
    public long world() {
        return world;
    }

    /** Whether the passage to this world is on disk; until then nothing may be reported (D10). */
    public boolean hasPassed() {
        return passed;
    }

    /**
     * Passes to the world of a decision (D10, D11). Versions above {@link #newest} are dropped, and
     * so are the turns of the open version if it has none then.
     *
     * @throws IllegalStateException where the decision contradicts what is known here to be final
     *     (D15)
     */
    public Versions pass(Decision decision) {
        VersionVector cuts = decision.cuts();
        long cut = cuts.at(member);
        if (decision.world() <= world) {
            throw new IllegalStateException(decision + " is not after world " + world);
        }
        if (!cuts.covers(boundary) || cut > newest()) {
            throw new IllegalStateException(
                    decision + " does not go with " + boundary + ", newest version " + newest());
        }
        // Dependencies can be compared by who has not missed a decision: numbers come again.
        boolean next = decision.world() == world + 1;
        List<Sealed> kept = new ArrayList<>();
        boolean all = true;
        for (Sealed each : above) {
            all &=
                    each.version() <= cut
                            || each.dependencies().isNone()
                            || (next && cuts.covers(each.dependencies()));
            if (all && each.version() > cut) {
                kept.add(each);
            }
        }
        all &= dependencies.isNone() || (next && cuts.covers(dependencies));
        long newest = kept.isEmpty() ? cut : kept.get(kept.size() - 1).version();
        boolean stays = turns && all;
        return new Versions(
                member,
                decision.world(),
                false,
                cuts,
                kept,
                Math.min(forced, newest),
                stays ? open : newest + 1,
                stays,
                VersionVector.NONE);
    }

    /** What the journal gets right after a {@link #pass}, before anything else. */
    public Passed passage() {
        return new Passed(world, boundary.at(member), newest());
    }

    /** The first version that is sealed above this one, as it was recorded. */
    public Optional<Sealed> after(long version) {
        return above.stream().filter(it -> it.version() > version).findFirst();
    }

    /** The newest version that is sealed. */
    public long newest() {
        return above.isEmpty() ? boundary.at(member) : above.get(above.size() - 1).version();
    }

    @Override
    public String toString() {
        return "world "
                + world
                + (passed ? "" : " (not on disk)")
                + ", boundary "
                + boundary
                + ", "
                + above
                + ", on disk to "
                + forced
                + ", open "
                + open
                + (turns ? " with turns, " : ", ")
                + dependencies;
    }
}
