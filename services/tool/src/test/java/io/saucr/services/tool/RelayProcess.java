package io.saucr.services.tool;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Handlers;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.core.Limits;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * A service as a process: it hands parcels on to {@code shop}, fails at what is poison, and counts.
 * Says on its standard output where it answers and where its page is.
 */
public final class RelayProcess {

    private RelayProcess() {}

    /** Hands a parcel on, where it is not the shop itself. */
    static final class Relay implements Service {

        record Parcel(String content) {}

        private final String name;
        private final ValueState<Long> count;

        Relay(String name, State state) {
            this.name = name;
            count = state.value("count", Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Parcel.class,
                    (parcel, turn) -> {
                        if (parcel.content().startsWith("poison")) {
                            throw new IllegalArgumentException("it does not bear the light");
                        }
                        count.update(count.orElse(0L) + 1);
                        if (!name.equals("shop")) {
                            turn.send("shop", parcel);
                        }
                    });
            on.returned(Parcel.class, (parcel, turn) -> {});
        }
    }

    /**
     * Runs until it is killed.
     *
     * @param arguments name, folder, whether it parks what fails, then NAME=HOST:PORT of others
     */
    public static void main(String[] arguments) throws Exception {
        Map<String, Address> others = new HashMap<>();
        for (int index = 3; index < arguments.length; index++) {
            String[] parts = arguments[index].split("=", 2);
            others.put(parts[0], Address.parse(parts[1]));
        }
        boolean parks = Boolean.parseBoolean(arguments[2]);
        RunningService running =
                Services.without(arguments[0], others)
                        .folder(Path.of(arguments[1]))
                        .segmentBytes(1 << 16)
                        .limits(new Limits(256, 1, parks, 0, 0, 1_024, 3_600_000))
                        .statusPage(0)
                        .onHalt(Halt.process())
                        .run(state -> new Relay(arguments[0], state), Protection.local());
        System.out.println(running.address() + " " + running.statusPage().orElseThrow());
        running.join();
    }
}
