package io.saucr.services.spring;

import io.saucr.services.Asks;
import io.saucr.services.Handlers;
import io.saucr.services.Keyed;
import io.saucr.services.MapState;
import io.saucr.services.Query;
import io.saucr.services.Service;
import io.saucr.services.State;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A Boot application with a service and a bean that the service needs. */
@SpringBootApplication
class BankApplication {

    record Deposit(String owner, long cents) implements Keyed, Asks<Cents> {
        @Override
        public String key() {
            return owner;
        }
    }

    record Balance(String owner) implements Keyed, Query<Cents> {
        @Override
        public String key() {
            return owner;
        }
    }

    record Cents(long cents) {}

    /** Says how much is taken. */
    interface Fees {
        long of(long cents);
    }

    @Bean
    Fees fees() {
        return cents -> cents / 10;
    }

    @Bean
    Service bank(State state, Fees fees) {
        return new Bank(state, fees);
    }

    /** Its collections and a collaborator. */
    static final class Bank implements Service {

        private final MapState<String, Long> accounts;
        private final Fees fees;

        Bank(State state, Fees fees) {
            accounts = state.map("accounts", String.class, Long.class);
            this.fees = fees;
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Deposit.class,
                    (it, turn) -> {
                        long cents = it.cents() - fees.of(it.cents());
                        turn.reply(new Cents(accounts.merge(it.owner(), cents, Long::sum)));
                    });
            on.query(Balance.class, (it, turn) -> new Cents(accounts.getOrDefault(it.owner(), 0L)));
        }
    }
}
