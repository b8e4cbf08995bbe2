package io.saucr.services.once;

/**
 * Knows whether this thread is within a turn, so that calls which would wait there, or act before
 * the turn is final, are refused. Any thread; each sees only itself.
 */
public final class TurnGuard {

    private static final ThreadLocal<String> SERVICE = new ThreadLocal<>();

    private TurnGuard() {}

    public static void enter(String service) {
        SERVICE.set(service);
    }

    public static void leave() {
        SERVICE.remove();
    }

    /**
     * Refuses a call within a turn.
     *
     * @param call what was called
     * @param instead what to do instead
     * @throws IllegalStateException where this thread is within a turn
     */
    public static void refuse(String call, String instead) {
        String service = SERVICE.get();
        if (service != null) {
            throw new IllegalStateException(
                    call + " was called in a turn of " + service + ": " + instead);
        }
    }
}
