package io.saucr.services.state;

import io.saucr.services.ListState;
import io.saucr.services.MapState;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Nanoseconds and bytes per changed entry, per entry that is read, and per entry of a snapshot, in
 * a map of many entries. Arguments: entries in the map, seconds per figure. Prints; asserts
 * nothing.
 */
final class StateFigures {

    record Account(String owner, long cents, Optional<Instant> closed, List<String> tags) {}

    private static final int PER_TURN = 4;

    private StateFigures() {}

    private interface Turn {
        void change(int count);
    }

    public static void main(String[] args) {
        int entries = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        long nanos = (args.length > 1 ? Long.parseLong(args[1]) : 2) * 1_000_000_000;
        for (boolean checking : new boolean[] {false, true}) {
            StateStore store = new StateStore("figures", 1, checking);
            MapState<String, Long> longs = store.map("longs", String.class, Long.class);
            MapState<String, Account> accounts = store.map("accounts", String.class, Account.class);
            ListState<Long> queue = store.list("queue", Long.class);
            System.out.printf(Locale.ROOT, "%,d entries%s%n", entries, checking ? ", checked" : "");
            for (int begin = 0; begin < entries; begin += 10_000) {
                store.begin();
                for (int at = begin; at < Math.min(begin + 10_000, entries); at++) {
                    longs.put("account-" + at, (long) at);
                    accounts.put("account-" + at, account(at));
                }
                store.seal();
            }
            String[] keys = new String[entries];
            for (int at = 0; at < entries; at++) {
                keys[at] = "account-" + at;
            }
            for (int round = 0; round < 2; round++) {
                run("put a Long", store, nanos, at -> longs.put(key(keys, at), (long) at));
                run(
                        "put a record of four parts",
                        store,
                        nanos,
                        at -> accounts.put(key(keys, at), account(at)));
                run("get a Long", store, nanos, at -> longs.get(key(keys, at)));
                run(
                        "add to a list, remove its first",
                        store,
                        nanos,
                        at -> {
                            queue.add((long) at);
                            queue.removeFirst();
                        });
            }
            long start = System.nanoTime();
            StateSnapshot snapshot = store.snapshot();
            long taken = System.nanoTime() - start;
            start = System.nanoTime();
            Survivor written = Survivor.of(snapshot);
            long each = (System.nanoTime() - start) / snapshot.entries();
            System.out.printf(
                    Locale.ROOT,
                    "  snapshot: taken in %,d ns, written at %,d ns and %.1f bytes per entry%n",
                    taken,
                    each,
                    (double) (written.bytes("longs").length + written.bytes("accounts").length)
                            / snapshot.entries());
        }
    }

    private static String key(String[] keys, int at) {
        // Far apart, as those of real turns are.
        return keys[(int) ((at * 2_654_435_761L & Integer.MAX_VALUE) % keys.length)];
    }

    private static Account account(int at) {
        return new Account(
                "owner " + at, at, Optional.of(Instant.ofEpochSecond(at)), List.of("a", "b"));
    }

    private static void run(String what, StateStore store, long nanos, Turn turn) {
        long start = System.nanoTime();
        long end = start + nanos;
        long bytes = 0;
        int count = 0;
        long now;
        do {
            store.begin();
            for (int each = 0; each < PER_TURN; each++) {
                turn.change(count++);
            }
            bytes += store.seal().encode().length;
            now = System.nanoTime();
        } while (now < end);
        System.out.printf(
                Locale.ROOT,
                "  %-32s %,6d ns  %5.1f bytes (%d of them a turn, sealed and encoded)%n",
                what,
                (now - start) / count,
                (double) bytes / count,
                PER_TURN);
    }
}
