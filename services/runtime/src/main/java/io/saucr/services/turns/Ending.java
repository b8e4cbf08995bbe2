package io.saucr.services.turns;

/** Why a {@link Life} is over. The next one begins from disk, or from {@link Memory}. */
public sealed interface Ending {

    /** For people. */
    String reason();

    /** What was thrown; null where nothing was. */
    default Throwable cause() {
        return null;
    }

    /** Nothing may leave any longer (K8): turns become final no more, or the engine failed. */
    record Failed(String reason, Throwable cause) implements Ending {}

    /** Another start is primary, or may be. */
    record Deposed(String reason) implements Ending {}

    /**
     * Turns above this one are undone (K21). The guard has all up to it made final before the next
     * life begins, which {@link Guard#recover} gives what was behind it.
     */
    record Undone(long upTo, String reason) implements Ending {}

    /** The disk failed, so that turns become final no more. */
    static Ending failed(Throwable cause) {
        return new Failed(
                "turns can no longer be made final; fix the disk, then start again", cause);
    }
}
