package io.saucr.services.core.replay;

/**
 * What a handler is about to do that others can see. Immutable.
 *
 * @param resource that it uses; null for {@link Kind#CHOOSE} and {@link Kind#END}
 */
public record LaneEvent(Kind kind, Resource resource) {

    /** What an event does. */
    public enum Kind {
        ACQUIRE(1),
        ACQUIRE_SHARED(2),
        RELEASE(3),
        RELEASE_SHARED(4),
        /** Releases, and waits for a condition: the next event acquires again. */
        AWAIT(5),
        /** Acquires and releases: a call of a collection's stripe. */
        CALL(6),
        /** Acquires if the choice is 1; if it is 0, touches nothing. */
        TRY(7),
        TRY_SHARED(8),
        /** Acquires after a wait with a time-out: 1 if it was woken, 0 if the time was over. */
        WAKE(9),
        /** A question about turns before, such as whether a message is acknowledged. */
        CHOOSE(10),
        /** The handler returned or threw. */
        END(11);

        /** What stands for it in a hash. */
        private final int code;

        Kind(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    public LaneEvent {
        boolean none = kind == Kind.CHOOSE || kind == Kind.END;
        if (none != (resource == null)) {
            throw new IllegalArgumentException(kind + " of " + resource);
        }
    }

    boolean chooses() {
        return switch (kind) {
            case TRY, TRY_SHARED, WAKE, CHOOSE -> true;
            default -> false;
        };
    }

    boolean acquires(int choice) {
        return switch (kind) {
            case ACQUIRE, ACQUIRE_SHARED, CALL, WAKE -> true;
            case TRY, TRY_SHARED -> choice == 1;
            default -> false;
        };
    }

    boolean releases() {
        return switch (kind) {
            case RELEASE, RELEASE_SHARED, AWAIT, CALL -> true;
            default -> false;
        };
    }

    boolean shares() {
        return switch (kind) {
            case ACQUIRE_SHARED, RELEASE_SHARED, TRY_SHARED -> true;
            default -> false;
        };
    }

    /** Choices that the event can have. */
    boolean allows(int choice) {
        if (!chooses()) {
            return choice == 0;
        }
        return choice >= 0 && (kind == Kind.CHOOSE || choice <= 1);
    }

    @Override
    public String toString() {
        return resource == null ? kind.toString() : kind + " of resource " + resource.number();
    }
}
