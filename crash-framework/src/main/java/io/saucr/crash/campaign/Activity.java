package io.saucr.crash.campaign;

import java.util.List;
import java.util.Map;

/**
 * What the client and the servers' disks did while a sequence ran, in slices of equal length from
 * its beginning, numbered from 0; a slice without anything is left out. Written to JSON as it
 * stands.
 *
 * @param acknowledged writes whose acknowledgement counts, by slice
 * @param flushes successful forces of its files by slice, of each server by number
 */
public record Activity(
        int sliceMillis, Map<Integer, Integer> acknowledged, List<Map<Integer, Integer>> flushes) {
    /** Of a model, which has neither. */
    public static final Activity NONE = new Activity(1, Map.of(), List.of());

    public Activity {
        acknowledged = Map.copyOf(acknowledged);
        flushes = flushes.stream().map(Map::copyOf).toList();
    }
}
