package io.saucr.services.tests.standby;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.EnsembleOutcome;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import java.util.Map;
import java.util.TreeMap;

/**
 * Registers, which are written, compared and read, a count for each caller, which notices whatever
 * comes twice, late or never, and marks in the ensemble, whose outcomes are counted.
 */
public final class Registers implements Service {

    private static final int KEY_BYTES = 8;
    private static final String HAPPENED = "happened";
    private static final String REFUSED = "refused";

    private final MapState<String, String> values;
    private final MapState<String, Long> counts;
    private final ValueState<Long> disorder;
    private final MapState<Long, String> filling;
    private final MapState<String, Long> outcomes;

    /** Answered by {@link Value}, what was there before. */
    public record Write(String key, String value) {}

    /** Writes where that is there; empty text for nothing. Answered by {@link Swapped}. */
    public record Swap(String key, String expected, String value) {}

    /** A query, answered by {@link Value}. */
    public record Read(String key) {}

    /** What a register holds; empty text for nothing. */
    public record Value(String value) {}

    /** Whether it was written, and what is there now. */
    public record Swapped(boolean done, String value) {}

    /** The next number of a caller, from 1. Answered by {@link Counted}. */
    public record Count(String caller, long number) {}

    /** What the caller's count is now. */
    public record Counted(long number) {}

    /** A query, answered by {@link Books}. */
    public record Ask() {}

    /**
     * All counts.
     *
     * @param counts by caller
     * @param disorder how often a number was not the one that had to come next
     */
    public record Books(Map<String, Long> counts, long disorder) {}

    /** Gives the state some more entries. Answered by {@link Filled}. */
    public record Fill(long from, int count, int bytes) {}

    /** A query, answered by {@link Filled}. */
    public record HowMany() {}

    /** How many entries were added by {@link Fill}. */
    public record Filled(long entries) {}

    /** The same as {@link Count}, and three writes to the ensemble, at {@link #MARKS}. */
    public record Mark(String caller, long number) {}

    /** A query, answered by {@link Marked}. */
    public record AskMarks() {}

    /** How many outcomes of writes to the ensemble were told. */
    public record Marked(long happened, long refused) {}

    /**
     * Each mark sets this node's data, and gives it two children, one with a number of the
     * ensemble's: so the node's version says how many marks were made.
     */
    public static final String MARKS = "/marks";

    Registers(State state) {
        filling = state.map("filling", Long.class, String.class);
        values = state.map("values", String.class, String.class);
        counts = state.map("counts", String.class, Long.class);
        disorder = state.value("disorder", Long.class);
        outcomes = state.map("outcomes", String.class, Long.class);
    }

    private Counted counted(String caller, long number) {
        long next = counts.getOrDefault(caller, 0L) + 1;
        if (next != number) {
            disorder.update(disorder.orElse(0L) + 1);
        }
        counts.put(caller, next);
        return new Counted(next);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Write.class,
                (write, turn) -> {
                    turn.reply(new Value(values.getOrDefault(write.key(), "")));
                    values.put(write.key(), write.value());
                });
        on.message(
                Swap.class,
                (swap, turn) -> {
                    String before = values.getOrDefault(swap.key(), "");
                    boolean done = before.equals(swap.expected());
                    if (done) {
                        values.put(swap.key(), swap.value());
                    }
                    turn.reply(new Swapped(done, done ? swap.value() : before));
                });
        on.message(
                Count.class, (count, turn) -> turn.reply(counted(count.caller(), count.number())));
        on.message(
                Mark.class,
                (mark, turn) -> {
                    turn.reply(counted(mark.caller(), mark.number()));
                    byte[] number = Long.toString(mark.number()).getBytes(UTF_8);
                    turn.ensemble().setData(MARKS, number, -1);
                    turn.ensemble().createSequential(MARKS + "/m-", number);
                    turn.ensemble().create(MARKS + "/n-" + mark.number(), number);
                });
        on.message(
                Fill.class,
                (fill, turn) -> {
                    for (long key = fill.from(); key < fill.from() + fill.count(); key++) {
                        String digits = Long.toString(key);
                        filling.put(
                                key,
                                digits + "-".repeat(fill.bytes() - KEY_BYTES - digits.length()));
                    }
                    turn.reply(new Filled(filling.size()));
                });
        on.query(HowMany.class, (ask, turn) -> new Filled(filling.size()));
        on.message(
                EnsembleOutcome.class,
                (outcome, turn) ->
                        outcomes.merge(
                                outcome.happened() ? HAPPENED : REFUSED,
                                1L,
                                (one, other) -> one + other));
        on.query(
                AskMarks.class,
                (ask, turn) ->
                        new Marked(
                                outcomes.getOrDefault(HAPPENED, 0L),
                                outcomes.getOrDefault(REFUSED, 0L)));
        on.query(Read.class, (read, turn) -> new Value(values.getOrDefault(read.key(), "")));
        on.query(
                Ask.class,
                (ask, turn) -> {
                    Map<String, Long> all = new TreeMap<>();
                    counts.entries().forEach(it -> all.put(it.getKey(), it.getValue()));
                    return new Books(all, disorder.orElse(0L));
                });
    }
}
