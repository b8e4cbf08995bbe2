package io.saucr.services.core;

import io.saucr.services.core.ServiceWorld.Written;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.core.speculation.Vertex;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The turns of a simulated member of a group, in versions: in memory, and as its journal has them
 * (D1, D5, D10). Says which turns are final, and which are left in a new world. One thread.
 */
final class GroupJournal {

    private record Entry(VersionRecord record, List<Written> turns) {}

    /** A version that is not undone: its last turn, and on what it was recorded to depend. */
    private record Layer(long lastTurn, VersionVector dependencies) {}

    private final int member;
    Versions versions;

    /** Of the newest snapshot. */
    private long baseWorld = 1;

    private long baseVersion;
    private long baseTurn;

    /** Behind the snapshot. */
    private final List<Entry> entries = new ArrayList<>();

    private int synced;

    /** Which version the journal notes as final. */
    private long noted;

    private final TreeMap<Long, Layer> layers = new TreeMap<>();
    private List<Written> sealed = new ArrayList<>();
    private List<Written> open = new ArrayList<>();

    GroupJournal(int member) {
        this.member = member;
        load(0);
    }

    /** As a start finds it that has so many entries. */
    private void load(int count) {
        noted = 0;
        versions = Versions.of(member, baseWorld, baseVersion);
        layers.clear();
        layers.put(baseVersion, new Layer(baseTurn, VersionVector.NONE));
        sealed = new ArrayList<>();
        open = new ArrayList<>();
        for (Entry each : entries.subList(0, count)) {
            versions = versions.recovered(each.record());
            if (each.record() instanceof Sealed it) {
                add(it, each.turns());
            } else if (each.record() instanceof Passed it) {
                drop(it.kept());
                free(it);
            }
        }
    }

    private void add(Sealed it, List<Written> turns) {
        sealed.addAll(turns);
        long last = turns.get(turns.size() - 1).delta().turn();
        layers.put(it.version(), new Layer(last, it.dependencies()));
    }

    private long drop(long above) {
        layers.tailMap(above, false).clear();
        long last = layers.lastEntry().getValue().lastTurn();
        sealed.removeIf(it -> it.delta().turn() > last);
        return last;
    }

    private void free(Passed it) {
        layers.headMap(it.kept(), true)
                .replaceAll((version, layer) -> new Layer(layer.lastTurn(), VersionVector.NONE));
    }

    /** All turns behind the snapshot, in their order. */
    List<Written> turns() {
        List<Written> all = new ArrayList<>(sealed);
        all.addAll(open);
        return all;
    }

    // ---- turns

    /** A turn that took messages of these versions, besides what is not of members. */
    void append(Written turn, List<Vertex> took) {
        for (Vertex each : took) {
            if (versions.taking(each) == Versions.Taking.AFTER_A_SEAL) {
                seal();
            }
            versions = versions.took(each);
        }
        versions = versions.turn();
        open.add(turn);
    }

    void seal() {
        Optional<Bounded> note = versions.toNote(noted);
        note.ifPresent(it -> entries.add(new Entry(it, List.of())));
        noted = note.map(Bounded::version).orElse(noted);
        Sealed it = versions.seal();
        entries.add(new Entry(it, List.copyOf(open)));
        versions = versions.sealed();
        add(it, open);
        open = new ArrayList<>();
    }

    boolean hasSynced() {
        return synced == entries.size();
    }

    /** One more entry is on disk. */
    void sync() {
        VersionRecord next = entries.get(synced++).record();
        boolean passes = next instanceof Passed it && it.world() == versions.world();
        versions = versions.forced(next);
        if (passes) {
            free((Passed) next);
        }
    }

    /** Whether something here is undone if a member loses what is not final of it. */
    boolean dependsOn(int other) {
        boolean depends = versions.hasTurns() && versions.seal().dependencies().at(other) > 0;
        long known = versions.boundary().at(other);
        return depends
                || layers.values().stream().anyMatch(it -> it.dependencies().at(other) > known);
    }

    /** What a message of a turn says of it (D2). */
    Vertex vertexOf(long turn) {
        for (Map.Entry<Long, Layer> each : layers.entrySet()) {
            if (each.getValue().lastTurn() >= turn) {
                return versions.vertex(each.getKey());
            }
        }
        return versions.vertex(versions.open());
    }

    /** Nothing can undo turns up to this one (D7). */
    long finalTurn() {
        return lastTurn(versions.finalVersion());
    }

    /** Turns up to this one are on disk. */
    long syncedTurn() {
        long last = baseVersion;
        for (Entry each : entries.subList(0, synced)) {
            if (each.record() instanceof Sealed it) {
                last = it.version();
            } else if (each.record() instanceof Passed it) {
                last = it.kept();
            }
        }
        return lastTurn(last);
    }

    private long lastTurn(long version) {
        return layers.floorEntry(version).getValue().lastTurn();
    }

    private long newestTurn() {
        return open.isEmpty()
                ? layers.lastEntry().getValue().lastTurn()
                : open.get(open.size() - 1).delta().turn();
    }

    /** What the newest snapshot may be of, which is final. */
    void folded(long turn) {
        for (int index = synced - 1; index >= 0; index--) {
            if (entries.get(index).record() instanceof Sealed it
                    && layers.containsKey(it.version())
                    && layers.get(it.version()).lastTurn() == turn) {
                baseVersion = it.version();
                baseTurn = turn;
                for (Entry each : entries.subList(0, index + 1)) {
                    baseWorld = each.record() instanceof Passed passed ? passed.world() : baseWorld;
                }
                entries.subList(0, index + 1).clear();
                synced -= index + 1;
                layers.headMap(baseVersion, false).clear();
                sealed.removeIf(each -> each.delta().turn() <= turn);
                return;
            }
        }
        throw new IllegalStateException("turn " + turn + " ends no version");
    }

    // ---- failures

    /** How many entries a crash may keep: at least those, at most these. */
    int fewest() {
        return synced;
    }

    int most() {
        return entries.size();
    }

    void crash(int kept) {
        entries.subList(kept, entries.size()).clear();
        synced = kept;
        load(kept);
    }

    /**
     * Passes to the world of a decision (D10, D11).
     *
     * @return the newest turn that is left
     */
    long pass(Decision decision, Consumer<String> fails) {
        Versions before = versions;
        long wasFinal = finalTurn();
        versions = before.pass(decision);
        long newest = versions.newest();
        boolean openStays = versions.hasTurns();
        Map.Entry<Long, Layer> dropped = layers.higherEntry(newest);
        if (dropped != null && dropped.getValue().dependencies().isNone()) {
            fails.accept(
                    "version " + dropped.getKey() + " took nothing speculative, and is undone");
        }
        boolean openGoes = before.hasTurns() && !openStays;
        if (dropped == null && openGoes && before.seal().dependencies().isNone()) {
            fails.accept("the open version took nothing speculative, and is undone");
        }
        drop(newest);
        if (!openStays) {
            open = new ArrayList<>();
        }
        entries.add(new Entry(versions.passage(), List.of()));
        if (newestTurn() < wasFinal) {
            fails.accept("turn " + wasFinal + " was final, and is undone by " + decision);
        }
        compareWithDisk(fails);
        return newestTurn();
    }

    /** A start finds what is here, if all is synced before. */
    private void compareWithDisk(Consumer<String> fails) {
        GroupJournal disk = new GroupJournal(member);
        disk.baseWorld = baseWorld;
        disk.baseVersion = baseVersion;
        disk.baseTurn = baseTurn;
        disk.entries.addAll(entries);
        disk.load(entries.size());
        boolean same =
                disk.sealed.equals(sealed)
                        && disk.versions.world() == versions.world()
                        && disk.versions.newest() == versions.newest();
        if (!same) {
            fails.accept("disk: " + disk.versions + disk.sealed + ", memory: " + versions + sealed);
        }
    }

    @Override
    public String toString() {
        return versions + ", " + synced + " of " + entries.size() + " entries are on disk";
    }
}
