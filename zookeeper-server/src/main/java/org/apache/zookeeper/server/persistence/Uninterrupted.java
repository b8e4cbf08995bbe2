package org.apache.zookeeper.server.persistence;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Runs file operations that an interrupt would break off, as if the interrupt had come afterwards:
 * it repeats them. Only for operations that open their files themselves and write them whole, so
 * that nothing of the first attempt remains, not even a disk error that the interrupt hid.
 */
public final class Uninterrupted {
    public interface Action {
        void run() throws IOException;
    }

    private Uninterrupted() {}

    public static void run(Action action) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    action.run();
                    return;
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
