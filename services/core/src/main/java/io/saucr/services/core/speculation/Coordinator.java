package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Coordinates a group for one epoch: announces which versions are final (D6), and decides after a
 * failure what survives it, by one conditional write of the group's head (D8). It is made once its
 * claim is in the head ({@link GroupHead#claimed}). All that it knows, members list to it (D9).
 * Immutable: each event returns what follows, with what is to be done, in order.
 */
public final class Coordinator {

    private final GroupHead head;
    private final int version;

    /** Under way, or of an unknown outcome. */
    private final Optional<GroupHead> writing;

    /** By index. */
    private final SortedMap<Integer, View> views;

    /** What is final in this world, as far as is known. */
    private final VersionVector announced;

    private final boolean over;

    /**
     * What a coordinator knows of a member.
     *
     * @param listed whether it has listed to this coordinator
     * @param linked whether it hears this coordinator
     * @param starting what a start listed that waits for a decision, or to be admitted
     * @param included whether the decision under way counts that
     * @param forgot whether a start of it listed that has forgotten what it heard (D19)
     * @param overdue whether a decision is to be made without it
     * @param reported what it has on disk of this world above what is announced, in order
     * @param leaving the newest version of a member that wants to leave
     */
    private record View(
            boolean listed,
            boolean linked,
            Optional<Listing> starting,
            boolean included,
            boolean forgot,
            boolean overdue,
            List<Sealed> reported,
            OptionalLong leaving) {

        static final View NOTHING =
                new View(
                        false,
                        false,
                        Optional.empty(),
                        false,
                        false,
                        false,
                        List.of(),
                        OptionalLong.empty());

        View listing(List<Sealed> versions) {
            return new View(
                    true,
                    true,
                    Optional.empty(),
                    false,
                    false,
                    false,
                    versions,
                    OptionalLong.empty());
        }

        View starting(Listing listing, List<Sealed> versions) {
            return new View(
                    true,
                    true,
                    Optional.of(listing),
                    false,
                    true,
                    false,
                    versions,
                    OptionalLong.empty());
        }

        View unlinked() {
            return new View(
                    listed,
                    false,
                    Optional.empty(),
                    false,
                    forgot,
                    overdue,
                    reported,
                    OptionalLong.empty());
        }

        View isOverdue() {
            return new View(listed, linked, starting, included, forgot, true, reported, leaving);
        }

        View counted() {
            return new View(
                    listed,
                    linked,
                    starting,
                    starting.isPresent(),
                    forgot,
                    overdue,
                    reported,
                    leaving);
        }

        View leaves(OptionalLong at) {
            return new View(listed, linked, starting, included, forgot, overdue, reported, at);
        }

        View reported(List<Sealed> versions) {
            return new View(listed, linked, starting, included, forgot, overdue, versions, leaving);
        }

        /** In the world that a decision began. */
        View decided() {
            return new View(
                    listed,
                    linked,
                    included ? Optional.empty() : starting,
                    false,
                    !included && starting.isPresent(),
                    false,
                    List.of(),
                    OptionalLong.empty());
        }
    }

    /** What is to be done. */
    public sealed interface Action {

        /** Set the head on this version; then {@link #wrote} or {@link #unknown}. */
        record Write(GroupHead head, int version) implements Action {}

        /** Read the head, then {@link #seen}. */
        record Read() implements Action {}

        /** A member hears a decision, and passes to its world. */
        record Decided(int member, long epoch, Decision decision) implements Action {}

        /** A member hears what is final in a world. */
        record Boundary(int member, long epoch, long world, VersionVector versions)
                implements Action {}

        /**
         * A member that had left continues, in this world, behind all that it listed; it passes to
         * the world if it has not (D13).
         */
        record Admitted(int member, long epoch, Decision decision) implements Action {}

        /** A member that said that it leaves has left. */
        record Left(int member, long epoch) implements Action {}

        /** A member must not continue (D15). */
        record Refuse(int member, String reason) implements Action {}

        /** This one coordinates no more, and does nothing from now on. */
        record Over(String reason) implements Action {}
    }

    /**
     * What follows an event.
     *
     * @param coordinator in place of the one that was asked
     * @param actions in order
     */
    public record Next(Coordinator coordinator, List<Action> actions) {

        public Next {
            actions = List.copyOf(actions);
        }
    }

    private Coordinator(
            GroupHead head,
            int version,
            Optional<GroupHead> writing,
            SortedMap<Integer, View> views,
            VersionVector announced,
            boolean over) {
        this.head = head;
        this.version = version;
        this.writing = writing;
        this.views = views;
        this.announced = announced;
        this.over = over;
    }

    /**
     * Of an epoch that begins.
     *
     * @param head that its claim wrote
     * @param version of the head's data
     */
    public static Coordinator of(GroupHead head, int version) {
        SortedMap<Integer, View> views = new TreeMap<>();
        for (int member = 0; member < head.members().size(); member++) {
            views.put(member, View.NOTHING);
        }
        return new Coordinator(head, version, Optional.empty(), views, head.floor(), false);
    }

    private Coordinator with(int member, View view) {
        SortedMap<Integer, View> changed = new TreeMap<>(views);
        changed.put(member, view);
        return new Coordinator(head, version, writing, changed, announced, over);
    }

    private Coordinator announcing(VersionVector more) {
        VersionVector higher = announced.and(more);
        SortedMap<Integer, View> changed = new TreeMap<>(views);
        changed.replaceAll(
                (member, view) -> {
                    long from = higher.at(member);
                    return view.reported().stream().allMatch(it -> it.version() > from)
                            ? view
                            : view.reported(
                                    view.reported().stream()
                                            .filter(it -> it.version() > from)
                                            .toList());
                });
        return new Coordinator(head, version, writing, changed, higher, over);
    }

    private Coordinator writing(Optional<GroupHead> what) {
        return new Coordinator(head, version, what, views, announced, over);
    }

    private Next over(String reason) {
        return new Next(
                new Coordinator(head, version, Optional.empty(), views, announced, true),
                List.of(new Action.Over(reason)));
    }

    // ---- what members say

    /** A member that runs listed what it has; it hears this coordinator from now on. */
    public Next listed(int member, Listing listing) {
        return arrived(member, listing, false);
    }

    /** A start of a member listed what it has. It takes part once it hears of a decision (D13). */
    public Next started(int member, Listing listing) {
        return arrived(member, listing, true);
    }

    private Next arrived(int member, Listing listing, boolean starts) {
        if (over) {
            return new Next(this, List.of());
        }
        if (listing.world() > head.world()) {
            return over("member " + member + " knows world " + listing.world());
        }
        if (head.members().get(member).isGone()) {
            return refused(
                    member, listing, "was given up in world " + goneIn(member) + ": start it anew");
        }
        boolean here = listing.world() == head.world();
        List<Sealed> reported = here ? listing.versions() : List.of();
        long least = here ? announced.at(member) : head.floor().at(member);
        if (listing.newest() < least) {
            return refused(member, listing, least + " was final: its folder is an old copy");
        }
        OptionalLong left = head.members().get(member).left();
        if (left.isPresent() && listing.newest() > left.getAsLong()) {
            return refused(
                    member,
                    listing,
                    "left the group, or joins it, with "
                            + left.getAsLong()
                            + ": its folder is of another one");
        }
        View view = views.get(member);
        Coordinator next =
                with(member, starts ? view.starting(listing, reported) : view.listing(reported));
        List<Action> actions = new ArrayList<>();
        boolean decides = writing.filter(it -> it.world() > head.world()).isPresent();
        if (here && !decides && !announced.covers(listing.boundary())) {
            // A predecessor announced it, and not all have heard of it.
            next = next.announcing(listing.boundary());
            next.announce(actions);
        } else if (!starts && here && !announced.equals(listing.boundary())) {
            actions.add(boundary(member));
        }
        if (!starts && !here) {
            actions.add(new Action.Decided(member, head.epoch(), head.decision()));
        }
        return next.progress(actions);
    }

    private long goneIn(int member) {
        return head.members().get(member).gone().orElseThrow();
    }

    private Next refused(int member, Listing listing, String why) {
        String sentence = "it has versions up to " + listing.newest() + ", and " + why;
        return new Next(this, List.of(new Action.Refuse(member, sentence)));
    }

    /** A member has more on disk, of this world. */
    public Next reported(int member, long world, List<Sealed> versions) {
        View view = views.get(member);
        if (over || !view.listed() || world != head.world()) {
            return new Next(this, List.of());
        }
        List<Sealed> all = new ArrayList<>(view.reported());
        long newest = all.isEmpty() ? announced.at(member) : all.get(all.size() - 1).version();
        versions.stream().filter(it -> it.version() > newest).forEach(all::add);
        return with(member, view.reported(List.copyOf(all))).progress(new ArrayList<>());
    }

    /** A member does not hear this coordinator any more; the member may continue (D9). */
    public Next unlinked(int member) {
        return over
                ? new Next(this, List.of())
                : with(member, views.get(member).unlinked()).progress(new ArrayList<>());
    }

    /** Others wait for a member for too long: a decision is made without it, once it can be. */
    public Next overdue(int member) {
        return over
                ? new Next(this, List.of())
                : with(member, views.get(member).isOverdue()).progress(new ArrayList<>());
    }

    /**
     * A member leaves, and takes no turn any more (D13).
     *
     * @param at its newest version
     */
    public Next leaving(int member, long at) {
        if (over) {
            return new Next(this, List.of());
        }
        if (head.members().get(member).left().equals(OptionalLong.of(at))) {
            // A predecessor noted it.
            return new Next(this, List.of(new Action.Left(member, head.epoch())));
        }
        return with(member, views.get(member).leaves(OptionalLong.of(at)))
                .progress(new ArrayList<>());
    }

    // ---- the head

    /** The write under way has happened. */
    public Next wrote(int nowVersion) {
        if (over || writing.isEmpty()) {
            return new Next(this, List.of());
        }
        GroupHead written = writing.get();
        List<Action> actions = new ArrayList<>();
        SortedMap<Integer, View> changed = new TreeMap<>(views);
        VersionVector now = announced;
        if (written.world() > head.world()) {
            now = written.floor();
            views.forEach(
                    (member, view) -> {
                        changed.put(member, view.decided());
                        if (view.linked() && (view.starting().isEmpty() || view.included())) {
                            actions.add(
                                    new Action.Decided(member, head.epoch(), written.decision()));
                        }
                    });
        } else {
            views.forEach((member, view) -> changed.put(member, noted(member, view, actions)));
        }
        return new Coordinator(written, nowVersion, Optional.empty(), changed, now, false)
                .progress(actions);
    }

    /** A member that left, or is back. */
    private View noted(int member, View view, List<Action> actions) {
        GroupHead written = writing.orElseThrow();
        OptionalLong before = head.members().get(member).left();
        OptionalLong after = written.members().get(member).left();
        if (before.isEmpty() && after.isPresent()) {
            if (view.linked()) {
                actions.add(new Action.Left(member, head.epoch()));
            }
            return view.leaves(OptionalLong.empty());
        }
        if (before.isPresent() && after.isEmpty() && view.included()) {
            Decision at = head.decision();
            actions.add(
                    new Action.Admitted(
                            member,
                            head.epoch(),
                            new Decision(at.world(), at.cuts().with(member, before.getAsLong()))));
            return view.listing(List.of());
        }
        return view;
    }

    /** Whether the write under way has happened is not known. */
    public Next unknown() {
        return new Next(
                this, over || writing.isEmpty() ? List.of() : List.<Action>of(new Action.Read()));
    }

    /** The head, after an unknown outcome (D8). */
    public Next seen(Optional<GroupHead> there, int atVersion) {
        if (over || writing.isEmpty()) {
            return new Next(this, List.of());
        }
        if (there.equals(writing)) {
            return wrote(atVersion);
        }
        if (there.isPresent() && atVersion == version) {
            return new Next(this, List.of(new Action.Write(writing.get(), version)));
        }
        return over(
                there.map(it -> "member " + it.leader() + " coordinates, epoch " + it.epoch())
                        .orElse("the head is missing"));
    }

    // ---- what follows

    private Next progress(List<Action> actions) {
        if (writing.isPresent()) {
            // What is announced beyond the cuts of a decision under way would be undone.
            return new Next(this, actions);
        }
        for (Map.Entry<Integer, View> each : views.entrySet()) {
            Optional<GroupHead> note = note(each.getKey(), each.getValue());
            if (note.isPresent()) {
                Coordinator next = with(each.getKey(), each.getValue().counted());
                return next.write(note.get(), actions);
            }
        }
        if (isDue() && isComplete()) {
            return decide(actions);
        }
        VersionVector closed = closed();
        if (closed.equals(announced)) {
            return new Next(this, actions);
        }
        Coordinator next = announcing(closed);
        next.announce(actions);
        return next.progress(actions);
    }

    private void announce(List<Action> actions) {
        views.forEach(
                (member, view) -> {
                    if (view.linked() && view.starting().isEmpty()) {
                        actions.add(boundary(member));
                    }
                });
    }

    /** What is final as far as members have said. */
    VersionVector closed() {
        return Closure.of(announced, reported(false));
    }

    private Action boundary(int member) {
        return new Action.Boundary(member, head.epoch(), head.world(), announced);
    }

    private Next write(GroupHead next, List<Action> actions) {
        actions.add(new Action.Write(next, version));
        return new Next(writing(Optional.of(next)), actions);
    }

    /** The head that notes that a member left, or that it is back. */
    private Optional<GroupHead> note(int member, View view) {
        if (view.starting().isPresent() && isClean(member, view)) {
            return Optional.of(head.admitted(member));
        }
        if (view.leaving().isPresent() && view.leaving().getAsLong() <= announced.at(member)) {
            return Optional.of(head.left(member, view.leaving().getAsLong(), announced));
        }
        return Optional.empty();
    }

    private boolean isClean(int member, View view) {
        OptionalLong left = head.members().get(member).left();
        return left.isPresent() && view.starting().get().newest() == left.getAsLong();
    }

    private boolean isDue() {
        return head.isDue()
                || views.values().stream()
                        .anyMatch(it -> it.starting().isPresent() || it.overdue());
    }

    /** Whether each member has listed, or left (D9). */
    private boolean isComplete() {
        return missing().isEmpty();
    }

    private SortedMap<Integer, List<Sealed>> reported(boolean starts) {
        SortedMap<Integer, List<Sealed>> all = new TreeMap<>();
        views.forEach(
                (member, view) -> {
                    boolean old =
                            view.starting().filter(it -> it.world() < head.world()).isPresent();
                    all.put(
                            member,
                            starts && old ? free(member, view.starting().get()) : view.reported());
                });
        return all;
    }

    /**
     * Of a start that has missed decisions: what depends on nothing, behind its cut. Its other
     * dependencies are of a world in which numbers meant something else (D11).
     */
    private List<Sealed> free(int member, Listing listing) {
        long cut = announced.at(member);
        List<Sealed> free = new ArrayList<>();
        for (Sealed each : listing.versions()) {
            if (each.version() > cut) {
                if (!each.dependencies().isNone()) {
                    break;
                }
                free.add(each);
            }
        }
        return free;
    }

    private Next decide(List<Action> actions) {
        VersionVector floor = announced;
        for (Map.Entry<Integer, View> each : views.entrySet()) {
            int member = each.getKey();
            // A start behind its cut may have a snapshot of what was final by its own fsync (D7).
            long base = each.getValue().starting().map(Listing::base).orElse(0L);
            floor = floor.with(member, Math.max(floor.at(member), base));
        }
        VersionVector cuts = Closure.of(floor, withoutLost(reported(true)));
        Coordinator next = this;
        for (Map.Entry<Integer, View> each : views.entrySet()) {
            next = next.with(each.getKey(), each.getValue().counted());
        }
        return next.write(head.decided(cuts), actions);
    }

    /**
     * Of a member that was given up, it is not known any more what was final of it, where another
     * one starts: that one may have heard it, and may have told the outside what depends on it. So
     * what depends on such a member stays, as far as it is on disk (D19). Where all others run,
     * they list all that they heard.
     */
    private SortedMap<Integer, List<Sealed>> withoutLost(SortedMap<Integer, List<Sealed>> all) {
        if (!head.isDue() || views.values().stream().noneMatch(View::forgot)) {
            return all;
        }
        SortedMap<Integer, List<Sealed>> without = new TreeMap<>();
        all.forEach(
                (member, versions) ->
                        without.put(member, versions.stream().map(this::withoutLost).toList()));
        return without;
    }

    private Sealed withoutLost(Sealed version) {
        VersionVector on = version.dependencies();
        for (int member = 0; member < head.members().size(); member++) {
            on = head.members().get(member).isGone() ? on.with(member, 0) : on;
        }
        return new Sealed(version.world(), version.version(), on);
    }

    /**
     * Members without which nothing is decided: they have neither listed nor left, and were not
     * given up (D9, D19).
     */
    public Set<Integer> missing() {
        Set<Integer> missing = new TreeSet<>();
        views.forEach(
                (member, view) -> {
                    GroupHead.Member it = head.members().get(member);
                    if (!view.listed() && it.left().isEmpty() && !it.isGone()) {
                        missing.add(member);
                    }
                });
        return missing;
    }

    /**
     * Members whose versions others wait for: what those reported depends on a version that was not
     * reported. Where that lasts for too long they are {@link #overdue}.
     */
    public Set<Integer> waitedFor() {
        Set<Integer> waitedFor = new TreeSet<>();
        VersionVector there = announced;
        for (Map.Entry<Integer, View> each : views.entrySet()) {
            for (Sealed version : each.getValue().reported()) {
                there = there.with(each.getKey(), version.version());
            }
        }
        for (View view : views.values()) {
            for (Sealed version : view.reported()) {
                VersionVector lacking = version.dependencies().beyond(there);
                for (int member = 0; member < lacking.members(); member++) {
                    if (lacking.at(member) > 0) {
                        waitedFor.add(member);
                    }
                }
            }
        }
        return waitedFor;
    }

    /** What the head says, as far as this one has written it. */
    public GroupHead head() {
        return head;
    }

    /** What is final in the head's world. */
    public VersionVector announced() {
        return announced;
    }

    /** Whether nothing follows any more. */
    public boolean isOver() {
        return over;
    }

    /** Whether a write is under way; nothing is announced then. */
    boolean isWriting() {
        return writing.isPresent();
    }

    @Override
    public String toString() {
        return head
                + " at "
                + version
                + ", writes "
                + writing
                + ", knows "
                + views
                + ", announced "
                + announced
                + (over ? ", over" : "");
    }
}
