package io.saucr.services.core.replay;

/** Ends a handler of a member that is not the primary any more (X18). */
public final class DeposedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    DeposedException() {
        super("this member is not the primary any more");
    }
}
