package io.saucr.tool;

import java.io.Closeable;

/** Runs a task when the process exits, also at SIGTERM, unless this is closed before. */
final class AtExit implements Closeable {
    private final Thread thread;

    /**
     * @param name of the task's thread
     */
    AtExit(String name, Runnable task) {
        thread = new Thread(task, name);
        Runtime.getRuntime().addShutdownHook(thread);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException e) {
            // The process exits and runs it anyway.
        }
    }
}
