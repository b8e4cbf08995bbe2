package io.saucr.services.examples.transfer;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import java.util.List;

/**
 * Coordinates transfers: asks each branch whether it can do its part, and decides once all have
 * voted. Branches hear of the decision at once; the client, once it is final.
 */
public final class Transfers implements Service {

    private final MapState<String, Open> open;
    private final MapState<String, Caller> callers;

    /** A part of a transfer: an account of a branch gets cents, or gives them where negative. */
    public record Part(String branch, String account, long cents) {}

    /**
     * Moves money; answered with its {@link Outcome}.
     *
     * @param transfer a name that no other has
     * @param parts whose cents add up to 0
     */
    public record Move(String transfer, List<Part> parts) {
        /**
         * A transfer.
         *
         * @throws IllegalArgumentException where money would appear or vanish
         */
        public Move {
            long sum = parts.stream().mapToLong(Part::cents).sum();
            if (parts.isEmpty() || sum != 0) {
                throw new IllegalArgumentException(
                        "a transfer has parts whose cents add up to 0, not to " + sum);
            }
        }
    }

    /** Whether all parts were done, or none. */
    public record Outcome(String transfer, boolean committed) {}

    /** A query: how many transfers are under way; answered with {@link Count}. */
    public record Ask() {}

    /** How many transfers are under way. */
    public record Count(int open) {}

    /**
     * A transfer that is under way.
     *
     * @param votes that are there
     * @param refused whether one of them is no
     * @param done so many branches have heard of the decision
     */
    public record Open(Move move, int votes, boolean refused, int done) {}

    /** A coordinator. */
    public Transfers(State state) {
        open = state.map("open", String.class, Open.class);
        callers = state.map("callers", String.class, Caller.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Move.class,
                (move, turn) -> {
                    open.put(move.transfer(), new Open(move, 0, false, 0));
                    callers.put(move.transfer(), turn.detach());
                    for (Part each : move.parts()) {
                        turn.send(each.branch(), prepare(move, each));
                    }
                });
        on.message(
                Branch.Vote.class,
                (vote, turn) -> {
                    Open it = open.get(vote.transfer());
                    Open now = new Open(it.move(), it.votes() + 1, it.refused() || !vote.yes(), 0);
                    open.put(vote.transfer(), now);
                    if (now.votes() == it.move().parts().size()) {
                        for (Part each : it.move().parts()) {
                            Branch.Prepare of = prepare(it.move(), each);
                            turn.send(each.branch(), new Branch.Decide(of, !now.refused()));
                        }
                        turn.reply(
                                callers.remove(vote.transfer()),
                                new Outcome(vote.transfer(), !now.refused()));
                    }
                });
        on.message(
                Branch.Done.class,
                (done, turn) -> {
                    Open it = open.get(done.transfer());
                    if (it.done() + 1 == it.move().parts().size()) {
                        open.remove(done.transfer());
                    } else {
                        open.put(
                                done.transfer(),
                                new Open(it.move(), it.votes(), it.refused(), it.done() + 1));
                    }
                });
        on.query(Ask.class, (ask, turn) -> new Count(open.size()));
    }

    private static Branch.Prepare prepare(Move move, Part part) {
        return new Branch.Prepare(move.transfer(), part.account(), part.cents());
    }
}
