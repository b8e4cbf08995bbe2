package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What one ensemble did over time while servers were killed and returned. Immutable.
 *
 * @param points in order of time
 * @param events in order of time
 */
public record Timeline(
        String configuration, int round, List<TimelinePoint> points, List<TimelineEvent> events) {
    public Timeline {
        points = List.copyOf(points);
        events = List.copyOf(events);
    }

    /**
     * The time from one event to the next.
     *
     * @param from in seconds
     * @param until in seconds
     * @param servers that ran at its end
     * @param modes of the leader, in the order in which they were seen
     * @param throughput operations per second over the whole phase
     * @param after the event at its beginning
     */
    public record Phase(
            double from,
            double until,
            int servers,
            String modes,
            double throughput,
            String after) {}

    /** The timelines of a result. */
    public static List<Timeline> of(RunResult result) {
        Map<String, List<TimelinePoint>> points =
                result.timeline().stream()
                        .collect(
                                Collectors.groupingBy(
                                        each -> each.configuration() + " " + each.round(),
                                        LinkedHashMap::new,
                                        Collectors.toList()));
        List<Timeline> lines = new ArrayList<>();
        for (List<TimelinePoint> own : points.values()) {
            TimelinePoint any = own.get(0);
            lines.add(
                    new Timeline(
                            any.configuration(),
                            any.round(),
                            own,
                            result.events().stream()
                                    .filter(
                                            event ->
                                                    event.configuration()
                                                                    .equals(any.configuration())
                                                            && event.round() == any.round())
                                    .toList()));
        }
        return lines;
    }

    /** From one event to the next, and to the end. */
    public List<Phase> phases() {
        List<Phase> phases = new ArrayList<>();
        double from = 0;
        String after = "the beginning";
        for (TimelineEvent event : events) {
            add(phases, from, event.seconds(), after);
            from = event.seconds();
            after = event.what();
        }
        add(phases, from, Double.MAX_VALUE, after);
        return phases;
    }

    private void add(List<Phase> phases, double from, double until, String after) {
        List<TimelinePoint> own =
                points.stream()
                        .filter(point -> point.seconds() > from && point.seconds() <= until)
                        .toList();
        if (own.isEmpty()) {
            return;
        }
        List<String> modes = new ArrayList<>();
        for (TimelinePoint point : own) {
            if (modes.isEmpty() || !modes.get(modes.size() - 1).equals(point.mode())) {
                modes.add(point.mode());
            }
        }
        TimelinePoint last = own.get(own.size() - 1);
        phases.add(
                new Phase(
                        from,
                        last.seconds(),
                        last.servers(),
                        String.join(">", modes),
                        own.stream().mapToDouble(TimelinePoint::throughput).average().orElse(0),
                        after));
    }
}
