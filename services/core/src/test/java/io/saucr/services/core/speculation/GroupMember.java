package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** A member of the modelled group: what it has in memory, on disk and on its links. */
final class GroupMember {

    /**
     * Tells messages apart that have the same number.
     *
     * @param world in which it was first sent
     * @param start of the sender
     */
    record MessageId(long world, int start) {
        @Override
        public String toString() {
            return world + "." + start;
        }
    }

    /** A message to a member. */
    record Sent(int to, int number, MessageId id) {
        @Override
        public String toString() {
            return ">" + to + "#" + number + ":" + id;
        }
    }

    /**
     * A turn.
     *
     * @param from who sent what it took; -1 for a request from outside
     */
    record Turn(int from, int number, MessageId id, List<Sent> sent) {
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

        record Hello(long world, int consumed) implements Frame {}
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
    int start = 1;
    boolean runs = true;
    boolean leaving;
    boolean ended;
    Versions versions;
    List<Layer> layers = List.of();
    List<Turn> open = List.of();
    List<Entry> journal = List.of();
    int forced;
    List<Turn> told = List.of();
    long epoch = 1;
    int leader;
    long reported;
    Coordinator coordinator;
    Request request;
    List<Up> up = List.of();
    List<Coordinator.Action> down = List.of();
    final List<List<Frame>> out = new ArrayList<>(List.of(List.of(), List.of(), List.of()));
    final List<Map<Integer, Frame.Msg>> held =
            new ArrayList<>(List.of(Map.of(), Map.of(), Map.of()));
    final boolean[] linked = {true, true, true};
    private String text;

    /** Parts of the text, and of what they were made. */
    private final Object[] parts = new Object[14];

    private final String[] texts = new String[14];

    GroupMember(int index) {
        this.index = index;
        versions = Versions.of(index, 1, 0);
    }

    private GroupMember(GroupMember of) {
        index = of.index;
        start = of.start;
        runs = of.runs;
        leaving = of.leaving;
        ended = of.ended;
        versions = of.versions;
        layers = of.layers;
        open = of.open;
        journal = of.journal;
        forced = of.forced;
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
            held.set(peer, of.held.get(peer));
            linked[peer] = of.linked[peer];
        }
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

    /** How many messages of a member it has consumed; of -1, how many requests. */
    int consumed(int from) {
        return (int) history().stream().filter(it -> it.from() == from).count();
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
                && held.stream().allMatch(Map::isEmpty)
                && out.stream()
                        .flatMap(List::stream)
                        .allMatch(
                                it ->
                                        it instanceof Frame.Msg msg
                                                ? msg.of().world() == world
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
        boolean synced = false;
        for (int entry = 0; entry < journal.size(); entry++) {
            if (journal.get(entry).record() instanceof Sealed it && it.version() == version) {
                synced = entry < forced;
            }
        }
        return synced;
    }

    /** As it is after a start on this journal. */
    void recover(boolean passagesAreRead) {
        layers = List.of();
        open = List.of();
        versions = Versions.of(index, 1, 0);
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

    List<Layer> upTo(long version) {
        return layers.stream().filter(it -> it.version() <= version).toList();
    }

    /** All that decides what may follow. */
    String text() {
        if (text == null) {
            StringBuilder all = new StringBuilder(1_500);
            all.append(start).append(runs ? 'r' : 's').append(leaving ? 'l' : '-');
            all.append(ended ? 'e' : '-').append(forced).append(' ').append(epoch).append(' ');
            all.append(leader).append(' ').append(reported);
            for (boolean each : linked) {
                all.append(each ? '+' : '-');
            }
            Object[] now = {
                versions,
                layers,
                open,
                journal,
                told,
                coordinator,
                request,
                up,
                down,
                out.get(0),
                out.get(1),
                out.get(2),
                held.get(0).isEmpty() && held.get(1).isEmpty() && held.get(2).isEmpty()
                        ? ""
                        : List.copyOf(held),
                null
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
