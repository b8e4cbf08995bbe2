package io.saucr.history;

import io.saucr.history.HistoryEvent.Client;
import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Small histories from a seed, of the form that the nemesis exports: each register begins with a
 * write of 0, a deed of the nemesis has two lines, some reads do not say what they read. A few
 * processes ask real registers, and each call takes effect at a random moment: between invocation
 * and answer, or, if its outcome is unknown, at any later one or never. In half of the histories
 * the registers have faults: reads of an older value, of none or of one from nowhere, acknowledged
 * writes that take no effect, failed compare-and-sets that do, falls back to the initial value, the
 * register gone. Few values, so that they recur. The same seed gives the same history on every JVM.
 */
final class ExportedHistories {
    private static final int MOST_CALLS_PER_REGISTER = 12;

    private final Random random;
    private final List<HistoryEvent> events = new ArrayList<>();
    private final Map<Object, List<Object>> past = new HashMap<>();
    private final List<RegisterCall> late = new ArrayList<>();
    private final boolean faulty;
    private int processes;

    private ExportedHistories(long seed) {
        random = new Random(seed);
        faulty = random.nextBoolean();
    }

    static History of(long seed) {
        return new ExportedHistories(seed).make();
    }

    /** A client with its call under way, if it has one. */
    private final class Worker {
        private int process = processes++;
        private RegisterCall call;
        private RegisterCall answer;
        private boolean failed;

        void step(long key) {
            if (call == null) {
                call = draw(key);
                add(HistoryEvent.Type.INVOKE, process, call);
            } else if (answer == null) {
                if (random.nextInt(12) == 0) {
                    if (random.nextBoolean()) {
                        late.add(call);
                    }
                    end(HistoryEvent.Type.INFO, call);
                } else {
                    answer = takeEffect(call);
                    failed = answer == null;
                    answer = failed ? call : answer;
                }
            } else if (!(call instanceof Read) && random.nextInt(10) == 0) {
                end(HistoryEvent.Type.INFO, call);
            } else {
                end(failed ? HistoryEvent.Type.FAIL : HistoryEvent.Type.OK, answer);
            }
        }

        private void end(HistoryEvent.Type type, RegisterCall with) {
            add(type, process, with);
            call = null;
            answer = null;
            if (type == HistoryEvent.Type.INFO) {
                process = processes++;
            }
        }
    }

    private History make() {
        int keys = 1 + random.nextInt(3);
        int creator = processes++;
        for (long key = 0; key < keys; key++) {
            past.put(key, new ArrayList<>(List.of(0L)));
            add(HistoryEvent.Type.INVOKE, creator, new Write(key, 0L));
            add(HistoryEvent.Type.OK, creator, new Write(key, 0L));
        }
        List<Worker> workers = new ArrayList<>();
        for (int i = 2 + random.nextInt(3); i > 0; i--) {
            workers.add(new Worker());
        }
        Map<Long, Integer> calls = new HashMap<>();
        for (int steps = 10 + random.nextInt(90); steps > 0; steps--) {
            if (!late.isEmpty() && random.nextInt(6) == 0) {
                takeEffect(late.remove(random.nextInt(late.size())));
            }
            if (random.nextInt(25) == 0) {
                nemesis();
            }
            Worker worker = workers.get(random.nextInt(workers.size()));
            long key = random.nextInt(keys);
            if (worker.call != null
                    || calls.merge(key, 1, Integer::sum) < MOST_CALLS_PER_REGISTER) {
                worker.step(key);
            }
        }
        return new History(events);
    }

    private void nemesis() {
        for (int i = 0; i < 2; i++) {
            events.add(
                    new HistoryEvent.Nemesis(
                            events.size(), events.size() * 1000L, "power-cut", "[1 2]"));
        }
        if (faulty && random.nextBoolean()) {
            past.get((long) random.nextInt(past.size())).add(0L);
        }
    }

    private RegisterCall draw(long key) {
        return switch (random.nextInt(4)) {
            case 0 -> new Write(key, value());
            case 1 -> new CompareAndSet(key, value(), value());
            default -> new Read(key, null);
        };
    }

    private long value() {
        return random.nextInt(4);
    }

    /**
     * @return the answer; null if the call failed
     */
    private RegisterCall takeEffect(RegisterCall call) {
        List<Object> values = past.get(call.key());
        Object held = values.get(values.size() - 1);
        boolean wrong = faulty && random.nextInt(10) == 0;
        if (call instanceof Read) {
            return new Read(call.key(), wrong ? wrongly(values) : randomlyUnknown(held));
        }
        if (call instanceof Write) {
            if (!wrong) {
                values.add(call.after(held));
            }
            return call;
        }
        if (call.fits(held) || wrong) {
            values.add(call.after(held));
        }
        return call.fits(held) ? call : null;
    }

    private Object randomlyUnknown(Object held) {
        return random.nextInt(10) == 0 ? null : held;
    }

    private Object wrongly(List<Object> values) {
        return switch (random.nextInt(4)) {
            case 0 -> RegisterCall.ABSENT;
            case 1 -> 9L;
            default -> values.get(random.nextInt(values.size()));
        };
    }

    private void add(HistoryEvent.Type type, int process, RegisterCall call) {
        events.add(new Client(events.size(), events.size() * 1000L, type, process, call));
    }
}
