package io.saucr.history;

import java.util.Objects;

/**
 * What a client asks of one register. Keys and values are values of EDN; those of this program's
 * own histories are natural numbers ({@code Long}). A register that was never written holds null,
 * which is EDN's {@code nil}.
 */
public sealed interface RegisterCall {
    /**
     * As EDN {@code :absent}: the system does not know the register although it was created. No
     * linearizable history holds a read of it.
     */
    Object ABSENT = new Edn.Keyword("absent");

    /** The key in histories of one register, whose values name none. */
    Object THE_ONLY_KEY = new Edn.Keyword("the-only-register");

    /** Which register. */
    Object key();

    /** Whether the call can take effect on a register that holds this value. */
    boolean fits(Object held);

    /** What a register holds after the call that held this before. */
    Object after(Object held);

    /**
     * @param value what was read; null if that is not known, so that any value fits
     */
    record Read(Object key, Object value) implements RegisterCall {
        @Override
        public boolean fits(Object held) {
            return value == null || value.equals(held);
        }

        @Override
        public Object after(Object held) {
            return held;
        }
    }

    /**
     * @param value what is written
     */
    record Write(Object key, Object value) implements RegisterCall {
        @Override
        public boolean fits(Object held) {
            return true;
        }

        @Override
        public Object after(Object held) {
            return value;
        }
    }

    /**
     * @param expected the value that the register must have
     * @param value what is written then
     */
    record CompareAndSet(Object key, Object expected, Object value) implements RegisterCall {
        @Override
        public boolean fits(Object held) {
            return Objects.equals(expected, held);
        }

        @Override
        public Object after(Object held) {
            return value;
        }
    }
}
