package io.saucr.model.checker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A 128-bit hash of a state's bytes. Owned by one thread. */
final class Fingerprint {
    private static final VarHandle WORDS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONE = 0x9E3779B97F4A7C15L;
    private static final long OTHER = 0xD6E8FEB86659FD93L;

    long high;
    long low;

    /** Takes the first {@code length} bytes. */
    void of(byte[] bytes, int length) {
        long a = length * ONE;
        long b = length * OTHER + 1;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            long word = (long) WORDS.get(bytes, i);
            a = mix(a ^ word, ONE);
            b = mix(b + word, OTHER);
        }
        long rest = 0;
        for (; i < length; i++) {
            rest = (rest << 8) | (bytes[i] & 0xff);
        }
        high = mix(mix(a ^ rest, ONE), OTHER);
        low = mix(mix(b + rest, OTHER), ONE);
    }

    private static long mix(long value, long factor) {
        long z = value * factor;
        return z ^ (z >>> 29);
    }
}
