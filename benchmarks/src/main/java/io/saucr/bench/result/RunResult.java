package io.saucr.bench.result;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import java.util.Map;

/**
 * Everything that one run measured, as it stands in {@code result.json}; what was not measured is
 * an empty list. Immutable.
 *
 * @param title names the run
 * @param plan what was to be measured, with every configuration
 * @param begun when the run began, ISO 8601 with zone
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record RunResult(
        String title,
        String begun,
        Map<String, Object> plan,
        Machine machine,
        List<Slice> slices,
        List<TimeSample> times,
        List<TimelinePoint> timeline,
        List<TimelineEvent> events,
        List<StageCost> stages,
        List<MethodShare> methods,
        List<FlappingSample> flapping,
        List<BurstSample> bursts) {
    public RunResult {
        slices = slices == null ? List.of() : List.copyOf(slices);
        times = times == null ? List.of() : List.copyOf(times);
        timeline = timeline == null ? List.of() : List.copyOf(timeline);
        events = events == null ? List.of() : List.copyOf(events);
        stages = stages == null ? List.of() : List.copyOf(stages);
        methods = methods == null ? List.of() : List.copyOf(methods);
        flapping = flapping == null ? List.of() : List.copyOf(flapping);
        bursts = bursts == null ? List.of() : List.copyOf(bursts);
    }

    /** The same with slices. */
    public RunResult withSlices(List<Slice> measured) {
        return new RunResult(
                title, begun, plan, machine, measured, times, timeline, events, stages, methods,
                flapping, bursts);
    }

    /** The same with times. */
    public RunResult withTimes(List<TimeSample> measured) {
        return new RunResult(
                title, begun, plan, machine, slices, measured, timeline, events, stages, methods,
                flapping, bursts);
    }

    /** The same with a timeline. */
    public RunResult withTimeline(List<TimelinePoint> points, List<TimelineEvent> happened) {
        return new RunResult(
                title, begun, plan, machine, slices, times, points, happened, stages, methods,
                flapping, bursts);
    }

    /** The same with a profile. */
    public RunResult withProfile(List<StageCost> costs, List<MethodShare> shares) {
        return new RunResult(
                title, begun, plan, machine, slices, times, timeline, events, costs, shares,
                flapping, bursts);
    }

    /** The same with samples of ensembles with a flapping server. */
    public RunResult withFlapping(List<FlappingSample> measured) {
        return new RunResult(
                title, begun, plan, machine, slices, times, timeline, events, stages, methods,
                measured, bursts);
    }

    /** The same with samples of bursts. */
    public RunResult withBursts(List<BurstSample> measured) {
        return new RunResult(
                title, begun, plan, machine, slices, times, timeline, events, stages, methods,
                flapping, measured);
    }
}
