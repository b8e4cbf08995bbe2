package io.saucr.services.examples.auction;

import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;

/** Keeps accounts and moves prices between them. */
public final class Bank implements Service {

    private final MapState<String, Long> accounts;
    private final MapState<String, Integer> payments;

    /** Somebody brings money; what is there already stays. */
    public record Deposit(String owner, long cents) {}

    /** To the one that brought it. */
    public record Deposited(String owner) {}

    /** Move the price of an item. */
    public record Pay(String item, String buyer, String seller, long cents) {}

    /** It was moved. */
    public record Paid(String item) {}

    /** The buyer has not enough. */
    public record Declined(String item) {}

    /** What there is. */
    public record Ask() {}

    /**
     * What there is.
     *
     * @param cents of all accounts together
     * @param paid items that were paid
     * @param twice items that were paid more than once
     * @param below accounts with less than nothing
     */
    public record Books(long cents, int paid, int twice, int below) {}

    /** A bank without accounts. */
    public Bank(State state) {
        accounts = state.map("accounts", String.class, Long.class);
        payments = state.map("payments", String.class, Integer.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Deposit.class,
                (deposit, turn) -> {
                    accounts.merge(deposit.owner(), deposit.cents(), Long::sum);
                    turn.reply(new Deposited(deposit.owner()));
                });
        on.message(
                Pay.class,
                (pay, turn) -> {
                    long have = accounts.getOrDefault(pay.buyer(), 0L);
                    if (have < pay.cents()) {
                        turn.reply(new Declined(pay.item()));
                        return;
                    }
                    accounts.put(pay.buyer(), have - pay.cents());
                    accounts.merge(pay.seller(), pay.cents(), Long::sum);
                    payments.merge(pay.item(), 1, Integer::sum);
                    turn.reply(new Paid(pay.item()));
                });
        on.query(Ask.class, (ask, turn) -> books());
    }

    private Books books() {
        long cents = 0;
        int below = 0;
        for (long account : accounts.values()) {
            cents += account;
            below += account < 0 ? 1 : 0;
        }
        int twice = 0;
        for (int times : payments.values()) {
            twice += times > 1 ? 1 : 0;
        }
        return new Books(cents, payments.size(), twice, below);
    }
}
