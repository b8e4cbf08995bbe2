package io.saucr.services.core.lanes;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * What a run ahead of its turn saw: entries and whole collections of one version of the state (P1,
 * P2), and answers about turns before (P3). What it only wrote is not in here. Belongs to the lane
 * while that runs, and to the turn thread afterwards.
 *
 * @param <C> collections
 */
public final class Seen<C> {

    /** A version of the state, whose parts are compared by identity. */
    public interface Version<C> {

        /** The entry of a key, or null; another object after each change of it. */
        Object entry(C collection, Object key);

        /** A collection with all its entries; another object after each change of one. */
        Object whole(C collection);
    }

    private record Entry<C>(C collection, Object key, Object entry) {}

    private record Asked<T>(Supplier<T> question, T answer) {

        boolean isAnsweredTheSame() {
            return Objects.equals(question.get(), answer);
        }
    }

    private final List<Entry<C>> entries = new ArrayList<>();
    private final IdentityHashMap<C, Object> wholes = new IdentityHashMap<>();
    private final List<Asked<?>> asked = new ArrayList<>();

    /** It looked for a key, and found this entry, or null. */
    public void entry(C collection, Object key, Object entry) {
        entries.add(new Entry<>(collection, key, entry));
    }

    /** It looked at a size, or went through all entries. */
    public void whole(C collection, Object whole) {
        wholes.put(collection, whole);
    }

    /** It asked about turns before; the question is asked again at the commit. */
    public <T> void asked(Supplier<T> question, T answer) {
        asked.add(new Asked<>(question, answer));
    }

    /** Whether a run on this version would see the same. Answers may have changed. */
    public boolean isUnchangedIn(Version<C> version) {
        return wholes.entrySet().stream()
                        .allMatch(it -> version.whole(it.getKey()) == it.getValue())
                && entries.stream()
                        .allMatch(it -> version.entry(it.collection(), it.key()) == it.entry());
    }

    /** Whether a turn that runs now would see the same, answers included. */
    public boolean isSeenAgainIn(Version<C> now) {
        return isUnchangedIn(now) && asked.stream().allMatch(Asked::isAnsweredTheSame);
    }
}
