package io.saucr.services.examples;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Function;

/** What an example is to survive, as a word of the command line. */
public enum Survives {
    /** {@link Protection#local}. */
    LOCAL {
        @Override
        RunningService run(Services at, Function<State, ? extends Service> constructor)
                throws IOException, InterruptedException {
            return at.onHalt(Halt.process()).run(constructor, Protection.local());
        }
    },
    /** {@link Protection#standby}: the same line on each machine. */
    STANDBY {
        @Override
        RunningService run(Services at, Function<State, ? extends Service> constructor)
                throws IOException, InterruptedException {
            return at.onHalt(Halt.process()).run(constructor, Protection.standby());
        }
    };

    abstract RunningService run(Services at, Function<State, ? extends Service> constructor)
            throws IOException, InterruptedException;

    /**
     * Serves on loopback until the process is killed.
     *
     * @param word local or standby
     * @param place servers and path of the service
     * @throws IllegalArgumentException where the word is another
     */
    public static void serve(
            String word, String place, Path folder, Function<State, ? extends Service> constructor)
            throws IOException, InterruptedException {
        for (Survives each : values()) {
            if (each.name().toLowerCase(Locale.ROOT).equals(word)) {
                each.run(
                                Services.at(place)
                                        .folder(folder)
                                        .listen(new Address("127.0.0.1", 0))
                                        .segmentBytes(1 << 20)
                                        .foldBytes(1 << 20),
                                constructor)
                        .join();
                return;
            }
        }
        throw new IllegalArgumentException("a service survives local or standby, not " + word);
    }
}
