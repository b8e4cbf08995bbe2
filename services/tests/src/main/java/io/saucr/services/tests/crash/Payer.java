package io.saucr.services.tests.crash;

import io.saucr.services.EnsembleOutcome;
import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.State;
import java.time.Duration;

/**
 * Takes moves and passes each on to the payee. It counts whatever comes twice, too late or out of
 * order, as its state outlives all crashes.
 */
final class Payer implements Service {

    private final Points points;
    private final Counts counts;

    Payer(State state, Points points) {
        this.points = points;
        counts = new Counts(state);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Ledger.Move.class,
                (move, turn) -> {
                    points.pass("handler");
                    long number = move.number();
                    counts.next("moved", number);
                    counts.add("cents", -Ledger.cents(number));
                    turn.send(Ledger.PAYEE, new Ledger.Credit(number, Ledger.cents(number)));
                    if (Ledger.hasTick(number)) {
                        turn.after(Duration.ofMillis(1), new Ledger.Tick(number));
                    }
                    if (Ledger.hasCall(number)) {
                        turn.output(new Ledger.Call(number));
                    }
                    if (Ledger.hasWrite(number)) {
                        turn.ensemble().setData(Ledger.WRITTEN, Long.toString(number));
                    }
                    turn.reply(new Ledger.Moved(number, counts.get("cents")));
                });
        on.message(
                Ledger.Where.class,
                (where, turn) -> turn.reply(new Ledger.At(counts.get("moved"))));
        on.message(
                Ledger.Once.class,
                (once, turn) -> {
                    String session = "once" + once.session();
                    if (once.number() <= counts.get(session)) {
                        counts.add("disorder", 1);
                    }
                    counts.set(session, once.number());
                    counts.add("once", 1);
                    turn.reply(new Ledger.Taken(once.number()));
                });
        on.message(
                Ledger.Credited.class,
                (credited, turn) -> counts.next("credited", credited.number()));
        on.message(
                Ledger.Tick.class,
                (tick, turn) -> {
                    counts.add("ticks", 1);
                    counts.add("tickSum", tick.number());
                });
        on.output(
                Ledger.Call.class,
                (call, id) -> {
                    Lines.say("world " + call.number() + " " + id);
                    return null;
                });
        on.message(
                EnsembleOutcome.class,
                (outcome, turn) -> counts.add(outcome.happened() ? "written" : "unwritten", 1));
        on.query(Ledger.Ask.class, (ask, turn) -> counts.books());
    }
}
