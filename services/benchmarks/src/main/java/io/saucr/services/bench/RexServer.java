package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.MemberStatus;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.bench.ParallelServer.Compute;
import io.saucr.services.bench.ParallelServer.Computed;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneMap;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import java.nio.file.Path;

/**
 * A process of one member of a service whose handlers compute for a while: with standbys that take
 * changes, or that replay. For each line that it is sent it says {@code is} and its role, and
 * whether it is ready; it ends when that stream does.
 */
final class RexServer {

    /** What {@link ParallelServer.Computing} does, in lanes that see each other's work. */
    private static final class InLanes implements LaneService {

        private final LaneMap<Integer, Long> values;

        InLanes(LaneState state) {
            values = state.map("values", Integer.class, Long.class);
        }

        @Override
        public void handlers(LaneHandlers on) {
            on.message(
                    Compute.class,
                    (compute, turn) -> {
                        long sum = ParallelServer.computed(compute.micros(), compute.key());
                        return new Computed(values.merge(compute.key(), sum, Long::sum));
                    });
        }
    }

    private RexServer() {}

    /**
     * Serves.
     *
     * @param arguments {@code standby} or {@code replay}; how many lanes, 0 for none; the path of
     *     the service; a folder
     */
    public static void main(String[] arguments) throws Exception {
        int lanes = Integer.parseInt(arguments[1]);
        Services at =
                Services.at(arguments[2])
                        .folder(Path.of(arguments[3]))
                        .listen(new Address("127.0.0.1", 0))
                        .onHalt(Halt.process());
        RunningService running;
        if (arguments[0].equals("replay")) {
            running = at.run(InLanes::new, Protection.replay(lanes, "1"));
        } else {
            Protection.Standby protection = Protection.standby();
            running =
                    at.run(
                            ParallelServer.Computing::new,
                            lanes == 0 ? protection : protection.parallel(lanes));
        }
        TalkingProcess.answer(
                () -> {
                    MemberStatus member = running.status().member();
                    return "is " + member.role() + " " + member.ready();
                });
    }
}
