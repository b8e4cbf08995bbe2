package io.saucr.history;

import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.util.Objects;

/**
 * A call on a register with its place in real time.
 *
 * @param called index of its invocation
 * @param returned index of its answer; {@link #NEVER} if it may take effect at any later time, or
 *     not at all
 */
public record RegisterOperation(int process, int called, int returned, RegisterCall call)
        implements Comparable<RegisterOperation> {
    /** Later than every index. */
    public static final int NEVER = Integer.MAX_VALUE;

    /** By invocation. */
    @Override
    public int compareTo(RegisterOperation other) {
        return Integer.compare(called, other.called);
    }

    /** Whether it is no read. */
    boolean isChange() {
        return !(call instanceof Read);
    }

    /** Whether it left this value, if it took effect. */
    boolean wrote(Object value) {
        return isChange() && Objects.equals(call.after(null), value);
    }

    /** What it read or expected; null if it is a write. */
    Object saw() {
        return call instanceof Read read
                ? read.value()
                : call instanceof CompareAndSet cas ? cas.expected() : null;
    }

    /** Such as "events 4 to 5". */
    String events() {
        return returned == NEVER ? "event " + called : "events " + called + " to " + returned;
    }

    /** Such as "the write of 3 by process 1 (events 4 to 5)". */
    @Override
    public String toString() {
        String what;
        if (call instanceof Read read) {
            what = "the read of " + Edn.print(read.value());
        } else if (call instanceof Write write) {
            what = "the write of " + Edn.print(write.value());
        } else {
            CompareAndSet cas = (CompareAndSet) call;
            what =
                    "the compare-and-set from %s to %s"
                            .formatted(Edn.print(cas.expected()), Edn.print(cas.value()));
        }
        return what + " by process " + process + " (" + events() + ")";
    }
}
