package io.saucr.history;

import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Small histories of registers from a seed: a few processes ask real registers, each call takes
 * effect at a random moment between its invocation and its answer, and with a probability of one
 * half something is wrong: a stale read, a lost write, a cas that compares with an older value. Few
 * values, so that they recur; some calls never return. The same seed gives the same history on
 * every JVM ({@link Random} is specified).
 */
final class RandomHistories {
    /** What a register holds before the first write; histories say it in reads. */
    static final long UNWRITTEN = -1;

    private final Random random;
    private final List<HistoryEvent> events = new ArrayList<>();
    private final Map<Object, List<Long>> past = new HashMap<>();
    private final boolean faulty;
    private int nextProcess;

    private RandomHistories(long seed) {
        random = new Random(seed);
        faulty = random.nextBoolean();
    }

    static History of(long seed) {
        return new RandomHistories(seed).make();
    }

    /** A call under way; answer stays null until it has taken effect. */
    private static final class Pending {
        final int process;
        final RegisterCall call;
        RegisterCall answer;
        boolean failed;

        Pending(int process, RegisterCall call) {
            this.process = process;
            this.call = call;
        }
    }

    private History make() {
        int workers = 2 + random.nextInt(4);
        int keys = 1 + random.nextInt(2);
        int left = 5 + random.nextInt(26);
        nextProcess = workers;
        int[] processes = new int[workers];
        Pending[] pending = new Pending[workers];
        for (int i = 0; i < workers; i++) {
            processes[i] = i;
        }
        while (left > 0) {
            int worker = random.nextInt(workers);
            Pending now = pending[worker];
            if (now == null) {
                left--;
                now = new Pending(processes[worker], draw(random.nextInt(keys)));
                pending[worker] = now;
                add(HistoryEvent.Type.INVOKE, now.process, now.call);
            } else if (now.answer == null) {
                if (random.nextInt(20) == 0) { // returns no more, and never takes effect
                    add(HistoryEvent.Type.INFO, now.process, now.call);
                    processes[worker] = nextProcess++;
                    pending[worker] = null;
                } else {
                    takeEffect(now);
                }
            } else {
                boolean unknown = !(now.call instanceof Read) && random.nextInt(8) == 0;
                if (unknown) {
                    add(HistoryEvent.Type.INFO, now.process, now.call);
                    processes[worker] = nextProcess++;
                } else {
                    add(
                            now.failed ? HistoryEvent.Type.FAIL : HistoryEvent.Type.OK,
                            now.process,
                            now.answer);
                }
                pending[worker] = null;
            }
        }
        return new History(events);
    }

    private RegisterCall draw(long key) {
        return switch (random.nextInt(4)) {
            case 0 -> new Write(key, value());
            case 1 -> new CompareAndSet(key, value(), value());
            default -> new Read(key, null);
        };
    }

    private long value() {
        return random.nextInt(5);
    }

    private void takeEffect(Pending now) {
        List<Long> values =
                past.computeIfAbsent(now.call.key(), k -> new ArrayList<>(List.of(UNWRITTEN)));
        boolean wrong = faulty && random.nextInt(8) == 0;
        int back = wrong && values.size() > 1 ? 2 : 1;
        long seen = values.get(values.size() - back);
        now.answer = now.call;
        if (now.call instanceof Read read) {
            now.answer = new Read(read.key(), seen);
        } else if (now.call instanceof CompareAndSet cas) {
            now.failed = !cas.expected().equals(seen);
            if (!now.failed) {
                values.add((Long) cas.value());
            }
        } else if (!wrong) {
            values.add((Long) now.call.after(null));
        }
    }

    private void add(HistoryEvent.Type type, int process, RegisterCall call) {
        events.add(
                new HistoryEvent.Client(events.size(), events.size() * 1000L, type, process, call));
    }
}
