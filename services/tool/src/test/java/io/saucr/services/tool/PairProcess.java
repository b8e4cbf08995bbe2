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
import java.nio.file.Path;
import java.time.Duration;

/** A member of a service with standbys as a process of its own. */
final class PairProcess {

    private PairProcess() {}

    /** Counts. */
    static final class Counter implements Service {

        record Add() {}

        record Count(long now) {}

        private final ValueState<Long> count;

        Counter(State state) {
            count = state.value("count", Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Add.class,
                    (add, turn) -> {
                        count.update(count.orElse(0L) + 1);
                        turn.reply(new Count(count.orElse(0L)));
                    });
        }
    }

    /**
     * Says its member and its page; runs until it is killed.
     *
     * @param arguments servers and path of the service; folder; what members share, if anything
     */
    public static void main(String[] arguments) throws Exception {
        RunningService running =
                Services.at(arguments[0])
                        .folder(Path.of(arguments[1]))
                        .listen(new Address("127.0.0.1", 0))
                        .sessionTimeout(Duration.ofSeconds(4))
                        .segmentBytes(1 << 16)
                        .statusPage(0)
                        .onHalt(Halt.process())
                        .run(
                                Counter::new,
                                arguments.length < 3
                                        ? Protection.standby()
                                        : Protection.standby()
                                                .store(
                                                        Protection.Store.folder(
                                                                Path.of(arguments[2]))));
        System.out.println(
                running.status().member().member() + " " + running.statusPage().orElseThrow());
        running.join();
    }
}
