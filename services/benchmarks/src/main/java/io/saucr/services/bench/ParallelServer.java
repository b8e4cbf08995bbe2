package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Asks;
import io.saucr.services.Halt;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Measures;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process of a service whose handlers compute for a while, with lanes or without. It says {@code
 * at} and its address once it runs, and {@code again} and how often handlers ran again for each
 * line that it is sent; it ends when that stream does.
 */
final class ParallelServer {

    static final String NAME = "parallel";

    /** Rounds of arithmetic that take about a microsecond. */
    private static final int ROUNDS_PER_MICRO = 400;

    /**
     * Changes the entry of a key by a number that takes a while to compute.
     *
     * @param micros roughly how long
     */
    record Compute(int key, int micros) implements Asks<Computed> {}

    /** What the entry is now. */
    record Computed(long value) {}

    static final class Computing implements Service {

        private final MapState<Integer, Long> values;

        Computing(State state) {
            values = state.map("values", Integer.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Compute.class,
                    (compute, turn) -> {
                        long sum = computed(compute.micros(), compute.key());
                        turn.reply(new Computed(values.merge(compute.key(), sum, Long::sum)));
                    });
        }
    }

    private ParallelServer() {}

    static long computed(int micros, long from) {
        long sum = from;
        for (long round = (long) micros * ROUNDS_PER_MICRO; round > 0; round--) {
            sum = sum * 6364136223846793005L + 1442695040888963407L;
        }
        return sum;
    }

    /**
     * Serves.
     *
     * @param arguments how many lanes, 0 for none, and a folder
     */
    public static void main(String[] arguments) throws Exception {
        int lanes = Integer.parseInt(arguments[0]);
        Protection.Local protection =
                lanes == 0 ? Protection.local() : Protection.local().parallel(lanes);
        RunningService running =
                Services.without(NAME, Map.of())
                        .folder(Path.of(arguments[1]))
                        .listen(new Address("127.0.0.1", 0))
                        .onHalt(Halt.process())
                        .run(Computing::new, protection);
        AtomicLong again = new AtomicLong();
        running.measure(
                new Measures() {
                    @Override
                    public void ran(long nanos) {}

                    @Override
                    public void failed() {}

                    @Override
                    public void again() {
                        again.incrementAndGet();
                    }

                    @Override
                    public void becameFinal(long nanos) {}

                    @Override
                    public void forced(long nanos) {}
                });
        System.out.println("at " + running.address());
        TalkingProcess.answer(() -> "again " + again.get());
    }
}
