package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A member of the modelled group: what it has in memory, on disk and on its links. */
final class GroupMember {

    /**
     * Tells messages apart that have the same number: the lowest one that no other has where the
     * message is made, so that states do not differ by what was forgotten.
     */
    record MessageId(int id) {
        @Override
        public String toString() {
            return Integer.toString(id);
        }
    }

    /** A message to a member. */
    record Sent(int to, int number, MessageId id) {
        @Override
        public String toString() {
            return ">" + to + "#" + number + ":" + id;
        }

        boolean is(int itsNumber, MessageId itsId) {
            return number == itsNumber && id.equals(itsId);
        }
    }

    /**
     * A turn.
     *
     * @param from who sent what it took; -1 for a request from outside
     */
    record Turn(int from, int number, MessageId id, List<Sent> sent) {

        /** What counts as the sender of an early ack, which a turn takes. */
        static int earlyAckOf(int peer) {
            return -2 - peer;
        }

        @Override
        public String toString() {
            return "(" + from + "#" + number + ":" + id + sent + ")";
        }
    }

    /** A sealed version. */
    record Layer(long version, List<Turn> turns) {
        @Override
        public String toString() {
            return version + "" + turns;
        }
    }

    /** A record of the journal, and the turns of a version. */
    record Entry(VersionRecord record, List<Turn> turns) {}

    /** What is under way between members. */
    sealed interface Frame {
        record Msg(int number, MessageId id, Vertex of) implements Frame {}

        /**
         * A link begins, or its sender has passed to a world.
         *
         * @param consumed how many messages, and {@code spared} how many of them in final turns
         * @param sent how many messages, and {@code left} how many of them in final turns
         */
        record Hello(long world, int consumed, int spared, int sent, int left) implements Frame {}

        /** A message was consumed, by the turn of a version (D18). */
        record Early(int number, Vertex of) implements Frame {}
    }

    /** What is under way to the coordinator. */
    sealed interface Up {
        record Lists(Listing listing, boolean starts) implements Up {}

        record Reports(long world, List<Sealed> versions) implements Up {}

        record Leaves(long at) implements Up {}
    }

    /** A write of the head that is under way; {@code done} says what became of it. */
    record Request(GroupHead head, int version, boolean claim, Boolean done) {}

    final int index;
    boolean runs = true;
    boolean leaving;
    boolean ended;
    Versions versions;
    List<Layer> layers = List.of();
    List<Turn> open = List.of();

    /** Of the journal, from the last passage that is on disk; see {@link #forget}. */
    List<Entry> journal = List.of();

    /** How many entries are on disk. */
    int forced;

    /** The last passage that is on disk, and what it kept. */
    private Passed passage;

    private List<Layer> kept = List.of();
    List<Turn> told = List.of();
    long epoch = 1;
    int leader;
    long reported;
    Coordinator coordinator;
    Request request;
    List<Up> up = List.of();
    List<Coordinator.Action> down = List.of();
    final List<List<Frame>> out = new ArrayList<>(List.of(List.of(), List.of(), List.of()));
    final boolean[] linked = {true, true, true};

    /** How many messages to each one need not be sent again; not in the state (D12). */
    List<Integer> acked = List.of(0, 0, 0);

    /** Calls that turns began, in a process that goes on when they are undone (D17). */
    List<Sent> calls = List.of();

    private String text;

    /** Parts of the text, and of what they were made. */
    private final Object[] parts = new Object[13];

    private final String[] texts = new String[13];

    GroupMember(int index) {
        this.index = index;
        versions = Versions.of(index, 1, 0);
    }

    private GroupMember(GroupMember of) {
        index = of.index;
        runs = of.runs;
        leaving = of.leaving;
        ended = of.ended;
        versions = of.versions;
        layers = of.layers;
        open = of.open;
        journal = of.journal;
        forced = of.forced;
        passage = of.passage;
        kept = of.kept;
        told = of.told;
        epoch = of.epoch;
        leader = of.leader;
        reported = of.reported;
        coordinator = of.coordinator;
        request = of.request;
        up = of.up;
        down = of.down;
        for (int peer = 0; peer < linked.length; peer++) {
            out.set(peer, of.out.get(peer));
            linked[peer] = of.linked[peer];
        }
        acked = of.acked;
        calls = of.calls;
        System.arraycopy(of.parts, 0, parts, 0, parts.length);
        System.arraycopy(of.texts, 0, texts, 0, texts.length);
    }

    /** To be changed, the copy alone. */
    GroupMember copy() {
        return new GroupMember(this);
    }

    static <T> List<T> add(List<T> list, T more) {
        List<T> longer = new ArrayList<>(list);
        longer.add(more);
        return List.copyOf(longer);
    }

    static <T> List<T> rest(List<T> list) {
        return List.copyOf(list.subList(1, list.size()));
    }

    // ---- history

    /** All turns that it has, in order. */
    List<Turn> history() {
        List<Turn> all = new ArrayList<>();
        layers.forEach(it -> all.addAll(it.turns()));
        all.addAll(open);
        return all;
    }

    /** Whether there is such a turn anywhere, be it undone. */
    boolean knows(Predicate<Turn> which) {
        return journal.stream().anyMatch(it -> it.turns().stream().anyMatch(which))
                || kept.stream().anyMatch(it -> it.turns().stream().anyMatch(which))
                || history().stream().anyMatch(which)
                || told.stream().anyMatch(which);
    }

    /** How many messages of a member it has consumed; of -1, how many requests. */
    int consumed(int from) {
        return (int) history().stream().filter(it -> it.from() == from).count();
    }

    /** The same of final turns alone. */
    int spared(int from) {
        return (int) told.stream().filter(it -> it.from() == from).count();
    }

    /** How many messages to a member are of final turns. */
    int left(int to) {
        return (int)
                told.stream().flatMap(it -> it.sent().stream()).filter(it -> it.to() == to).count();
    }

    /** Calls whose results were not taken. */
    List<Sent> openCalls() {
        List<Sent> all = sent(index);
        return all.subList(Math.min(consumed(index), all.size()), all.size());
    }

    List<Sent> sent(int to) {
        return history().stream()
                .flatMap(it -> it.sent().stream())
                .filter(it -> it.to() == to)
                .toList();
    }

    /** The version whose turn sent it. */
    long versionOf(Sent message) {
        for (Layer each : layers) {
            if (each.turns().stream().anyMatch(it -> it.sent().contains(message))) {
                return each.version();
            }
        }
        return versions.open();
    }

    void seal() {
        journal = add(journal, new Entry(versions.seal(), open));
        layers = add(layers, new Layer(versions.open(), open));
        versions = versions.sealed();
        open = List.of();
    }

    /** One report behind another says what both do. */
    void report(long world, List<Sealed> more) {
        List<Sealed> all = new ArrayList<>();
        List<Up> before = up;
        if (!up.isEmpty()
                && up.get(up.size() - 1) instanceof Up.Reports last
                && last.world() == world) {
            all.addAll(last.versions());
            before = up.subList(0, up.size() - 1);
        }
        all.addAll(more);
        up = add(before, new Up.Reports(world, List.copyOf(all)));
    }

    /** Whether it is in a world, and so is all that it has to do with. */
    boolean isOnlyOf(long world) {
        return versions.world() == world
                && versions.hasPassed()
                && out.stream()
                        .flatMap(List::stream)
                        .allMatch(
                                it ->
                                        it instanceof Frame.Msg msg
                                                ? msg.of().world() == world
                                                : it instanceof Frame.Early early
                                                        ? early.of().world() == world
                                                        : ((Frame.Hello) it).world() == world)
                && up.stream()
                        .allMatch(it -> it instanceof Up.Reports report && report.world() == world)
                && down.stream()
                        .allMatch(
                                it ->
                                        it instanceof Coordinator.Action.Boundary boundary
                                                && boundary.world() == world
                                                && boundary.epoch() == epoch);
    }

    /** What depends on what, as it was recorded, of the newest version of this number. */
    VersionVector recorded(long version) {
        VersionVector found = VersionVector.NONE;
        for (Entry each : journal) {
            if (each.record() instanceof Sealed it && it.version() == version) {
                found = it.dependencies();
            }
        }
        return found;
    }

    /** The same, as versions of another world say it. */
    VersionVector recordedIn(long world, long version) {
        VersionVector found = VersionVector.NONE;
        for (Entry each : journal) {
            if (each.record() instanceof Sealed it && it.version() == version) {
                found = it.world() == world ? it.dependencies() : VersionVector.NONE;
            }
        }
        return found;
    }

    /** Passes to a world with another rule for what is kept. */
    Versions passKeeping(Decision decision, Predicate<VersionVector> keeps) {
        long cut = decision.cuts().at(index);
        Versions as = Versions.of(index, decision.world() - 1, cut);
        boolean stays = true;
        for (Layer each : layers) {
            if (each.version() > cut && stays) {
                stays = keeps.test(recordedIn(versions.world(), each.version()));
                if (stays) {
                    as = as.turn(each.version(), VersionVector.NONE);
                    Sealed sealed = as.seal();
                    as = as.sealed();
                    as = isSynced(each.version()) ? as.forced(sealed) : as;
                }
            }
        }
        if (stays && versions.hasTurns() && keeps.test(versions.dependencies())) {
            as = as.turn(versions.open(), VersionVector.NONE);
        }
        return as.pass(decision);
    }

    private boolean isSynced(long version) {
        boolean synced = kept.stream().anyMatch(it -> it.version() == version);
        for (int entry = 0; entry < journal.size(); entry++) {
            if (journal.get(entry).record() instanceof Sealed it && it.version() == version) {
                synced = entry < forced;
            }
        }
        return synced;
    }

    /** As it is after a start on this journal. */
    void recover(boolean passagesAreRead) {
        layers = kept;
        open = List.of();
        versions = Versions.of(index, 1, 0);
        if (passage != null) {
            for (Layer each : kept) {
                versions = versions.recovered(new Sealed(1, each.version(), VersionVector.NONE));
            }
            versions = versions.recovered(passage);
        }
        for (Entry each : journal) {
            if (each.record() instanceof Passed it) {
                long kept = passagesAreRead ? it.kept() : Math.max(it.kept(), versions.newest());
                layers = upTo(kept);
                versions = versions.recovered(new Passed(it.world(), it.cut(), kept));
            } else {
                Sealed it = (Sealed) each.record();
                layers = add(layers, new Layer(it.version(), each.turns()));
                versions = versions.recovered(it);
            }
        }
    }

    /**
     * Forgets what is before the last passage on disk, so that states do not differ by what was
     * dropped.
     */
    void forget() {
        for (int last = forced - 1; last >= 0; last--) {
            if (journal.get(last).record() instanceof Passed it) {
                GroupMember then = copy();
                then.journal = journal.subList(0, last + 1);
                then.recover(true);
                passage = it;
                kept = then.layers;
                journal = List.copyOf(journal.subList(last + 1, journal.size()));
                forced -= last + 1;
                return;
            }
        }
    }

    /** The newest version on disk. */
    long synced() {
        long last = passage == null ? 0 : passage.kept();
        for (Entry each : journal.subList(0, forced)) {
            last =
                    each.record() instanceof Sealed it
                            ? it.version()
                            : ((Passed) each.record()).kept();
        }
        return last;
    }

    List<Layer> upTo(long version) {
        return layers.stream().filter(it -> it.version() <= version).toList();
    }

    /** All that decides what may follow. */
    String text() {
        if (text == null) {
            StringBuilder all = new StringBuilder(1_500);
            all.append(runs ? 'r' : 's').append(leaving ? 'l' : '-');
            all.append(ended ? 'e' : '-').append(forced).append(' ').append(epoch).append(' ');
            all.append(leader).append(' ').append(leader < 0 ? 0 : reported).append(' ');
            all.append(told.size()).append(' ').append(passage);
            for (boolean each : linked) {
                all.append(each ? '+' : '-');
            }
            Object[] now = {
                versions,
                layers,
                open,
                journal,
                kept,
                coordinator,
                request,
                up,
                down,
                out.get(0),
                out.get(1),
                out.get(2),
                List.of(acked, calls)
            };
            for (int part = 0; part < now.length; part++) {
                if (texts[part] == null || parts[part] != now[part]) {
                    parts[part] = now[part];
                    texts[part] = String.valueOf(now[part]);
                }
                all.append(texts[part]);
            }
            text = all.toString();
        }
        return text;
    }
}
