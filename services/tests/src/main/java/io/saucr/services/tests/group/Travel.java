package io.saucr.services.tests.group;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Books, charges for it, and passes the booking on to the next service; the answer comes back once
 * all have booked. What it tells is of turns that may still be undone, apart from charges.
 */
public final class Travel implements Service {

    private final ListState<Integer> booked;
    private final MapState<Integer, Caller> callers;
    private final Consumer<String> says;

    /** Book that here, then at the next ones in this order. */
    public record Book(int id, List<String> next) {}

    /** It is booked everywhere. */
    public record Booked(int id) {}

    /** Charge for it. */
    public record Charge(int id) {}

    /** What is booked? */
    public record Asked() {}

    /** That is, in this order. */
    public record Bookings(List<Integer> ids) {}

    /**
     * A service of a state.
     *
     * @param says hears {@code handled <id>} of each turn that books, and {@code charged <id>
     *     <call>} of each call
     */
    Travel(State state, Consumer<String> says) {
        booked = state.list("booked", Integer.class);
        callers = state.map("callers", Integer.class, Caller.class);
        this.says = says;
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Book.class,
                (book, turn) -> {
                    booked.add(book.id());
                    turn.output(new Charge(book.id()));
                    if (book.next().isEmpty()) {
                        turn.reply(new Booked(book.id()));
                    } else {
                        callers.put(book.id(), turn.detach());
                        List<String> rest = book.next().subList(1, book.next().size());
                        turn.send(book.next().get(0), new Book(book.id(), rest));
                    }
                    says.accept("handled " + book.id());
                });
        on.message(Booked.class, (it, turn) -> turn.reply(callers.remove(it.id()), it));
        on.output(
                Charge.class,
                (charge, id) -> {
                    says.accept("charged " + charge.id() + " " + id);
                    return null;
                });
        on.query(
                Asked.class,
                (asked, turn) -> {
                    List<Integer> all = new ArrayList<>();
                    booked.forEach(all::add);
                    return new Bookings(all);
                });
    }
}
