package io.saucr.history;

import io.saucr.history.Edn.Keyword;
import io.saucr.history.Edn.Tagged;
import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Histories as Jepsen writes them: one EDN map a line with {@code :index :time :type :process :f
 * :value}. The functions are {@code :read}, {@code :write} and {@code :cas}; a value is {@code
 * [register value]}, as {@code jepsen.independent} has it, and for cas {@code [register [old
 * new]]}. Faults have the process {@code :nemesis} and the type {@code :info}. Stateless.
 *
 * <p>Jepsen's own histories are read as well: with other keys, operations that were printed as
 * records, one register whose values name no register, all in one vector; without indices (then
 * they are the places, from 0) and times. The value of an answer counts for {@code :ok} only.
 */
public final class EdnHistory {
    /** In characters, without a number and ".edn"; file systems take 255. */
    private static final int LONGEST_NAME = 100;

    private EdnHistory() {}

    /** Replaces the file. */
    public static void write(History history, Path file) throws IOException {
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            for (HistoryEvent event : history.events()) {
                writer.write(line(event, event.index(), true));
                writer.write('\n');
            }
        }
    }

    /**
     * Each register's part as a history of its own, without the register in its values: what
     * Knossos' {@code cas-register} reads. Indices begin at 0 in each.
     *
     * @param folder gets {@code register-KEY.edn}, of long keys the beginning, with a number if
     *     need be; made if it does not exist
     * @throws java.nio.file.FileAlreadyExistsException rather than to replace a file
     */
    public static void writeRegisters(History history, Path folder) throws IOException {
        Files.createDirectories(folder);
        Map<Object, List<HistoryEvent.Client>> byKey = new LinkedHashMap<>();
        for (HistoryEvent event : history.events()) {
            if (event instanceof HistoryEvent.Client client) {
                byKey.computeIfAbsent(client.call().key(), key -> new ArrayList<>()).add(client);
            }
        }
        Set<String> names = new HashSet<>();
        for (Map.Entry<Object, List<HistoryEvent.Client>> register : byKey.entrySet()) {
            String name = fileName(register.getKey());
            // Of keys that differ in other characters only, or further on.
            String own = name;
            for (int i = 2; !names.add(own); i++) {
                own = name + "-" + i;
            }
            try (BufferedWriter writer =
                    Files.newBufferedWriter(
                            folder.resolve(own + ".edn"), StandardOpenOption.CREATE_NEW)) {
                int index = 0;
                for (HistoryEvent event : register.getValue()) {
                    writer.write(line(event, index++, false));
                    writer.write('\n');
                }
            }
        }
    }

    private static String fileName(Object key) {
        if (key.equals(RegisterCall.THE_ONLY_KEY)) {
            return "register";
        }
        String name = "register-" + Edn.print(key).replaceAll("[^A-Za-z0-9_.-]+", "_");
        return name.substring(0, Math.min(name.length(), LONGEST_NAME));
    }

    private static String line(HistoryEvent event, int index, boolean withKey) {
        String what;
        if (event instanceof HistoryEvent.Client client) {
            RegisterCall call = client.call();
            boolean keyed = withKey && !call.key().equals(RegisterCall.THE_ONLY_KEY);
            String value = Edn.print(value(call));
            what =
                    String.format(
                            Locale.ROOT,
                            ":type :%s, :process %d, :f :%s, :value %s",
                            client.type(),
                            client.process(),
                            function(call),
                            keyed ? "[" + Edn.print(call.key()) + " " + value + "]" : value);
        } else {
            HistoryEvent.Nemesis nemesis = (HistoryEvent.Nemesis) event;
            what =
                    ":type :info, :process :nemesis, :f :%s, :value %s"
                            .formatted(nemesis.fault(), nemesis.value());
        }
        return "{:index " + index + ", :time " + event.timeNanos() + ", " + what + "}";
    }

    private static String function(RegisterCall call) {
        return call instanceof Read ? "read" : call instanceof Write ? "write" : "cas";
    }

    private static Object value(RegisterCall call) {
        if (call instanceof CompareAndSet cas) {
            List<Object> change = new ArrayList<>();
            Collections.addAll(change, cas.expected(), cas.value());
            return change;
        }
        return call instanceof Read read ? read.value() : call.after(null);
    }

    /**
     * @throws IOException if the file cannot be read, or holds no such history; the message names
     *     file and line
     */
    public static History read(Path file) throws IOException {
        try (BufferedReader source = Files.newBufferedReader(file)) {
            EdnReader reader = new EdnReader(source);
            Operations operations = new Operations();
            try {
                Object next = reader.nextItem();
                while (next != EdnReader.END) {
                    operations.add(next);
                    next = reader.nextItem();
                }
                return new History(operations.events);
            } catch (EdnReader.SyntaxException | IllegalArgumentException e) {
                throw new IOException(
                        file
                                + ", line "
                                + reader.line()
                                + (reader.item() > 0
                                        ? ", operation " + reader.item() + " of the vector"
                                        : "")
                                + ": "
                                + e.getMessage(),
                        e);
            }
        } catch (MalformedInputException e) {
            throw new IOException(
                    file + ": no text in UTF-8; of Jepsen's files, history.edn is one", e);
        }
    }

    /** The operations of a file, one after the other. */
    private static final class Operations {
        private static final Keyword NEMESIS = new Keyword("nemesis");

        final List<HistoryEvent> events = new ArrayList<>();
        private final CallsUnderWay calls = new CallsUnderWay();
        private Boolean keyed;

        /**
         * @throws IllegalArgumentException if this is no operation of a register, or not here
         */
        void add(Object operation) {
            Object inner = operation instanceof Tagged tagged ? tagged.value() : operation;
            if (!(inner instanceof Map<?, ?> map)) {
                throw wrong(operation, "is no operation, which is a map with :type, :process, :f");
            }
            HistoryEvent before = events.isEmpty() ? null : events.get(events.size() - 1);
            int index = before == null ? 0 : before.index() + 1;
            if (get(map, "index") != null) {
                int given = integer(map, "index");
                if (given < index) {
                    throw wrong(given, "is :index after " + (index - 1));
                }
                index = given;
            } else if (index == RegisterOperation.NEVER) {
                throw new IllegalArgumentException(
                        "there is no :index, and none is left after " + before.index());
            }
            Object time = get(map, "time");
            long nanos = time instanceof Long given ? given : 0;
            Object process = get(map, "process");
            if (process instanceof Long) {
                client(map, index, nanos);
            } else if (process instanceof Keyword || process instanceof String) {
                events.add(nemesis(map, index, nanos));
            } else {
                throw wrong(process, "is :process, expected a number or :nemesis");
            }
        }

        private static HistoryEvent.Nemesis nemesis(Map<?, ?> map, int index, long nanos) {
            Object process = get(map, "process");
            Object function = get(map, "f");
            HistoryEvent.Type type = type(get(map, "type"));
            // Jepsen's nemesis may begin a deed with :invoke.
            boolean deed =
                    type == HistoryEvent.Type.INFO
                            || (type == HistoryEvent.Type.INVOKE && NEMESIS.equals(process));
            // A client's call that was passed over could be the one that fits nowhere.
            if (!deed || isOfRegister(function)) {
                throw wrong(
                        process,
                        "is :process of a call (:type :%s, :f %s), expected a number"
                                .formatted(type, Edn.print(function)));
            }
            return new HistoryEvent.Nemesis(
                    index,
                    nanos,
                    function instanceof Keyword name ? name.name() : Edn.print(function),
                    Edn.print(get(map, "value")));
        }

        private void client(Map<?, ?> map, int index, long nanos) {
            HistoryEvent.Type type = type(get(map, "type"));
            int process = integer(map, "process");
            String function = function(get(map, "f"));
            HistoryEvent.Client asked = calls.of(process);
            RegisterCall call =
                    asked != null
                                    && (type == HistoryEvent.Type.FAIL
                                            || type == HistoryEvent.Type.INFO)
                            ? same(asked.call(), function)
                            : call(function, get(map, "value"));
            HistoryEvent.Client event = new HistoryEvent.Client(index, nanos, type, process, call);
            calls.next(event);
            events.add(event);
        }

        private static RegisterCall same(RegisterCall asked, String function) {
            if (!EdnHistory.function(asked).equals(function)) {
                throw wrong(
                        new Keyword(function),
                        "is :f of an answer to :" + EdnHistory.function(asked));
            }
            return asked;
        }

        private RegisterCall call(String function, Object printed) {
            // A tuple may have a tag; that of any other value belongs to it.
            Object given =
                    printed instanceof Tagged tagged && tagged.value() instanceof List<?>
                            ? tagged.value()
                            : printed;
            boolean cas = function.equals("cas");
            if (keyed == null) {
                // The first call tells: [register value], or [register [old new]].
                keyed =
                        given instanceof List<?> pair
                                && pair.size() == 2
                                && (!cas || pair.get(1) instanceof List<?>);
            }
            Object key = RegisterCall.THE_ONLY_KEY;
            Object value = given;
            if (keyed) {
                List<?> pair = pair(given, "[register " + (cas ? "[old new]]" : "value]"));
                key = pair.get(0);
                value = pair.get(1);
                if (key == null) {
                    throw wrong(given, "is :value without a register");
                }
            }
            if (cas) {
                List<?> change = pair(value, "[old new]");
                return new CompareAndSet(key, change.get(0), change.get(1));
            }
            if (!keyed && value instanceof List<?>) {
                throw wrong(value, "is :value, as if of a register among others");
            }
            return function.equals("read") ? new Read(key, value) : new Write(key, value);
        }

        private static List<?> pair(Object value, String expected) {
            if (value instanceof List<?> pair && pair.size() == 2) {
                return pair;
            }
            throw wrong(value, "is :value, expected " + expected);
        }

        private static HistoryEvent.Type type(Object type) {
            for (HistoryEvent.Type possible : HistoryEvent.Type.values()) {
                if (new Keyword(possible.toString()).equals(type)) {
                    return possible;
                }
            }
            throw wrong(type, "is :type, expected :invoke, :ok, :fail or :info");
        }

        private static String function(Object function) {
            if (isOfRegister(function)) {
                return ((Keyword) function).name();
            }
            throw wrong(function, "is :f, expected :read, :write or :cas: no call on a register");
        }

        private static boolean isOfRegister(Object function) {
            return function instanceof Keyword keyword
                    && Set.of("read", "write", "cas").contains(keyword.name());
        }

        private static int integer(Map<?, ?> map, String key) {
            Object value = get(map, key);
            if (value instanceof Long number && number >= 0 && number < Integer.MAX_VALUE) {
                return number.intValue();
            }
            throw wrong(value, "is :" + key + ", expected a number from 0 to 2147483646");
        }

        private static Object get(Map<?, ?> map, String key) {
            return map.get(new Keyword(key));
        }

        private static IllegalArgumentException wrong(Object value, String what) {
            String printed = Edn.print(value);
            String shown = printed.length() > 60 ? printed.substring(0, 60) + "..." : printed;
            return new IllegalArgumentException(shown + " " + what);
        }
    }
}
