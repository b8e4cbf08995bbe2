package io.saucr.core;

import static java.util.stream.Collectors.joining;

import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * A line of a scenario: a command, words, and {@code name=value} pairs. Zxids are written {@code
 * epoch.counter}, lists {@code 1,2,3}, LLE maps {@code 1:2.7,2:2.5}, "-" is an empty list or map.
 */
public final class ScenarioInput {
    private final String line;
    private final List<String> words = new ArrayList<>();
    private final TreeMap<String, String> named = new TreeMap<>();
    private int next = 1;

    ScenarioInput(String line) {
        this.line = line;
        for (String word : line.trim().split("\\s+")) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                named.put(word.substring(0, equals), word.substring(equals + 1));
            } else {
                words.add(word);
            }
        }
    }

    public String command() {
        return words.get(0);
    }

    public boolean hasWord() {
        return next < words.size();
    }

    public String word() {
        return words.get(next++);
    }

    public long number() {
        return Long.parseLong(word());
    }

    public long zxid() {
        return parsed(word());
    }

    public Mode mode() {
        return "fast".equals(word()) ? Mode.FAST : Mode.SLOW;
    }

    public boolean has(String name) {
        return named.containsKey(name);
    }

    public String text(String name, String otherwise) {
        return named.getOrDefault(name, otherwise);
    }

    public long number(String name, long otherwise) {
        return has(name) ? Long.parseLong(named.get(name)) : otherwise;
    }

    public long zxid(String name) {
        return parsed(named.getOrDefault(name, "0.0"));
    }

    public List<Long> sids(String name) {
        return split(named.getOrDefault(name, "-")).stream().map(Long::valueOf).toList();
    }

    public LleMap map(String name) {
        LleMap map = LleMap.empty();
        for (String pair : split(named.getOrDefault(name, "-"))) {
            String[] sides = pair.split(":");
            map = map.with(Long.parseLong(sides[0]), parsed(sides[1]));
        }
        return map;
    }

    /** A log: its base and the end of each epoch, {@code 1.0/1.7,3.2}. */
    public EpochEnds epochEnds(String name) {
        String[] sides = named.get(name).split("/");
        long[] ends = split(sides[1]).stream().mapToLong(ScenarioInput::parsed).toArray();
        return EpochEnds.of(parsed(sides[0]), ends);
    }

    /** All zxids of a list, where {@code 1.3-1.5} stands for three of them. */
    public List<Long> zxids(String name) {
        List<Long> zxids = new ArrayList<>();
        for (String item : split(named.getOrDefault(name, "-"))) {
            String[] ends = item.split("-");
            for (long z = parsed(ends[0]); z <= parsed(ends[ends.length - 1]); z++) {
                zxids.add(z);
            }
        }
        return zxids;
    }

    public IllegalArgumentException unknown() {
        throw new AssertionError("no such input: " + line);
    }

    public static String show(long zxid) {
        return Zxid.epoch(zxid) + "." + Zxid.counter(zxid);
    }

    public static String show(LleMap map) {
        List<String> pairs = new ArrayList<>();
        map.forEach((sid, zxid) -> pairs.add(sid + ":" + show(zxid)));
        return pairs.isEmpty() ? "-" : String.join(",", pairs);
    }

    public static String show(View view) {
        return view.members().stream().map(sid -> Long.toString(sid)).collect(joining(","))
                + " of "
                + view.voters();
    }

    private static long parsed(String text) {
        String[] halves = text.split("\\.");
        return Zxid.of(Long.parseLong(halves[0]), Long.parseLong(halves[1]));
    }

    private static List<String> split(String list) {
        return "-".equals(list) ? List.of() : List.of(list.split(","));
    }
}
