package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Behind which turn each epoch of a service began: what an earlier epoch did above that is lost,
 * and who saw it has to be told (C11). An epoch of which nothing survived is not in it, and need
 * not be. Immutable.
 *
 * @param begun with rising epochs, and turns that do not fall
 */
public record Epochs(List<Begun> begun) {

    /** So many are kept, the newest ones. */
    public static final int MOST = 1_024;

    /** None yet. */
    public static final Epochs NONE = new Epochs(List.of());

    /**
     * One epoch.
     *
     * @param epoch its number, from 1
     * @param after the turn that survived when it began
     */
    public record Begun(long epoch, long after) {}

    public Epochs {
        begun = List.copyOf(begun);
        long epoch = 0;
        long turn = 0;
        for (Begun each : begun) {
            if (each.epoch() <= epoch || each.after() < turn) {
                throw new IllegalArgumentException(
                        "epochs rise from 1, and their turns do not fall: " + begun);
            }
            epoch = each.epoch();
            turn = each.after();
        }
        if (begun.size() > MOST) {
            throw new IllegalArgumentException(
                    "at most " + MOST + " epochs are kept, not " + begun.size());
        }
    }

    /**
     * These and the next one; the oldest goes where there are too many. One whose number does not
     * rise is of another birth, whose peers know nothing of those before.
     */
    public Epochs with(Begun next) {
        if (next.epoch() <= newest()) {
            return new Epochs(List.of(next));
        }
        List<Begun> all = new ArrayList<>(begun);
        all.add(next);
        return new Epochs(all.size() > MOST ? all.subList(1, all.size()) : all);
    }

    /** The newest one; 0 for none. */
    public long newest() {
        return begun.isEmpty() ? 0 : begun.get(begun.size() - 1).epoch();
    }

    /** Whether an epoch is over: what it did is covered or lost. */
    public boolean isOver(long epoch) {
        return epoch < newest();
    }

    /**
     * Behind which turn all is lost, where that turn of that epoch is; empty where it survived, or
     * its epoch continues. Of an epoch so old that none before it is known everything counts as
     * lost.
     */
    public OptionalLong lostFrom(Mark mark) {
        if (!isOver(mark.epoch())) {
            return OptionalLong.empty();
        }
        Begun oldest = begun.get(0);
        if (mark.epoch() < oldest.epoch() && oldest.after() > 0) {
            return OptionalLong.of(0);
        }
        Begun next =
                begun.stream().filter(it -> it.epoch() > mark.epoch()).findFirst().orElseThrow();
        return mark.turn() > next.after() ? OptionalLong.of(next.after()) : OptionalLong.empty();
    }
}
