package io.saucr.crash.history;

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

    @Override
    public String toString() {
        return "process "
                + process
                + ", events "
                + called
                + " to "
                + (returned == NEVER ? "?" : Integer.toString(returned))
                + ": "
                + call;
    }
}
