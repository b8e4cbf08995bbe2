package io.saucr.services.examples.mapreduce;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.examples.Survives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Runs a coordinator or a worker as a process of its own, or gives the coordinator a job. */
public final class MapReduceProcess {

    private static final int MOST_SHOWN = 10;
    private static final String USAGE =
            "arguments: serve PROTECTION PLACE FOLDER | begin PLACE REDUCERS FILE..."
                    + " | work PLACE NAME | result PLACE\n"
                    + "  PROTECTION  local, or standby with the same line for each member\n"
                    + "  PLACE       as 127.0.0.1:2181/words\n"
                    + "  FOLDER      of the coordinator, each member its own\n"
                    + "  NAME        of the worker";

    private MapReduceProcess() {}

    /** Serves until it is killed, works until all is done, or asks once. */
    public static void main(String[] arguments) throws Exception {
        String what = arguments.length == 0 ? "" : arguments[0];
        if (what.equals("serve") && arguments.length == 4) {
            Survives.serve(arguments[1], arguments[2], Path.of(arguments[3]), Coordinator::new);
        } else if (what.equals("begin") && arguments.length >= 4) {
            begin(
                    arguments[1],
                    Integer.parseInt(arguments[2]),
                    List.of(arguments).subList(3, arguments.length));
        } else if (what.equals("work") && arguments.length == 3) {
            work(arguments[1], arguments[2]);
        } else if (what.equals("result") && arguments.length == 2) {
            result(arguments[1]);
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void begin(String place, int reducers, List<String> files) throws IOException {
        List<String> texts = new ArrayList<>();
        for (String file : files) {
            texts.add(Files.readString(Path.of(file)));
        }
        try (Client client = Services.at(place).client("begins")) {
            Coordinator.Noted unused =
                    client.ask(new Coordinator.Begin(texts, reducers), Coordinator.Noted.class)
                            .join();
        }
        System.out.println(texts.size() + " texts, " + reducers + " reducers");
    }

    private static void work(String place, String name) throws Exception {
        try (Client client = Services.at(place).client(name)) {
            int done = new Worker(new CoordinatorTasks(client)).work();
            System.out.println(name + " did " + done + " tasks");
        }
    }

    private static void result(String place) throws IOException {
        try (Client client = Services.at(place).client()) {
            Map<String, Long> all =
                    client.ask(new Coordinator.Ask(), Coordinator.Counts.class).join().byWord();
            System.out.println(all.size() + " words");
            all.entrySet().stream()
                    .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                    .limit(MOST_SHOWN)
                    .forEach(it -> System.out.println(it.getValue() + " " + it.getKey()));
        }
    }
}
