package io.saucr.services.replay;

/** Ends a handler whose member's life is over; nothing that it did since counts (X18). */
final class LifeOverError extends Error {

    private static final long serialVersionUID = 1;

    LifeOverError(String reason) {
        super(reason);
    }
}
