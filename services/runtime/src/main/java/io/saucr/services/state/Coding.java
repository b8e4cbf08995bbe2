package io.saucr.services.state;

import java.nio.ByteBuffer;

/** How keys or values of a collection become bytes and are told apart. Immutable, any thread. */
interface Coding {

    /** Numbers of a list's values: eight bytes, which changes can be joined by. */
    Coding NUMBER =
            new Coding() {

                @Override
                public Object freeze(Object value) {
                    return value;
                }

                @Override
                public byte[] encode(Object value) {
                    return ByteBuffer.allocate(Long.BYTES).putLong((Long) value).array();
                }

                @Override
                public Object decode(byte[] bytes) {
                    if (bytes.length != Long.BYTES) {
                        throw new IllegalArgumentException(
                                "a value's number has " + Long.BYTES + " bytes");
                    }
                    return ByteBuffer.wrap(bytes).getLong();
                }

                @Override
                public int hash(Object value) {
                    // As it is, so that neighbours lie together.
                    return ((Long) value).intValue();
                }

                @Override
                public boolean same(Object one, Object other) {
                    return one.equals(other);
                }
            };

    /** Bytes of a collection that nobody declares: kept as they are. */
    Coding RAW =
            new Coding() {

                @Override
                public Object freeze(Object value) {
                    return value;
                }

                @Override
                public byte[] encode(Object value) {
                    return ((ByteBuffer) value).array();
                }

                @Override
                public Object decode(byte[] bytes) {
                    return ByteBuffer.wrap(bytes);
                }

                @Override
                public int hash(Object value) {
                    return value.hashCode();
                }

                @Override
                public boolean same(Object one, Object other) {
                    return one.equals(other);
                }
            };

    /** Values of a type. */
    record Typed(ValueType type, long seed) implements Coding {

        @Override
        public Object freeze(Object value) {
            if (value == null) {
                throw new IllegalArgumentException("null where " + type.described() + " is needed");
            }
            return type.freeze(value, 0);
        }

        @Override
        public byte[] encode(Object value) {
            return Codec.encode(type, value);
        }

        @Override
        public Object decode(byte[] bytes) {
            return Codec.decode(type, bytes);
        }

        @Override
        public int hash(Object value) {
            if (value == null) {
                throw new IllegalArgumentException("null where " + type.described() + " is needed");
            }
            long hash = ValueType.mix(type.hash(value, seed), seed);
            return (int) (hash ^ (hash >>> Integer.SIZE));
        }

        @Override
        public boolean same(Object one, Object other) {
            return type.same(one, other);
        }
    }

    /** A copy that nobody can change in place. */
    Object freeze(Object value);

    /**
     * The bytes of a frozen value.
     *
     * @throws IllegalArgumentException where it does not fit
     */
    byte[] encode(Object value);

    /**
     * A value from its bytes.
     *
     * @throws IllegalArgumentException where they do not fit
     */
    Object decode(byte[] bytes);

    /** A hash by which values of the same bytes are found. */
    int hash(Object value);

    /** Whether two values have the same bytes. */
    boolean same(Object one, Object other);
}
