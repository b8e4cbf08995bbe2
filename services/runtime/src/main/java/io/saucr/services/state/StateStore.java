package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonParser;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.State;
import io.saucr.services.ValueState;
import io.saucr.services.core.lanes.Seen;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Everything that a service remembers. First the service declares its collections, in its
 * constructor; then what survived is loaded and applied; then come turns.
 *
 * <p>What a turn changes is seen in the turn at once, becomes part of the state when it is sealed,
 * and never was when it is rolled back (K3, K12). Sealing takes time in proportion to what changed,
 * rolling back in proportion to the collections that it changed, a snapshot in proportion to the
 * collections there are.
 *
 * <p>One thread at a time: that of the service's constructor and recovery, then that of turns. The
 * thread that begins a turn is the only one that may use collections in it.
 */
public class StateStore implements State {

    /**
     * A turn changes so many bytes at most, counted as keys and values, as all that a turn does is
     * one record.
     */
    public static final int LARGEST_TURN_BYTES = 64 << 20;

    static final String SECTION_PREFIX = "state/";

    private static final int LONGEST_NAME = 200;

    /** Names that begin with it are this library's. */
    private static final char RESERVED = '#';

    private enum Phase {
        DECLARING,
        RECOVERING,
        BETWEEN_TURNS,
        TURN,
        QUERY
    }

    private record HandedOut(Table table, Trie.Entry entry) {}

    private final String service;
    private final long seed;
    private final boolean checking;
    private final Codec codec = new Codec();
    private final Map<String, Table> tables = new TreeMap<>();
    private final Set<String> dropped = new HashSet<>();

    private Phase phase = Phase.DECLARING;
    private boolean reserving;
    private Thread thread;
    private long turns;
    private long turnBytes;
    private final List<Table> touched = new ArrayList<>();
    private final List<HandedOut> handedOut = new ArrayList<>();

    /**
     * An empty store.
     *
     * @param service its name, for messages
     * @param seed of the hashes of keys, unknown to those who choose keys, such as a part of the
     *     service's birth
     * @param checking whether every value that a turn saw is compared with what was stored, to find
     *     one that was changed in place (C12): for tests, as it multiplies the time of a turn
     */
    public StateStore(String service, long seed, boolean checking) {
        this.service = service;
        this.seed = seed;
        this.checking = checking;
    }

    /** An empty store of the same service and hashes. */
    StateStore(StateStore other) {
        this(other.service, other.seed, other.checking);
    }

    /**
     * Declares collections of this library, whose names begin with {@value #RESERVED}; a service's
     * do not.
     */
    public <T> T reserve(Function<State, T> declaring) {
        reserving = true;
        try {
            return declaring.apply(this);
        } finally {
            reserving = false;
        }
    }

    /** How values become bytes; for messages, too. Any thread. */
    public Codec codec() {
        return codec;
    }

    @Override
    public <K, V> MapState<K, V> map(String name, Class<K> key, Class<V> value) {
        String where = "map " + name;
        throwUnlessDeclaring(where, name);
        ValueType keyType = codec.type(key, "the key of " + where);
        TypeResolver.checkKey(keyType, "the key of " + where);
        Table table =
                declare(name, Kind.MAP, typed(keyType), typed(codec.type(value, valueOf(where))));
        return new TableMap<>(this, table);
    }

    @Override
    public <V> ListState<V> list(String name, Class<V> value) {
        String where = "list " + name;
        throwUnlessDeclaring(where, name);
        Coding values = typed(codec.type(value, valueOf(where)));
        return new TableList<>(this, declare(name, Kind.LIST, Coding.NUMBER, values));
    }

    @Override
    public <V> ValueState<V> value(String name, Class<V> value) {
        String where = "value " + name;
        throwUnlessDeclaring(where, name);
        Coding values = typed(codec.type(value, valueOf(where)));
        return new TableValue<>(this, declare(name, Kind.VALUE, Coding.NUMBER, values));
    }

    @Override
    public void drop(String name) {
        throwUnlessDeclaring("the collection " + name, name);
        dropped.add(name);
    }

    private static String valueOf(String where) {
        return "the value of " + where;
    }

    private Coding typed(ValueType type) {
        return new Coding.Typed(type, seed);
    }

    private Table declare(String name, Kind kind, Coding keys, Coding values) {
        Table table = newTable(name, kind, keys, values, checking);
        tables.put(name, table);
        return table;
    }

    /** A table of a collection that is declared. */
    Table newTable(String name, Kind kind, Coding keys, Coding values, boolean checking) {
        return new Table(name, kind, keys, values, checking);
    }

    private void throwUnlessDeclaring(String what, String name) {
        if (phase != Phase.DECLARING) {
            throw new IllegalStateException(
                    what
                            + " of "
                            + service
                            + " was declared too late: declare all state in the service's"
                            + " constructor");
        }
        if (name.isEmpty() || name.length() > LONGEST_NAME) {
            throw new IllegalArgumentException(
                    "the name of a collection has 1 to "
                            + LONGEST_NAME
                            + " characters, not "
                            + name.length());
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new IllegalArgumentException(
                    "the name of a collection is a text that can be written, without halves of"
                            + " surrogate pairs");
        }
        if ((name.charAt(0) == RESERVED) != reserving) {
            throw new IllegalArgumentException(
                    what + " of " + service + ": a name does not begin with '" + RESERVED + "'");
        }
        if (tables.containsKey(name) || dropped.contains(name)) {
            throw new IllegalArgumentException(
                    what + " of " + service + ": the name " + name + " was declared before");
        }
    }

    /** Whether a section of a base is one that {@link #load} reads. */
    public static boolean isSection(String name) {
        return name.startsWith(SECTION_PREFIX);
    }

    /**
     * Says what a section of the base holds, such as {@code map, 12 entries}, without knowing its
     * types.
     *
     * @throws UnreadableStateException where it is damaged, or of a newer release
     */
    public static String summary(String section, InputStream content) throws IOException {
        String name = section.substring(SECTION_PREFIX.length());
        try (JsonParser in = Codec.parser(content)) {
            Table.Header header = Table.Header.read(name, in);
            return header.kind().name().toLowerCase(Locale.ROOT)
                    + ", "
                    + header.entries()
                    + (header.entries() == 1 ? " entry" : " entries");
        }
    }

    /**
     * Loads one section of the base, each once, before {@link #apply}. It ends declaring.
     *
     * @throws UnreadableStateException where it is damaged, or does not fit what is declared; says
     *     which entry, and what to do
     * @throws IOException where the stream throws it
     */
    public void load(String section, InputStream content) throws IOException {
        recover();
        if (!isSection(section)) {
            throw new IllegalArgumentException("section " + section + " is not of the state");
        }
        String name = section.substring(SECTION_PREFIX.length());
        if (dropped.contains(name)) {
            return;
        }
        try (JsonParser in = Codec.parser(content)) {
            Table.Header header = Table.Header.read(name, in);
            table(name, header.kind()).read(header, in);
        }
    }

    /**
     * Applies the changes of the next turn above the base. It ends declaring.
     *
     * @throws UnreadableStateException where they do not fit what is declared; says which entry,
     *     and what to do
     */
    public void apply(Changes changes) throws UnreadableStateException {
        recover();
        for (Map.Entry<String, Changes.Collection> named : changes.byName().entrySet()) {
            if (!dropped.contains(named.getKey())) {
                table(named.getKey(), named.getValue().kind()).apply(named.getValue());
            }
        }
    }

    /**
     * Takes all collections as they were, in place of {@link #load}: of a store with the same seed
     * and the same declarations. It ends declaring.
     */
    public void restore(StateSnapshot from) {
        recover();
        for (StateSnapshot.Part part : from.parts()) {
            String name = part.table().name();
            if (!dropped.contains(name)) {
                table(name, part.table().kind()).restore(part.table(), part.version());
            }
        }
    }

    private void recover() {
        if (phase != Phase.DECLARING && phase != Phase.RECOVERING) {
            throw new IllegalStateException("the state of " + service + " is recovered already");
        }
        phase = Phase.RECOVERING;
    }

    /** One that is not declared is kept as it is, as an earlier release might have it again. */
    private Table table(String name, Kind kind) {
        return tables.computeIfAbsent(
                name,
                absent ->
                        new Table(
                                name,
                                kind,
                                kind == Kind.MAP ? Coding.RAW : Coding.NUMBER,
                                Coding.RAW,
                                checking));
    }

    /**
     * Begins a turn, on the thread that is to run it. It ends declaring and recovering.
     *
     * @throws IllegalStateException where a turn or query has not ended
     */
    public void begin() {
        begin(Phase.TURN);
    }

    /** Begins a query: as {@link #begin}, but nothing can be changed. {@link #rollback} ends it. */
    public void beginQuery() {
        begin(Phase.QUERY);
    }

    private void begin(Phase next) {
        if (phase == Phase.TURN || phase == Phase.QUERY) {
            throw new IllegalStateException("a turn of " + service + " has not ended");
        }
        phase = next;
        thread = Thread.currentThread();
        turns++;
        turnBytes = 0;
    }

    /**
     * Ends the turn, whose changes are part of the state from now on.
     *
     * @return what it changed
     * @throws IllegalStateException where values are checked and one was changed in place: then the
     *     turn is rolled back instead (C12)
     */
    public Changes seal() {
        throwUnlessInTurn("seal");
        try {
            checkHandedOut();
        } catch (RuntimeException e) {
            undo();
            throw e;
        }
        Map<String, Changes.Collection> byName = new TreeMap<>();
        for (Table table : touched) {
            boolean changed = table.isChanged();
            Changes.Collection changes = table.seal();
            if (changed) {
                byName.put(table.name(), changes);
            }
        }
        endTurn();
        return byName.isEmpty() ? Changes.NONE : new Changes(byName);
    }

    /**
     * Ends the turn or query as if it had not begun.
     *
     * @throws IllegalStateException where values are checked and one was changed in place (C12); it
     *     is ended all the same
     */
    public void rollback() {
        throwUnlessInTurn("rollback");
        try {
            checkHandedOut();
        } finally {
            undo();
        }
    }

    private void undo() {
        touched.forEach(Table::rollback);
        endTurn();
    }

    private void endTurn() {
        touched.clear();
        handedOut.clear();
        thread = null;
        phase = Phase.BETWEEN_TURNS;
    }

    private void checkHandedOut() {
        for (HandedOut one : handedOut) {
            one.table().throwIfChangedInPlace(one.entry());
        }
    }

    private void throwUnlessInTurn(String call) {
        if ((phase != Phase.TURN && phase != Phase.QUERY) || thread != Thread.currentThread()) {
            throw new IllegalStateException(
                    call + " ends a turn of " + service + ", and there is none on this thread");
        }
    }

    /**
     * All collections as the newest sealed turn left them. Between turns.
     *
     * @throws IllegalStateException in a turn
     */
    public StateSnapshot snapshot() {
        if (phase == Phase.TURN || phase == Phase.QUERY) {
            throw new IllegalStateException("a snapshot of " + service + " in a turn");
        }
        return new StateSnapshot(
                tables.values().stream()
                        .map(table -> new StateSnapshot.Part(table, table.now()))
                        .toList());
    }

    /** The state as it is, to compare with what a {@link LaneState} saw. Between turns. */
    public Seen.Version<Object> newest() {
        return new Seen.Version<>() {

            @Override
            public Object entry(Object collection, Object key) {
                return ((Table) collection).get(key);
            }

            @Override
            public Object whole(Object collection) {
                return ((Table) collection).now();
            }
        };
    }

    /**
     * Compares each value with what was stored, where values are checked. Between turns.
     *
     * @throws IllegalStateException where one was changed in place: names collection and key (C12)
     */
    public void check() {
        if (checking) {
            tables.values().forEach(table -> table.throwIfAnyChangedInPlace(table.now()));
        }
    }

    /** The number of the turn in which a collection is used; refuses use elsewhere. */
    long throwUnlessUsable(Table table) {
        if (phase == Phase.TURN || phase == Phase.QUERY) {
            if (thread == Thread.currentThread()) {
                return turns;
            }
            throw new IllegalStateException(
                    table.described()
                            + " of "
                            + service
                            + " was used on thread "
                            + Thread.currentThread().getName()
                            + ": use state in handlers, on their own thread; elsewhere, send the"
                            + " service a message");
        }
        throw new IllegalStateException(
                table.described()
                        + " of "
                        + service
                        + (turns == 0
                                ? " was used before the first turn: a constructor declares state;"
                                        + " give it a content in a handler"
                                : " was used outside of a turn: use state in handlers, on their own"
                                        + " thread; elsewhere, send the service a message"));
    }

    /** Refuses use of an iteration that began in another turn. */
    void throwUnlessTurn(Table table, long turn) {
        if (throwUnlessUsable(table) != turn) {
            throw new IllegalStateException(
                    "an iteration over "
                            + table.described()
                            + " of "
                            + service
                            + " began in an earlier turn: iterate within one");
        }
    }

    /**
     * Prepares a table for a change.
     *
     * @param bytes that it takes to say what is about to change
     */
    void touch(Table table, int bytes) {
        throwUnlessUsable(table);
        if (phase == Phase.QUERY) {
            throw new IllegalStateException(
                    table.described()
                            + " of "
                            + service
                            + " cannot be changed in a query: send a message for that");
        }
        if (turnBytes + bytes > LARGEST_TURN_BYTES) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "a turn of %s changes more than %,d bytes of its state: do it in"
                                    + " several turns, by messages to itself",
                            service,
                            LARGEST_TURN_BYTES));
        }
        turnBytes += bytes;
        if (!table.isTouched()) {
            table.touch();
            touched.add(table);
        }
    }

    /** Remembers an entry whose value the turn can see. */
    void handOut(Table table, Trie.Entry entry) {
        if (checking) {
            handedOut.add(new HandedOut(table, entry));
        }
    }
}
