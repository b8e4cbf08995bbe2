package io.saucr.services.examples.counters;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;

/**
 * One of two services that send a number to and fro, each adding one in each turn, until it is as
 * large as a client wished (section 5.1 of the paper, "counter ping-pong"). A turn changes state
 * and sends a message, so it uses all that makes a turn final: with a message lost the number would
 * stop, with one doubled or a state forgotten it would come in another order, which is counted.
 */
public final class Counter implements Service {

    private final String partner;
    private final boolean first;
    private final ValueState<Long> number;
    private final ValueState<Long> added;
    private final ValueState<Long> wrong;
    private final ValueState<Wish> wish;

    /**
     * Go on counting. What was reached already is answered at once.
     *
     * @param upTo at least 1
     */
    public record Count(long upTo) {

        public Count {
            if (upTo < 1) {
                throw new IllegalArgumentException("one counts up to 1 or more, not " + upTo);
            }
        }
    }

    /** To the one that wished it: the number is as large as that. */
    public record Reached(long number) {}

    /**
     * To the one that wished it of a service that counts already, or that is the second of its
     * pair.
     */
    public record Refused(String why) {}

    /** From one to the other. */
    public record Pass(long number, long upTo) {}

    /** Who waits for which number. */
    public record Wish(Caller caller, long upTo) {}

    /** How far it is. */
    public record Ask() {}

    /**
     * How far it is.
     *
     * @param number the largest that this service knows
     * @param added how often this service added one
     * @param wrong how often a number was not the one that had to come next; 0 if all is well
     */
    public record Progress(long number, long added, long wrong) {}

    /**
     * One of a pair.
     *
     * @param partner the other's name
     * @param first whether it is this one that clients ask
     */
    public Counter(State state, String partner, boolean first) {
        this.partner = partner;
        this.first = first;
        number = state.value("number", Long.class);
        added = state.value("added", Long.class);
        wrong = state.value("wrong", Long.class);
        wish = state.value("wish", Wish.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(Count.class, this::count);
        on.message(Pass.class, this::take);
        on.query(
                Ask.class,
                (ask, turn) -> new Progress(number.orElse(0L), added.orElse(0L), wrong.orElse(0L)));
    }

    private void count(Count count, Turn turn) {
        if (!first) {
            turn.reply(new Refused("ask " + partner + ", which begins"));
        } else if (wish.value() != null) {
            turn.reply(new Refused("it counts already, up to " + wish.value().upTo()));
        } else if (number.orElse(0L) >= count.upTo()) {
            turn.reply(new Reached(number.value()));
        } else {
            wish.update(new Wish(turn.detach(), count.upTo()));
            add(count.upTo(), turn);
            answer(turn);
        }
    }

    private void take(Pass pass, Turn turn) {
        if (pass.number() != number.orElse(0L) + 1) {
            wrong.update(wrong.orElse(0L) + 1);
        }
        number.update(pass.number());
        if (pass.number() < pass.upTo()) {
            add(pass.upTo(), turn);
        }
        answer(turn);
    }

    /** Both hear of the last number, too, and can continue from there. */
    private void add(long upTo, Turn turn) {
        number.update(number.orElse(0L) + 1);
        added.update(added.orElse(0L) + 1);
        turn.send(partner, new Pass(number.value(), upTo));
    }

    private void answer(Turn turn) {
        Wish waits = wish.value();
        if (waits != null && number.value() >= waits.upTo()) {
            turn.reply(waits.caller(), new Reached(number.value()));
            wish.clear();
        }
    }
}
