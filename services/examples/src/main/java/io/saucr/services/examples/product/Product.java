package io.saucr.services.examples.product;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;
import java.util.List;

/**
 * Multiplies two matrices, row by row, and continues after a crash where it was: {@link
 * PlainProduct} as a chain of turns, one for each row. A long computation has to be one, as state
 * is saved between turns.
 */
public final class Product implements Service {

    private final String name;
    private final int size;
    private final Matrix left;
    private final Matrix right;
    private final MapState<Integer, Row> rows;
    private final ValueState<Caller> caller;

    /** One of the product. */
    public record Row(List<Double> numbers) {}

    /** Multiply. Answered by {@link Sum}, or {@link Busy}. */
    public record Multiply() {}

    /** It multiplies already, for somebody else. */
    public record Busy() {}

    /** All numbers of the product, added up. */
    public record Sum(double sum) {}

    /** From this service to itself: the next row. */
    public record GoOn() {}

    /** A query, answered by {@link Progress}. */
    public record Ask() {}

    /** How many rows there are. */
    public record Progress(int rows) {}

    /**
     * Of two matrices, which each start makes again.
     *
     * @param name of this service
     * @param size of both
     * @param seed of the first one; the second one's is one more
     */
    public Product(State state, String name, int size, long seed) {
        this.name = name;
        this.size = size;
        left = new Matrix(size, seed);
        right = new Matrix(size, seed + 1);
        rows = state.map("rows", Integer.class, Row.class);
        caller = state.value("caller", Caller.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Multiply.class,
                (multiply, turn) -> {
                    if (caller.value() != null) {
                        turn.reply(new Busy());
                    } else if (rows.size() == size) {
                        turn.reply(new Sum(sum()));
                    } else {
                        caller.update(turn.detach());
                        turn.send(name, new GoOn());
                    }
                });
        on.message(GoOn.class, (next, turn) -> goOn(turn));
        on.query(Ask.class, (ask, turn) -> new Progress(rows.size()));
    }

    private void goOn(Turn turn) {
        int row = rows.size();
        rows.put(row, new Row(left.rowOfProduct(row, right)));
        if (rows.size() < size) {
            turn.send(name, new GoOn());
        } else {
            turn.reply(caller.value(), new Sum(sum()));
            caller.clear();
        }
    }

    private double sum() {
        double sum = 0;
        for (int row = 0; row < rows.size(); row++) {
            for (double number : rows.get(row).numbers()) {
                sum += number;
            }
        }
        return sum;
    }
}
