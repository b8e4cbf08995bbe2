package io.saucr.services.tests.once;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What the clients do, made from a seed. Each client works on nodes of its own, where every outcome
 * follows from the order of its operations, refusals among them, and on nodes that it shares with
 * the others. Immutable.
 *
 * @param steps those of each client, in order
 */
public record Workload(List<List<Step>> steps) {
    private static final int STRETCH = 30;
    static final String SHARED = "/shared";
    static final String SHARED_QUEUE = SHARED + "/queue";
    static final String SHARED_COUNTER = SHARED + "/counter";

    public Workload {
        steps = steps.stream().map(List::copyOf).toList();
    }

    /**
     * @param each how many operations each client has
     */
    static Workload seeded(int clients, int each, long seed) {
        List<List<Step>> all = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            all.add(new Author(client, new Random(seed * 31 + client)).write(each));
        }
        return new Workload(all);
    }

    /** One client and these steps. */
    static Workload of(Step... steps) {
        return new Workload(List.of(List.of(steps)));
    }

    static String home(int client) {
        return "/c" + client;
    }

    /** The children of it are this client's alone. */
    static String queue(int client) {
        return home(client) + "/queue";
    }

    /** Set by this client alone. */
    static String counter(int client) {
        return home(client) + "/counter";
    }

    int clients() {
        return steps.size();
    }

    int operations() {
        return steps.stream().mapToInt(List::size).sum();
    }

    /** What is there before the clients start. */
    static Tree ground(int clients) {
        Tree tree = new Tree();
        List<String> paths = new ArrayList<>(List.of(SHARED, SHARED_QUEUE, SHARED_COUNTER));
        for (int client = 0; client < clients; client++) {
            paths.addAll(List.of(home(client), queue(client), counter(client)));
        }
        for (String path : paths) {
            Told told = tree.apply(new Step.Create(path, ""));
            if (!told.isDone()) {
                throw new IllegalStateException(path + ": " + told);
            }
        }
        return tree;
    }

    /** Draws steps, and knows what its own nodes will be when each is taken. */
    private static final class Author {
        private final int client;
        private final Random random;
        private final Tree own;
        private final List<String> made = new ArrayList<>();

        Author(int client, Random random) {
            this.client = client;
            this.random = random;
            this.own = ground(client + 1);
        }

        List<Step> write(int count) {
            List<Step> steps = new ArrayList<>();
            for (int number = 0; number < count; number++) {
                Step step = draw(number);
                own.apply(step);
                steps.add(step);
            }
            return steps;
        }

        private Step draw(int number) {
            String data = client + ":" + number;
            // A stretch in which all may be under way at once, one with sequential creates, which
            // nothing may follow (E6), one with refusals, too, which break the chain (E4).
            boolean sequential = number / STRETCH % 3 > 0;
            boolean refusals = number / STRETCH % 3 == 2;
            int version = own.node(counter(client)).version();
            return switch (random.nextInt(12)) {
                case 0, 1, 2 -> create(number, data);
                case 3 -> enqueue(queue(client), sequential, number, data);
                case 4 -> enqueue(SHARED_QUEUE, sequential, number, data);
                case 5, 6 -> new Step.SetData(counter(client), data, version);
                case 7 -> new Step.SetData(SHARED_COUNTER, data, -1);
                case 8 -> made.isEmpty() ? create(number, data) : delete();
                case 9 ->
                        new Step.Multi(
                                List.of(
                                        new Step.Check(counter(client), version),
                                        new Step.SetData(counter(client), data, version),
                                        create(number, data)));
                case 10 ->
                        new Step.SetData(counter(client), data, refusals ? version + 1 : version);
                default ->
                        !refusals
                                ? create(number, data)
                                : new Step.Multi( // NoNode
                                        List.of(
                                                new Step.Create(home(client) + "/n" + number, data),
                                                new Step.Delete(home(client) + "/none", -1)));
            };
        }

        private Step enqueue(String queue, boolean sequential, int number, String data) {
            return sequential
                    ? new Step.CreateSequential(queue + "/q-", data)
                    : create(number, data);
        }

        private Step create(int number, String data) {
            String path = home(client) + "/n" + number;
            made.add(path);
            return new Step.Create(path, data);
        }

        private Step delete() {
            return new Step.Delete(made.remove(random.nextInt(made.size())), 0);
        }
    }
}
