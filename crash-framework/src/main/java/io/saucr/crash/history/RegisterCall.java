package io.saucr.crash.history;

import java.util.OptionalLong;

/**
 * What a client asks of one register. Values are natural numbers; {@link #NIL} stands for the value
 * before the first write, {@link #ABSENT} for a register that the system does not know although it
 * was created.
 */
public sealed interface RegisterCall {
    /** As EDN: {@code nil}. */
    long NIL = -1;

    /** As EDN: {@code :absent}. No linearizable history holds a read of it. */
    long ABSENT = -2;

    /** Which register. */
    int key();

    /** The value that the register must have for the call to take effect; empty if any will do. */
    OptionalLong required();

    /** The value that it leaves; empty if it changes nothing. */
    OptionalLong written();

    /**
     * @param value what was read; NIL as long as it is not known
     */
    record Read(int key, long value) implements RegisterCall {
        @Override
        public OptionalLong required() {
            return OptionalLong.of(value);
        }

        @Override
        public OptionalLong written() {
            return OptionalLong.empty();
        }
    }

    /**
     * @param value what is written
     */
    record Write(int key, long value) implements RegisterCall {
        @Override
        public OptionalLong required() {
            return OptionalLong.empty();
        }

        @Override
        public OptionalLong written() {
            return OptionalLong.of(value);
        }
    }

    /**
     * @param expected the value that the register must have
     * @param value what is written then
     */
    record CompareAndSet(int key, long expected, long value) implements RegisterCall {
        @Override
        public OptionalLong required() {
            return OptionalLong.of(expected);
        }

        @Override
        public OptionalLong written() {
            return OptionalLong.of(value);
        }
    }
}
