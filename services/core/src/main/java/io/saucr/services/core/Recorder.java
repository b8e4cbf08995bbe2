package io.saucr.services.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Makes the records of turns, each with all that its turn did, and with what came in since the last
 * one and needs no turn of its own (K3). Turn thread.
 */
final class Recorder {

    private final CoreState state;
    private final Past past;
    private final Release release;

    /** What is recorded with the next turn, whichever that is: acks and outputs without answer. */
    private final Map<String, Change.Acked> newAcks = new LinkedHashMap<>();

    private final List<Change> newDones = new ArrayList<>();
    private Consumer<Delta> hears;

    Recorder(CoreState state, Release release) {
        this.state = state;
        this.release = release;
        past = state.past;
    }

    /** Has each turn told to who lets out what it did, once it is final. */
    void tell(Consumer<Delta> recorded) {
        hears = recorded;
    }

    void acked(Change.Acked change) {
        past.applyEarly(change);
        newAcks.put(change.peer(), change);
    }

    boolean anyAcks() {
        return !newAcks.isEmpty();
    }

    /** A call to the world has no answer. */
    void done(Change.OutputDone change) {
        past.applyEarly(change);
        newDones.add(change);
    }

    /** A turn of the core's own. */
    void own(List<Change> changes, List<Action> out) {
        out.add(new Action.Append(record(changes)));
    }

    Delta record(List<Change> changes) {
        List<Change> all = new ArrayList<>(newAcks.values());
        newAcks.clear();
        all.addAll(newDones);
        newDones.clear();
        all.addAll(changes);
        Delta delta =
                new Delta(
                        past.turn + 1,
                        state.self.number(),
                        state.clock.nowMillis(),
                        List.copyOf(all));
        long outputsBefore = past.newestOutput;
        past.apply(delta);
        leavesOnceFinal(delta, outputsBefore);
        return delta;
    }

    /** A turn was recovered, and is not final. */
    void kept(Delta delta) {
        long outputs =
                delta.changes().stream().filter(it -> it instanceof Change.OutputMade).count();
        leavesOnceFinal(delta, past.newestOutput - outputs);
    }

    private void leavesOnceFinal(Delta delta, long outputsBefore) {
        long made = outputsBefore;
        for (Action.Release room : past.outboxes.over()) {
            release.after(delta.turn(), () -> release.leaves(room));
        }
        hears.accept(delta);
        for (Change change : delta.changes()) {
            if (change instanceof Change.OutputMade it) {
                long output = ++made;
                release.after(delta.turn(), () -> release.leaves(call(output, it.body())));
            }
        }
    }

    Action call(long output, Body body) {
        // The id stays, whatever birth makes the call again (K17).
        Birth made = past.birthOfOutput(output).orElse(state.self.birth());
        return new Action.Call(output, made + "-" + output, body);
    }
}
