package io.saucr.services.tests.crash;

import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.State;

/** Takes the payer's credits, and counts what is not the next one. */
final class Payee implements Service {

    private final Points points;
    private final Counts counts;

    Payee(State state, Points points) {
        this.points = points;
        counts = new Counts(state);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Ledger.Credit.class,
                (credit, turn) -> {
                    points.pass("handler");
                    counts.next("moved", credit.number());
                    counts.add("cents", credit.cents());
                    turn.reply(new Ledger.Credited(credit.number()));
                });
        on.query(Ledger.Ask.class, (ask, turn) -> counts.books());
    }
}
