package io.saucr.services.examples.memcached;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.saucr.services.Bytes;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a memcached server remembers, as a service: it takes the place of jmemcached's cache and
 * answers as that does. Items, the counter of their versions and delayed deletions are state.
 *
 * <p>Nothing is evicted. What does not fit is not stored; what expired is removed once a minute.
 */
public final class CacheService implements Service {

    /** The largest value, in bytes: what one message holds. */
    static final int LARGEST_VALUE = 1_000_000;

    private static final int LONGEST_KEY = 250;
    private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(1);
    private static final Bytes NOTHING = Bytes.of();
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,10}");

    /** How an item is stored. */
    public enum How {
        /** Whether there is one or not. */
        SET,
        /** If there is none. */
        ADD,
        /** If there is one. */
        REPLACE,
        /** Behind the one that there is. */
        APPEND,
        /** Before the one that there is. */
        PREPEND,
        /** If the one that there is has a certain version. */
        CAS
    }

    /** What became of a command. */
    public enum Outcome {
        /** Done. */
        STORED,
        /** The condition does not hold, or it does not fit. */
        NOT_STORED,
        /** The item has another version. */
        EXISTS,
        /** There is no such item. */
        NOT_FOUND,
        /** The item no longer exists. */
        DELETED,
        /** The item is not a number. */
        NO_NUMBER
    }

    /**
     * An item.
     *
     * @param flags of the client
     * @param expire in seconds since 1970, 0 for never
     * @param data its value
     * @param cas its version
     * @param blockedUntil where not 0, it is deleted at this second, and nobody sees it
     */
    public record Item(int flags, int expire, Bytes data, long cas, long blockedUntil) {

        Item with(Bytes other, long version) {
            return new Item(flags, expire, other, version, blockedUntil);
        }
    }

    /** Stores an item; {@code cas} is the version that {@link How#CAS} asks for. */
    public record Store(How how, Bytes key, Item item, long cas) {
        /** Checks the key. */
        public Store {
            check(key);
        }
    }

    /** Adds to a number, which does not fall below zero. */
    public record Change(Bytes key, int by) {
        /** Checks the key. */
        public Change {
            check(key);
        }
    }

    /** Deletes an item, at once or after some seconds. */
    public record Delete(Bytes key, int seconds) {
        /** Checks the key. */
        public Delete {
            check(key);
        }
    }

    /** The time of a delayed deletion has come. */
    public record Unblock(Bytes key, long blockedUntil) {}

    /** Deletes all. */
    public record Flush() {}

    /** Expired items go. */
    public record Sweep() {}

    /** What became of it; {@code value} is that of a number that was changed. */
    public record Done(Outcome outcome, int value) {}

    /** Asks for an item. */
    public record Get(Bytes key) {
        /** Checks the key. */
        public Get {
            check(key);
        }
    }

    /** The item, if there is one. */
    public record Found(Optional<Item> item) {}

    /** Asks how much there is. */
    public record Ask() {}

    /** How much there is, and how many bytes there may be. */
    public record Held(int items, long bytes, long mostBytes) {}

    private final long mostBytes;
    private final MapState<Bytes, Item> items;
    private final ValueState<Long> bytes;
    private final ValueState<Long> versions;

    /**
     * A cache.
     *
     * @param mostBytes of values that it holds
     */
    CacheService(State state, long mostBytes) {
        this.mostBytes = mostBytes;
        items = state.map("items", Bytes.class, Item.class);
        bytes = state.value("bytes", Long.class);
        versions = state.value("versions", Long.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(Store.class, (m, turn) -> turn.reply(new Done(store(m, second(turn)), 0)));
        on.message(Change.class, (m, turn) -> turn.reply(change(m, second(turn))));
        on.message(Delete.class, (m, turn) -> turn.reply(new Done(delete(m, turn), 0)));
        on.message(Unblock.class, this::unblock);
        on.message(Flush.class, (m, turn) -> flush(turn));
        on.message(Sweep.class, (m, turn) -> sweep(second(turn)));
        on.every(BETWEEN_SWEEPS, new Sweep());
        on.query(Get.class, (m, turn) -> new Found(get(m.key(), second(turn))));
        on.query(Ask.class, (m, turn) -> new Held(items.size(), bytes.orElse(0L), mostBytes));
    }

    private static void check(Bytes key) {
        if (key.size() > LONGEST_KEY) {
            throw new IllegalArgumentException(
                    "a key has at most " + LONGEST_KEY + " bytes, not " + key.size());
        }
    }

    private static long second(Turn turn) {
        return turn.now().getEpochSecond();
    }

    private static boolean expired(Item item, long now) {
        return item.expire() != 0 && item.expire() < now;
    }

    private static boolean blocked(Item item, long now) {
        return item.blockedUntil() > now;
    }

    private static boolean gone(Item item, long now) {
        return item == null || blocked(item, now) || expired(item, now);
    }

    private Outcome store(Store wish, long now) {
        Bytes key = wish.key();
        Item item = wish.item();
        Item old = items.get(key);
        return switch (wish.how()) {
            case SET -> put(key, item.with(item.data(), nextVersion()));
            case ADD -> {
                long version = nextVersion();
                yield old != null ? Outcome.NOT_STORED : put(key, item.with(item.data(), version));
            }
            case REPLACE -> old == null ? Outcome.NOT_STORED : put(key, item);
            case APPEND ->
                    gone(old, now)
                            ? Outcome.NOT_FOUND
                            : put(key, old.with(joined(old.data(), item.data()), 1));
            case PREPEND ->
                    gone(old, now)
                            ? Outcome.NOT_FOUND
                            : put(key, old.with(joined(item.data(), old.data()), 1));
            case CAS -> {
                if (old == null || blocked(old, now)) {
                    yield Outcome.NOT_FOUND;
                }
                yield old.cas() != wish.cas()
                        ? Outcome.EXISTS
                        : put(key, item.with(item.data(), nextVersion()));
            }
        };
    }

    private long nextVersion() {
        long version = versions.orElse(1L);
        versions.update(version + 1);
        return version;
    }

    private static Bytes joined(Bytes first, Bytes second) {
        ByteBuffer both = ByteBuffer.allocate(first.size() + second.size());
        return Bytes.of(both.put(first.asBuffer()).put(second.asBuffer()).flip());
    }

    private Outcome put(Bytes key, Item item) {
        int size = item.data().size();
        long then = bytes.orElse(0L) + size - size(items.get(key));
        if (size > LARGEST_VALUE || then > mostBytes) {
            return Outcome.NOT_STORED;
        }
        bytes.update(then);
        items.put(key, item);
        return Outcome.STORED;
    }

    private static int size(Item item) {
        return item == null ? 0 : item.data().size();
    }

    private boolean remove(Bytes key) {
        Item old = items.remove(key);
        bytes.update(bytes.orElse(0L) - size(old));
        return old != null;
    }

    private Done change(Change wish, long now) {
        Item old = items.get(wish.key());
        if (gone(old, now)) {
            return new Done(Outcome.NOT_FOUND, 0);
        }
        String digits = US_ASCII.decode(old.data().asBuffer()).toString();
        // What throws is tried again and then put aside, so a client's mistake is an answer.
        if (!NUMBER.matcher(digits).matches()
                || Long.parseLong(digits) != (int) Long.parseLong(digits)) {
            return new Done(Outcome.NO_NUMBER, 0);
        }
        int value = Math.max(0, Integer.parseInt(digits) + wish.by());
        Bytes data = Bytes.of(Integer.toString(value).getBytes(US_ASCII));
        return new Done(put(wish.key(), old.with(data, 1)), value);
    }

    private Outcome delete(Delete wish, Turn turn) {
        if (wish.seconds() == 0) {
            return remove(wish.key()) ? Outcome.DELETED : Outcome.NOT_FOUND;
        }
        if (items.contains(wish.key())) {
            int seconds = Math.max(0, wish.seconds());
            long until = second(turn) + seconds;
            boolean unused = remove(wish.key());
            items.put(wish.key(), new Item(0, 0, NOTHING, 0, until));
            turn.after(Duration.ofSeconds(seconds), new Unblock(wish.key(), until));
        }
        return Outcome.NOT_FOUND;
    }

    private void unblock(Unblock due, Turn turn) {
        Item item = items.get(due.key());
        if (item != null && item.blockedUntil() == due.blockedUntil()) {
            boolean unused = remove(due.key());
        }
    }

    private void flush(Turn turn) {
        items.clear();
        bytes.update(0L);
        turn.reply(new Done(Outcome.DELETED, 0));
    }

    private void sweep(long now) {
        for (Map.Entry<Bytes, Item> entry : items.entries()) {
            if (expired(entry.getValue(), now)) {
                boolean unused = remove(entry.getKey());
            }
        }
    }

    private Optional<Item> get(Bytes key, long now) {
        Item item = items.get(key);
        boolean hidden = item == null || item.blockedUntil() != 0 || expired(item, now);
        return hidden ? Optional.empty() : Optional.of(item);
    }
}
