package org.apache.zookeeper.server.persistence;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Runs file operations that an interrupt would break off, as if it had come afterwards. Only for
 * what opens its files itself and writes them whole: then doing it again leaves nothing of the
 * first time, not even an error of the disk that the interrupt hid.
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
