package io.saucr.services.bench;

import io.saucr.services.bench.KvServer.Mark;
import io.saucr.services.bench.KvServer.Role;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The processes of one store: the first one answers, or with Hazelcast all do; the others stand by.
 * Used by one thread.
 */
final class KvCluster implements AutoCloseable {

    /**
     * Hazelcast's client completes calls by the common pool, which two processors would leave
     * unused: then each call starts a thread, and a twentieth of the calls is left.
     */
    static final String COMMON_POOL = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2";

    /** Threads that compile are there from begin to end, so that their time is known. */
    private static final List<String> FLAGS =
            List.of("-Xms512m", "-Xmx1g", "-XX:-UseDynamicNumberOfCompilerThreads", COMMON_POOL);

    private final String kind;
    private final List<TalkingProcess> servers = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();

    /** Run in reverse at the end. */
    private final Deque<Runnable> opened = new ArrayDeque<>();

    private final Optional<Path> segments;

    private KvCluster(String kind, Optional<Path> segments) {
        this.kind = kind;
        this.segments = segments;
    }

    /** One process. */
    static KvCluster alone(Path folder, Role role) throws Exception {
        return new KvCluster("services", Optional.empty())
                .with(it -> it.start(folder.resolve("log"), role.name(), data(folder, 0)));
    }

    /** Two members, and a server of an ensemble in a third process. */
    static KvCluster members(Path folder, Role role) throws Exception {
        Path first = folder.resolve("data-0");
        return new KvCluster("services", Optional.of(first))
                .with(
                        it -> {
                            ServerAlone ensemble = new ServerAlone(folder);
                            it.opened.push(ensemble::close);
                            String place = ensemble.connect() + "/" + KvService.NAME;
                            it.start(folder.resolve("log-0"), role.name(), data(folder, 0), place);
                            it.start(folder.resolve("log-1"), role.name(), data(folder, 1), place);
                        });
    }

    /** Two members. */
    static KvCluster hazelcast(Path folder, boolean waits) throws Exception {
        return new KvCluster("hazelcast", Optional.empty())
                .with(
                        it -> {
                            List<String> ports =
                                    TableCluster.freePorts(2).stream()
                                            .map(String::valueOf)
                                            .toList();
                            for (int member = 0; member < 2; member++) {
                                it.launch(
                                        folder.resolve("log-" + member),
                                        HazelcastMember.class,
                                        Boolean.toString(waits),
                                        ports.get(member),
                                        String.join(",", ports),
                                        "2");
                            }
                            for (TalkingProcess each : it.servers) {
                                it.addresses.add(each.next("at"));
                            }
                        });
    }

    private interface Beginning {
        void begin(KvCluster cluster) throws Exception;
    }

    private KvCluster with(Beginning beginning) throws Exception {
        boolean begun = false;
        try {
            beginning.begin(this);
            begun = true;
            return this;
        } finally {
            if (!begun) {
                close();
            }
        }
    }

    private static String data(Path folder, int member) {
        return folder.resolve("data-" + member).toString();
    }

    private void start(Path log, String... arguments) throws IOException, InterruptedException {
        launch(log, KvServer.class, arguments);
        String at = servers.get(servers.size() - 1).next("at");
        if (addresses.isEmpty()) {
            addresses.add(at);
        }
    }

    private void launch(Path log, Class<?> program, String... arguments) throws IOException {
        TalkingProcess process = new TalkingProcess(log, FLAGS, program, arguments);
        opened.push(process::close);
        servers.add(process);
    }

    /** What {@link KvLoad} is told of it first. */
    List<String> forClients() {
        return List.of(kind, String.join(",", addresses));
    }

    /** Where the first process keeps its segments, if it has such. */
    Optional<Path> segments() {
        return segments;
    }

    /** What the first process has written so far. */
    Mark mark() throws IOException {
        servers.get(0).tell();
        String[] numbers = servers.get(0).next("mark").split(" ");
        return new Mark(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
    }

    /** Of who answers clients, since its start. */
    Duration answering() throws IOException {
        return kind.equals("hazelcast") ? all() : servers.get(0).processorTime();
    }

    /** Of all members, since their start; the ensemble's apart. */
    Duration all() throws IOException {
        Duration sum = Duration.ZERO;
        for (TalkingProcess server : servers) {
            sum = sum.plus(server.processorTime());
        }
        return sum;
    }

    /** Of the first process. */
    long mostMemory() throws IOException {
        return servers.get(0).mostMemory();
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
    }
}
