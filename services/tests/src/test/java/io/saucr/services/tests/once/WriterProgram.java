package io.saucr.services.tests.once;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The process of one client: it makes its steps from the seed, does those that an earlier process
 * has told nothing of, and ends. Started by {@link WriterProcess}.
 */
public final class WriterProgram {
    /** It has stopped, and says why in the file {@value #REASON}. */
    static final int STOPPED = 3;

    static final String REASON = "stopped";

    private WriterProgram() {}

    /**
     * @param args way, connect string, client, clients, operations of each, seed, depth, folder
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        int client = Integer.parseInt(args[2]);
        Workload workload =
                Workload.seeded(
                        Integer.parseInt(args[3]),
                        Integer.parseInt(args[4]),
                        Long.parseLong(args[5]));
        List<Step> steps = workload.steps().get(client);
        Path folder = Path.of(args[7]);
        Writer.Task task =
                new Writer.Task(args[1], client, steps, Integer.parseInt(args[6]), folder);
        try (OutcomeFile outcomes = new OutcomeFile(folder)) {
            Writer.of(Writer.Way.valueOf(args[0])).run(task, outcomes);
        } catch (Writer.StoppedException e) {
            Files.writeString(folder.resolve(REASON), e.getMessage());
            System.exit(STOPPED);
        }
        // Threads of a client that has been closed shall not keep the process.
        System.exit(0);
    }
}
