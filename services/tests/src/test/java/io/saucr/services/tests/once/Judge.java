package io.saucr.services.tests.once;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * Compares what was left and told with a run in which each operation took effect exactly once, in
 * its client's order, or was refused exactly as reported. Stateless.
 */
final class Judge {
    private Judge() {}

    /**
     * @param told what each client has told of each operation, null where it has told nothing
     * @return one line for each violation, none if there is none
     */
    static List<String> violations(Workload workload, Tree found, List<List<Told>> told) {
        List<String> violations = new ArrayList<>();
        Tree reference = Workload.ground(workload.clients());
        for (int client = 0; client < workload.clients(); client++) {
            List<Step> steps = workload.steps().get(client);
            for (int number = 0; number < steps.size(); number++) {
                Told expected = reference.apply(steps.get(number));
                Told said = told.get(client).get(number);
                String what =
                        "client " + client + ", operation " + number + " " + steps.get(number);
                if (said == null) {
                    violations.add(what + ": told nothing");
                } else if (!expected.word().equals(said.word())) {
                    violations.add(what + ": told " + said + ", expected " + expected);
                } else {
                    checkName(what, expected, said, found, violations);
                }
            }
        }
        compare(reference, found, violations);
        checkSharedCounter(workload, found, violations);
        checkOrder(workload, reference, found, violations);
        return violations;
    }

    /** The name that was told is that of the node with this operation's data. */
    private static void checkName(
            String what, Told expected, Told said, Tree found, List<String> violations) {
        boolean shared = expected.name().startsWith(Workload.SHARED_QUEUE);
        if (!shared && !expected.name().equals(said.name())) {
            violations.add(what + ": told " + said + ", expected " + expected);
        }
        if (shared && found.node(said.name()) == null) {
            violations.add(what + ": told " + said + ", which is not there");
        }
    }

    private static void compare(Tree reference, Tree found, List<String> violations) {
        TreeSet<String> paths = new TreeSet<>(reference.nodes().keySet());
        paths.addAll(found.nodes().keySet());
        paths.remove("/");
        paths.remove(Workload.SHARED_COUNTER); // its last value is anybody's
        paths.removeIf(path -> path.startsWith(Workload.SHARED_QUEUE + "/")); // names as they come
        for (String path : paths) {
            Tree.Node expected = withoutTime(reference.node(path));
            Tree.Node actual = withoutTime(found.node(path));
            if (!Objects.equals(expected, actual)) {
                violations.add(path + " is " + actual + ", expected " + expected);
            }
        }
        Map<String, Integer> queued = new HashMap<>();
        reference
                .children(Workload.SHARED_QUEUE)
                .forEach(path -> queued.merge(reference.node(path).data(), -1, Integer::sum));
        found.children(Workload.SHARED_QUEUE)
                .forEach(path -> queued.merge(found.node(path).data(), 1, Integer::sum));
        queued.forEach(
                (data, more) -> {
                    if (more != 0) {
                        violations.add(
                                "the shared queue holds " + data + " " + more + " times too often");
                    }
                });
    }

    private static Tree.Node withoutTime(Tree.Node node) {
        return node == null
                ? null
                : new Tree.Node(node.data(), node.version(), node.childChanges(), 0);
    }

    private static void checkSharedCounter(Workload workload, Tree found, List<String> violations) {
        long expected =
                workload.steps().stream()
                        .flatMap(List::stream)
                        .filter(
                                step ->
                                        step instanceof Step.SetData set
                                                && set.path().equals(Workload.SHARED_COUNTER))
                        .count();
        Tree.Node counter = found.node(Workload.SHARED_COUNTER);
        if (counter == null || counter.version() != expected) {
            violations.add("the shared counter is " + counter + ", expected version " + expected);
        }
    }

    /** Nodes of one client came to be in the order of its operations. */
    private static void checkOrder(
            Workload workload, Tree reference, Tree found, List<String> violations) {
        Map<String, Long> createdByData = new HashMap<>();
        List<String> paths = new ArrayList<>(found.children(Workload.SHARED_QUEUE));
        for (int client = 0; client < workload.clients(); client++) {
            paths.addAll(reference.children(Workload.home(client)));
            paths.remove(Workload.counter(client)); // whose data was set later
            paths.addAll(reference.children(Workload.queue(client)));
        }
        for (String path : paths) {
            Tree.Node node = found.node(path);
            if (node != null) {
                createdByData.putIfAbsent(node.data(), node.created());
            }
        }
        for (int client = 0; client < workload.clients(); client++) {
            String before = "";
            long last = 0;
            for (int number = 0; number < workload.steps().get(client).size(); number++) {
                String data = client + ":" + number;
                long created = createdByData.getOrDefault(data, last);
                if (created < last) {
                    violations.add(data + " came before " + before);
                }
                if (createdByData.containsKey(data)) {
                    last = created;
                    before = data;
                }
            }
        }
    }
}
