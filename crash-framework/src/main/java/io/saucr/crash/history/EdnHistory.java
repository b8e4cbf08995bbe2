package io.saucr.crash.history;

import io.saucr.crash.history.RegisterCall.CompareAndSet;
import io.saucr.crash.history.RegisterCall.Read;
import io.saucr.crash.history.RegisterCall.Write;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import us.bpsm.edn.EdnException;
import us.bpsm.edn.Keyword;
import us.bpsm.edn.parser.Parseable;
import us.bpsm.edn.parser.Parser;
import us.bpsm.edn.parser.Parsers;

/**
 * Histories as Jepsen writes them: one EDN map a line with {@code :index :time :type :process :f
 * :value}. The functions are {@code :read}, {@code :write} and {@code :cas}; a value is {@code
 * [register value]}, as {@code jepsen.independent} has it, and for cas {@code [register [old
 * new]]}. Faults have the process {@code :nemesis}. Stateless.
 */
public final class EdnHistory {
    private EdnHistory() {}

    /** Replaces the file. */
    public static void write(History history, Path file) throws IOException {
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            for (HistoryEvent event : history.events()) {
                writer.write(line(event, true));
                writer.write('\n');
            }
        }
    }

    /**
     * Each register's part as a history of its own, without the register in its values: what
     * Knossos' {@code cas-register} reads. Indices begin at 0 in each.
     *
     * @param folder gets {@code register-N.edn}
     */
    public static void writeRegisters(History history, Path folder) throws IOException {
        Files.createDirectories(folder);
        for (int key : history.operations().keySet()) {
            try (BufferedWriter writer =
                    Files.newBufferedWriter(folder.resolve("register-" + key + ".edn"))) {
                int index = 0;
                for (HistoryEvent event : history.events()) {
                    if (event instanceof HistoryEvent.Client client && client.call().key() == key) {
                        HistoryEvent own =
                                new HistoryEvent.Client(
                                        index++,
                                        client.timeNanos(),
                                        client.type(),
                                        client.process(),
                                        client.call());
                        writer.write(line(own, false));
                        writer.write('\n');
                    }
                }
            }
        }
    }

    private static String line(HistoryEvent event, boolean withKey) {
        String what;
        if (event instanceof HistoryEvent.Client client) {
            String value = value(client.call());
            what =
                    String.format(
                            Locale.ROOT,
                            ":type :%s, :process %d, :f :%s, :value %s",
                            client.type(),
                            client.process(),
                            function(client.call()),
                            withKey ? "[" + client.call().key() + " " + value + "]" : value);
        } else {
            HistoryEvent.Nemesis nemesis = (HistoryEvent.Nemesis) event;
            what =
                    String.format(
                            Locale.ROOT,
                            ":type :info, :process :nemesis, :f :%s, :value [%s]",
                            nemesis.fault(),
                            nemesis.servers().stream()
                                    .map(String::valueOf)
                                    .collect(Collectors.joining(" ")));
        }
        return "{:index " + event.index() + ", :time " + event.timeNanos() + ", " + what + "}";
    }

    private static String function(RegisterCall call) {
        return call instanceof Read ? "read" : call instanceof Write ? "write" : "cas";
    }

    private static String value(RegisterCall call) {
        if (call instanceof CompareAndSet cas) {
            return "[" + number(cas.expected()) + " " + number(cas.value()) + "]";
        }
        return number(call instanceof Read read ? read.value() : call.written().orElseThrow());
    }

    private static String number(long value) {
        return value == RegisterCall.NIL
                ? "nil"
                : value == RegisterCall.ABSENT ? ":absent" : Long.toString(value);
    }

    /**
     * @throws IOException if the file cannot be read, or holds no such history; the message names
     *     file and event
     */
    public static History read(Path file) throws IOException {
        List<HistoryEvent> events = new ArrayList<>();
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            Parseable text = Parsers.newParseable(reader);
            Parser parser = Parsers.newParser(Parsers.defaultConfiguration());
            Object next = parser.nextValue(text);
            while (next != Parser.END_OF_INPUT) {
                events.add(event((Map<?, ?>) next));
                next = parser.nextValue(text);
            }
            return new History(events);
        } catch (EdnException
                | ClassCastException
                | IllegalArgumentException
                | NullPointerException
                | IndexOutOfBoundsException e) {
            throw new IOException(
                    file + ", event " + events.size() + ": no event of a history of registers", e);
        }
    }

    private static HistoryEvent event(Map<?, ?> map) {
        int index = Math.toIntExact((Long) get(map, "index"));
        long time = (Long) get(map, "time");
        Object value = get(map, "value");
        String function = name(get(map, "f"));
        if (get(map, "process") instanceof Keyword) {
            List<Integer> servers = new ArrayList<>();
            for (Object server : (List<?>) value) {
                servers.add(Math.toIntExact((Long) server));
            }
            return new HistoryEvent.Nemesis(index, time, function, servers);
        }
        List<?> pair = (List<?>) value;
        int key = Math.toIntExact((Long) pair.get(0));
        RegisterCall call;
        switch (function) {
            case "read" -> call = new Read(key, number(pair.get(1)));
            case "write" -> call = new Write(key, number(pair.get(1)));
            case "cas" -> {
                List<?> change = (List<?>) pair.get(1);
                call = new CompareAndSet(key, number(change.get(0)), number(change.get(1)));
            }
            default -> throw new IllegalArgumentException(function);
        }
        return new HistoryEvent.Client(
                index,
                time,
                HistoryEvent.Type.valueOf(name(get(map, "type")).toUpperCase(Locale.ROOT)),
                Math.toIntExact((Long) get(map, "process")),
                call);
    }

    private static Object get(Map<?, ?> map, String key) {
        return map.get(Keyword.newKeyword(key));
    }

    private static String name(Object keyword) {
        return ((Keyword) keyword).getName();
    }

    private static long number(Object value) {
        return value == null
                ? RegisterCall.NIL
                : value instanceof Keyword ? RegisterCall.ABSENT : (Long) value;
    }
}
