package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Effects;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Limits;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** K8: what fails beside the turns halts the service, as an executor would keep it to itself. */
class RecordingTest {

    private static final Incarnation START = new Incarnation(new Birth(1, 2), 1, 3);
    private static final Moment NOW = new Moment(1_000_000, 0);

    /** Whether there is no memory any more. */
    private boolean exhausted;

    private final List<Runnable> events = new ArrayList<>();
    private final ServiceCore core =
            new ServiceCore("bank", List.of(START), Limits.standard().outbox(1, 1 << 10));
    private final OutboxFiles outbox =
            new OutboxFiles(
                    failing(Disk.class, new SimulatedDisk(1), "open"),
                    Path.of("/simulated/bank"),
                    START,
                    START::equals,
                    1 << 16);
    private final Recording recording =
            new Recording(
                    "bank",
                    core,
                    guard(),
                    () -> StateSnapshot.NONE,
                    1 << 20,
                    new Turns.Surroundings(
                            () -> NOW, new Random(1), RecordingTest::asExecutors, events::add));

    private static void asExecutors(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            assertThat(e).isNotNull();
        }
    }

    private <T> T failing(Class<T> type, T to, String method) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, called, arguments) -> {
                            if (exhausted && called.getName().equals(method)) {
                                throw new OutOfMemoryError("none left");
                            }
                            try {
                                return called.invoke(to, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        }));
    }

    private Guard guard() {
        return (Guard)
                Proxy.newProxyInstance(
                        Guard.class.getClassLoader(),
                        new Class<?>[] {Guard.class, Guard.Folding.class, Guard.Room.class},
                        (proxy, called, arguments) ->
                                switch (called.getName()) {
                                    case "folding", "room" -> proxy;
                                    case "outbox" -> outbox;
                                    case "bytesAboveBase" -> 0L;
                                    case "done", "due" -> null;
                                    case "fold" -> throw new OutOfMemoryError("none left");
                                    default ->
                                            throw new UnsupportedOperationException(
                                                    called.getName());
                                });
    }

    private void submitTwo() {
        recording.perform(core.begin(List.of(), NOW));
        for (String type : List.of("one", "two")) {
            recording.perform(core.submit("bank", new Body(type, new byte[900])));
        }
    }

    private void runEvents() {
        List<Runnable> all = List.copyOf(events);
        events.clear();
        all.forEach(Runnable::run);
    }

    @Test
    void aMessageThatCannotBeReadBackHaltsTheService() {
        submitTwo();
        assertThat(core.next(NOW)).isPresent();
        recording.append(
                core.commit(
                        new Effects(
                                List.of(), List.of(), List.of(), List.of(), List.of(), 0, false)),
                Changes.NONE);
        exhausted = true;
        recording.perform(core.tick(NOW));
        assertThatThrownBy(this::runEvents).hasRootCauseInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void aBaseThatTakesAllMemoryHaltsTheService() {
        submitTwo();
        recording.moved(Finals.turns(core.newestTurn()));
        recording.fold();
        assertThatThrownBy(this::runEvents).hasRootCauseInstanceOf(OutOfMemoryError.class);
    }
}
