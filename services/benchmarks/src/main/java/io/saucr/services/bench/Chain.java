package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Caller;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.journal.ForceMode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/**
 * Services in a row, in one process. A client asks the first one, each passes the request on to the
 * next one, and the last one reports to the first one, which answers. Each step is a turn that
 * counts, so a request takes one turn more than there are services, and one turn where there is one
 * service. Used by one thread.
 */
final class Chain implements AutoCloseable {

    /** When what a turn sends to the next service leaves. */
    enum Mode {
        ALWAYS(false, "each turn synced before anything of it leaves"),
        OS(false, "turns are written and never synced"),
        OFF(true, "members of a group without speculation"),
        GROUP(true, "members of a group: only what leaves it waits for fsyncs");

        final boolean hasGroup;
        final String meaning;

        Mode(boolean hasGroup, String meaning) {
            this.hasGroup = hasGroup;
            this.meaning = meaning;
        }

        /**
         * Runs a service.
         *
         * @param group its path; not used where the mode has none
         */
        RunningService run(
                Services place, Function<State, ? extends Service> constructor, String group)
                throws IOException, InterruptedException {
            return switch (this) {
                case ALWAYS -> place.run(constructor, Protection.local().force(ForceMode.always()));
                case OS -> place.run(constructor, Protection.local().force(ForceMode.os()));
                case OFF -> place.run(constructor, Protection.speculative(group).off());
                case GROUP -> place.run(constructor, Protection.speculative(group));
            };
        }
    }

    private static final Address ANY_PORT = new Address("127.0.0.1", 0);
    private static final int SEGMENT_BYTES = 1 << 20;

    private final List<RunningService> services = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private long requests;

    /** To the first service: say hello to the last one, which does not know its address. */
    record Begin() {}

    /** From the first service to the last one: their connection exists now. */
    record Hello() {}

    /** A request on its way; the first service answers it with {@link Passed}. */
    record Pass(long number) {}

    /** From the last service to the first one, and from there to the client. */
    record Passed(long number) {}

    /** A query: how many requests a service has passed on. */
    record Ask() {}

    /** Its answer. */
    record Count(long number) {}

    private static String name(int service) {
        return "service-" + service;
    }

    /** One of the row. */
    private static final class Step implements Service {
        private final int number;
        private final int length;
        private final ValueState<Long> count;
        private final MapState<Long, Caller> open;

        Step(State state, int number, int length) {
            this.number = number;
            this.length = length;
            count = state.value("count", Long.class);
            open = state.map("open", Long.class, Caller.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Begin.class,
                    (begin, turn) -> {
                        if (length > 1) {
                            turn.send(name(length), new Hello());
                        }
                        turn.reply(new Hello());
                    });
            on.message(Hello.class, (hello, turn) -> {});
            on.message(
                    Pass.class,
                    (pass, turn) -> {
                        count.update(count.orElse(0L) + 1);
                        if (length == 1) {
                            turn.reply(new Passed(pass.number()));
                        } else if (number == length) {
                            turn.send(name(1), new Passed(pass.number()));
                        } else {
                            turn.send(name(number + 1), pass);
                        }
                        if (length > 1 && number == 1) {
                            open.put(pass.number(), turn.detach());
                        }
                    });
            on.message(
                    Passed.class,
                    (passed, turn) -> turn.reply(open.remove(passed.number()), passed));
            on.query(Ask.class, (ask, turn) -> new Count(count.orElse(0L)));
        }
    }

    /**
     * Starts it.
     *
     * @param folder empty
     * @param length how many services
     * @param ensemble servers; not used where the mode has no group
     */
    Chain(Path folder, int length, Mode mode, String ensemble)
            throws IOException, InterruptedException, ExecutionException {
        Map<String, Address> addresses = new HashMap<>();
        for (int service = length; service >= 1; service--) {
            int number = service;
            // One path for each length: their chains may share an ensemble.
            Services place =
                    mode.hasGroup
                            ? Services.at(ensemble + "/chain-" + length + "/" + name(number))
                            : Services.without(name(number), Map.copyOf(addresses));
            RunningService running =
                    mode.run(
                            place.folder(folder.resolve(name(number)))
                                    .listen(ANY_PORT)
                                    .segmentBytes(SEGMENT_BYTES)
                                    .onHalt(Halt.process()),
                            state -> new Step(state, number, length),
                            "/groups/chain-" + length);
            services.add(0, running);
            addresses.put(name(number), running.address());
            clients.add(
                    0,
                    Services.without(name(number), Map.of(name(number), running.address()))
                            .client());
        }
        Hello unused = clients.get(0).ask(new Begin(), Hello.class).get();
    }

    /** Sends one request through all services, and returns when its answer is there. */
    void pass() throws InterruptedException, ExecutionException {
        long number = ++requests;
        long answered = clients.get(0).ask(new Pass(number), Passed.class).get().number();
        if (answered != number) {
            throw new IllegalStateException(answered + " was answered, and " + number + " asked");
        }
    }

    /**
     * Compares what each service counted with the requests that were answered.
     *
     * @throws IllegalStateException where they differ
     */
    void check() throws InterruptedException, ExecutionException {
        for (int service = 0; service < clients.size(); service++) {
            long counted = clients.get(service).ask(new Ask(), Count.class).get().number();
            if (counted != requests) {
                throw new IllegalStateException(
                        name(service + 1) + " counted " + counted + " of " + requests);
            }
        }
    }

    @Override
    public void close() {
        clients.forEach(Client::close);
        services.forEach(RunningService::close);
    }
}
