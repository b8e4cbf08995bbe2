package io.saucr.services.examples.transfer;

import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;

/**
 * Keeps accounts and takes part in transfers: what is taken from an account is held from the vote
 * to the decision, so an account never falls below zero. Amounts are in cents.
 */
public final class Branch implements Service {

    private final MapState<String, Long> accounts;
    private final MapState<String, Prepare> prepared;

    /** Opens an account; answered with {@link Opened}. One that exists stays as it is. */
    public record Open(String account, long cents) {}

    /** The account is there. */
    public record Opened(String account) {}

    /**
     * The first phase; answered with a {@link Vote}.
     *
     * @param transfer its name
     * @param account of this branch
     * @param cents that it gets, or gives where they are negative
     */
    public record Prepare(String transfer, String account, long cents) {
        private String key() {
            return transfer + " " + account;
        }
    }

    /** Whether this branch can do its part, which it then will if it has to. */
    public record Vote(String transfer, boolean yes) {}

    /** The second phase, which the branch does if it has voted yes; answered with {@link Done}. */
    public record Decide(Prepare of, boolean commits) {}

    /** The branch has nothing of this transfer left to do. */
    public record Done(String transfer) {}

    /** A query for all that the branch has; answered with {@link Books}. */
    public record Ask() {}

    /**
     * What a branch has.
     *
     * @param cents of all accounts
     * @param prepared so many transfers wait for a decision
     */
    public record Books(long cents, int prepared) {}

    /** A branch. */
    public Branch(State state) {
        accounts = state.map("accounts", String.class, Long.class);
        prepared = state.map("prepared", String.class, Prepare.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Open.class,
                (open, turn) -> {
                    if (!accounts.contains(open.account())) {
                        accounts.put(open.account(), open.cents());
                    }
                    turn.reply(new Opened(open.account()));
                });
        on.message(
                Prepare.class,
                (it, turn) -> {
                    boolean yes =
                            accounts.contains(it.account())
                                    && accounts.get(it.account()) + it.cents() >= 0;
                    if (yes) {
                        prepared.put(it.key(), it);
                        if (it.cents() < 0) {
                            add(it.account(), it.cents());
                        }
                    }
                    turn.reply(new Vote(it.transfer(), yes));
                });
        on.message(
                Decide.class,
                (it, turn) -> {
                    Prepare of = it.of();
                    if (prepared.contains(of.key())) {
                        prepared.remove(of.key());
                        if (it.commits() && of.cents() > 0) {
                            add(of.account(), of.cents());
                        } else if (!it.commits() && of.cents() < 0) {
                            add(of.account(), -of.cents());
                        }
                    }
                    turn.reply(new Done(of.transfer()));
                });
        on.query(
                Ask.class,
                (ask, turn) -> {
                    long cents = 0;
                    for (long each : accounts.values()) {
                        cents += each;
                    }
                    return new Books(cents, prepared.size());
                });
    }

    private void add(String account, long cents) {
        accounts.put(account, accounts.get(account) + cents);
    }
}
