package io.saucr.services.tests.crash;

import java.util.Map;

/**
 * What the payer, the payee and their clients send each other. A client moves money in numbered
 * moves, of which everything follows: amounts, balances, timers, calls to the world and writes to
 * the ensemble. So each of them can be judged by its number alone.
 */
final class Ledger {

    static final String PAYER = "payer";
    static final String PAYEE = "payee";
    static final String TELLER = "teller";

    /** The znode that the payer writes to. */
    static final String WRITTEN = "/written";

    private Ledger() {}

    /** From the client to the payer. */
    record Move(long number) {}

    /** What is left then. */
    record Moved(long number, long balance) {}

    /** A client that begins asks how far it was; a message, so that it comes behind the others. */
    record Where() {}

    /** So far. */
    record At(long number) {}

    /** From a client without a birth: consumed at most once. */
    record Once(long session, long number) {}

    /** It was consumed. */
    record Taken(long number) {}

    /** From the payer to the payee. */
    record Credit(long number, long cents) {}

    /** And back. */
    record Credited(long number) {}

    /** A timer of the payer. */
    record Tick(long number) {}

    /** A call of the payer to the world. */
    record Call(long number) {}

    /** A query. */
    record Ask() {}

    /** What a service counted. */
    record Books(Map<String, Long> counts) {}

    static long cents(long number) {
        return 1 + number % 97;
    }

    /** Of all moves up to this one. */
    static long centsUpTo(long number) {
        long rest = number % 97;
        return number + number / 97 * (96 * 97 / 2) + rest * (rest + 1) / 2;
    }

    static boolean hasTick(long number) {
        return number % 5 == 0;
    }

    static boolean hasCall(long number) {
        return number % 7 == 0;
    }

    static boolean hasWrite(long number) {
        return number % 10 == 0;
    }
}
