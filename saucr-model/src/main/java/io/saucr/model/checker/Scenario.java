package io.saucr.model.checker;

import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.ClusterText;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.StateCodec;
import io.saucr.model.cluster.Step;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A schedule as text, in the style of the core's scenario files: a line is an input, the lines
 * below it that begin with two spaces say what came of it. Empty lines, and lines that begin with
 * #, are for the reader.
 *
 * <pre>
 * world 3 breaking R20_NO_NOTICE
 * elect 1 with 1,2
 *   1 leading not yet, committed 0, epoch 1, log, markers: on disk
 *   ...
 * intact
 *   passes
 * </pre>
 *
 * The first input names the number of voters and the broken rules. A step answers with the servers
 * that it changed, and with the invariant that it broke; what comes of that shows in the steps
 * after it. {@code alone} runs the cluster on without faults and answers whether it serves again.
 * {@code intact} plays all steps before it in a cluster that keeps every rule.
 */
public final class Scenario {
    private static final String INDENT = "  ";

    private ModelCluster cluster;
    private Set<BrokenRule> broken = Set.of();
    private final List<String> played = new ArrayList<>();

    private Scenario() {}

    /** The lines with every answer replaced by what comes of the inputs now. */
    public static List<String> replay(List<String> lines) {
        Scenario scenario = new Scenario();
        List<String> result = new ArrayList<>();
        for (String line : lines) {
            if (line.startsWith(INDENT)) {
                continue;
            }
            result.add(line);
            if (!line.isBlank() && !line.startsWith("#")) {
                for (String answer : scenario.answers(line)) {
                    result.add(INDENT + answer);
                }
            }
        }
        return result;
    }

    /**
     * The steps of a scenario that a search can begin behind.
     *
     * @throws IllegalArgumentException with the line that is no step, or not one that a cluster of
     *     so many servers allows there
     */
    static List<String> steps(int servers, Set<BrokenRule> broken, List<String> lines) {
        ModelCluster cluster = new ModelCluster(servers, Bounds.none(), broken);
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#") || line.startsWith(INDENT)) {
                continue;
            }
            try {
                if (line.startsWith("world ")) {
                    require(
                            (line + " ").startsWith("world " + servers + " "),
                            "the search is of " + servers + " servers");
                    continue;
                }
                require(enabled(cluster, line), "no server can do that here");
                require(cluster.apply(Step.parse(line)), "breaks " + cluster.violation());
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "line " + (i + 1) + ", '" + line + "': " + e.getMessage(), e);
            }
            steps.add(line);
        }
        return steps;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private List<String> answers(String line) {
        if (line.startsWith("world ")) {
            begin(line.split("\\s+"));
            return List.of();
        }
        return switch (line) {
            case "alone" -> List.of(alone(cluster, broken));
            case "intact" -> List.of(intact());
            default -> step(line);
        };
    }

    private void begin(String[] words) {
        EnumSet<BrokenRule> rules = EnumSet.noneOf(BrokenRule.class);
        for (int i = 3; i < words.length; i++) {
            rules.add(BrokenRule.valueOf(words[i]));
        }
        broken = rules;
        cluster = new ModelCluster(Integer.parseInt(words[1]), Bounds.none(), rules);
    }

    private List<String> step(String line) {
        if (!enabled(cluster, line)) {
            return List.of("not enabled");
        }
        played.add(line);
        String[] before = describe();
        cluster.goOn();
        cluster.apply(Step.parse(line));
        String[] after = describe();
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < after.length; i++) {
            if (!after[i].equals(before[i])) {
                answers.add(after[i]);
            }
        }
        if (cluster.violation() != null) {
            answers.add("broken: " + cluster.violation() + ": " + cluster.explanation());
        }
        return answers;
    }

    private String[] describe() {
        String[] lines = new String[cluster.servers()];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = ClusterText.describe(cluster, i);
        }
        return lines;
    }

    private String intact() {
        ModelCluster sound = new ModelCluster(cluster.servers(), Bounds.none());
        for (String step : played) {
            if (!enabled(sound, step)) {
                return "does not allow: " + step;
            }
            if (!sound.apply(Step.parse(step))) {
                return "broken: " + sound.violation() + ": " + sound.explanation();
            }
        }
        return "passes, and alone it " + alone(sound, Set.of());
    }

    private static String alone(ModelCluster cluster, Set<BrokenRule> broken) {
        byte[] state = new byte[StateCodec.MAX_BYTES];
        new StateCodec(cluster.servers()).encode(cluster, state);
        ModelCluster copy = new ModelCluster(cluster.servers(), Bounds.none(), broken);
        new StateCodec(cluster.servers()).decode(copy, state);
        Liveness liveness = new Liveness(copy);
        return liveness.promised() && liveness.run() != null ? "is stuck" : "serves";
    }

    private static boolean enabled(ModelCluster cluster, String text) {
        int wanted = Step.parse(text);
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        int count = cluster.enabled(steps);
        for (int i = 0; i < count; i++) {
            if (steps[i] == wanted) {
                return true;
            }
        }
        return false;
    }
}
