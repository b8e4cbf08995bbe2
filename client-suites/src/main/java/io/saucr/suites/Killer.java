package io.saucr.suites;

import java.io.IOException;
import java.util.Random;

/** Kills a server now and then, in a thread of its own, until it is closed. */
final class Killer implements AutoCloseable {
    private static final int LEAST_PAUSE_MS = 4000;
    private static final int MORE_PAUSE_MS = 4000;

    /** Kills one server, and returns when it may be the next one's turn. */
    interface Victims {
        void killOne(Random random) throws IOException, InterruptedException;
    }

    private final Thread thread;

    Killer(Victims victims) {
        Random random = new Random(58);
        thread =
                new Thread(
                        () -> {
                            try {
                                while (true) {
                                    Thread.sleep(LEAST_PAUSE_MS + random.nextInt(MORE_PAUSE_MS));
                                    victims.killOne(random);
                                }
                            } catch (InterruptedException e) {
                                return; // closed
                            } catch (IOException e) {
                                throw new java.io.UncheckedIOException(e);
                            }
                        },
                        "killer");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
