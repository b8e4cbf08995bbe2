package io.saucr.services;

/**
 * State and handlers. The state is declared in the constructor from a {@code State}, and kept in
 * fields that are final; a service with another field does not start, as what such a field holds
 * would neither survive a crash nor be undone with its turn. Handlers run one at a time, on one
 * thread (K1).
 */
public interface Service {

    /**
     * Says which handler takes which message; called once at each start, before the first turn.
     *
     * @param on takes the handlers; of no use after this returns
     */
    void handlers(Handlers on);
}
