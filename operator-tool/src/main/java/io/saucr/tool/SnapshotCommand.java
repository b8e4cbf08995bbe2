package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.EndpointException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code saucr snapshot}: one file with the whole tree. */
@Command(
        name = "snapshot",
        description = "Saves the whole tree in a file, examines such a file, restores from it.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            SnapshotCommand.Save.class,
            SnapshotCommand.Status.class,
            SnapshotCommand.Restore.class
        })
final class SnapshotCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }

    /** From a running server. */
    @Command(
            name = "save",
            description = {
                "Saves a snapshot of the first endpoint that gives one.",
                "It has every write that was acknowledged before the command began. The file appears when",
                "it is complete, checked and synced to disk; an existing file is not replaced.",
                "While clients write, the snapshot may show some later writes in part (kind fuzzy):",
                "'backup' then adds the log that completes it."
            })
    static final class Save implements Callable<Integer> {
        @Mixin private ConnectionOptions options;
        @Mixin private Output output;

        @Parameters(paramLabel = "FILE", description = "The new file.")
        private Path file;

        @Override
        public Integer call() throws InterruptedException {
            Connection connection = options.connection();
            try (NewFile target = NewFile.file(file)) {
                Taken taken = first(connection, target.partial(), output);
                target.commit();
                ObjectNode json = taken.snapshot().json();
                json.put("file", file.toString());
                json.put("endpoint", taken.from().name());
                print(json, output);
                return OperatorTool.FINE;
            } catch (IOException e) {
                throw NewFile.failure(file, e);
            }
        }
    }

    /**
     * Of the first server that gives one; those before it are named on the other output.
     *
     * @throws FailureException if none does
     */
    static Taken first(Connection connection, Path file, Output output)
            throws IOException, InterruptedException {
        for (Endpoint endpoint : connection.endpoints()) {
            try {
                return Taken.take(endpoint, connection, file);
            } catch (EndpointException | UnusableFileException e) {
                output.err().println(endpoint.name() + ": " + e.getMessage());
            }
        }
        throw new FailureException("no endpoint gave a snapshot; nothing was written");
    }

    private static void print(ObjectNode json, Output output) {
        if (output.json()) {
            output.print(json);
            return;
        }
        List<List<String>> rows = new ArrayList<>();
        json.fields()
                .forEachRemaining(
                        field -> rows.add(List.of(field.getKey(), field.getValue().asText())));
        output.out().println(Output.table(rows));
    }

    private static FailureException unreadable(IOException cause) {
        return new FailureException(
                cause instanceof UnusableFileException ? cause.getMessage() : cause.toString(),
                cause);
    }

    /**
     * Restores a backup into the folders of a server.
     *
     * @param logDir null if the server has no dataLogDir
     */
    static void restore(Backup backup, Path dataDir, Path logDir) {
        try {
            backup.restore(dataDir, logDir == null ? dataDir : logDir);
        } catch (IOException e) {
            throw NewFile.failure(dataDir, e);
        }
    }

    /** Adds to a result the folders into which it was restored. */
    static ObjectNode withFolders(ObjectNode json, Path dataDir, Path logDir) {
        json.put("dataDir", dataDir.toString());
        if (logDir != null) {
            json.put("logDir", logDir.toString());
        }
        return json;
    }

    /** Of a file. */
    @Command(
            name = "status",
            description = {
                "Reads a snapshot file, or a folder that 'backup' made, from end to end.",
                "Prints zxid, digest, nodes and bytes. Needs no server. Exits with 1 if it is torn,",
                "damaged, or no snapshot.",
                "kind: exact is the tree after that zxid; fuzzy shows some writes in part, since clients",
                "wrote meanwhile; unknown has no digest to decide it. complete: whether a backup is",
                "the state of one moment, with its log if it has one."
            })
    static final class Status implements Callable<Integer> {
        @Mixin private Output output;

        @Parameters(paramLabel = "FILE", description = "The file, or the folder of a backup.")
        private Path file;

        @Override
        public Integer call() {
            try {
                print(
                        Files.isDirectory(file)
                                ? Backup.read(file).json()
                                : Snapshot.read(file).json(),
                        output);
                return OperatorTool.FINE;
            } catch (IOException e) {
                throw unreadable(e);
            }
        }
    }

    /** Into the folders of a new server, or the memory of a running one. */
    @Command(
            name = "restore",
            description = {
                "Restores a snapshot, or a backup, into the folders of a stopped server without data.",
                "Do it with the same file on every server of the ensemble before the first of them",
                "starts: a server that has other data, or none, would have another history.",
                "With --running it replaces the memory of running servers of Apache's, as their command",
                "/commands/restore does; servers with SAUCR on are refused, for their log would win at the",
                "next start."
            })
    static final class Restore implements Callable<Integer> {
        @Mixin private ConnectionOptions options;
        @Mixin private Output output;
        @Spec private CommandSpec spec;

        @Parameters(paramLabel = "FILE", description = "The file, or the folder of a backup.")
        private Path file;

        @Option(
                names = "--data-dir",
                paramLabel = "DIR",
                description = "dataDir of the server's zoo.cfg.")
        private Path dataDir;

        @Option(
                names = "--log-dir",
                paramLabel = "DIR",
                description = "dataLogDir of the server's zoo.cfg, if it has one.")
        private Path logDir;

        @Option(
                names = "--accept-fuzzy",
                description =
                        "Takes a snapshot without the log behind it, though it may show writes in part.")
        private boolean acceptFuzzy;

        @Option(
                names = "--running",
                description =
                        "Replaces the state of every endpoint, all of them running servers of Apache's.")
        private boolean running;

        @Override
        public Integer call() throws InterruptedException {
            if (running == (dataDir != null) || (running && logDir != null)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "give either --data-dir, with --log-dir if zoo.cfg has a dataLogDir, or"
                                + " --running with --endpoints");
            }
            Connection connection = running ? options.connection() : null;
            Backup backup = source();
            return running ? intoMemory(backup, connection) : intoFolders(backup);
        }

        private Backup source() {
            Backup backup;
            try {
                backup = Files.isDirectory(file) ? Backup.read(file) : Backup.ofSnapshot(file);
            } catch (IOException e) {
                throw unreadable(e);
            }
            boolean enough = backup.complete() && (backup.log() == null || !running);
            if (!enough && !acceptFuzzy) {
                throw new FailureException(
                        file
                                + ": writes continued while it was taken, or it is unknown whether they"
                                + " did: it may show some of them in part. A folder of 'saucr backup' has"
                                + " the log that completes it; --accept-fuzzy takes it as it is");
            }
            return backup;
        }

        private int intoFolders(Backup backup) {
            restore(backup, dataDir, logDir);
            if (output.json()) {
                output.print(withFolders(backup.json(), dataDir, logDir));
                return OperatorTool.FINE;
            }
            output.out()
                    .println(
                            "Restored "
                                    + Snapshot.hex(backup.through())
                                    + " into "
                                    + dataDir
                                    + ". Do the same, with the same "
                                    + (backup.log() == null ? "file" : "folder")
                                    + ", on every server of the ensemble before the first one starts.");
            return OperatorTool.FINE;
        }

        /** All are asked before the first one is changed. */
        private int intoMemory(Backup backup, Connection connection) throws InterruptedException {
            for (Asked.Answer<JsonNode> answer :
                    Asked.all(
                            connection.endpoints(),
                            connection.patience(),
                            (endpoint, deadline) -> requireStock(endpoint, connection, deadline))) {
                if (answer.failed()) {
                    throw new FailureException(
                            answer.endpoint().name()
                                    + ": "
                                    + answer.problem().getMessage()
                                    + "; no server was changed");
                }
            }
            int failures = 0;
            ArrayNode json = JsonNodeFactory.instance.arrayNode();
            for (Endpoint endpoint : connection.endpoints()) {
                try {
                    JsonNode said =
                            new AdminClient(connection)
                                    .upload(
                                            endpoint,
                                            "restore",
                                            backup.snapshotFile(),
                                            Deadline.in(connection.silence()));
                    String zxid = Snapshot.hex(said.path("last_zxid").asLong());
                    json.addObject()
                            .put("endpoint", endpoint.name())
                            .put("replaced", true)
                            .put("zxid", zxid);
                    if (!output.json()) {
                        output.out().println(endpoint.name() + ": replaced, at " + zxid);
                    }
                } catch (EndpointException e) {
                    failures++;
                    json.addObject()
                            .put("endpoint", endpoint.name())
                            .put("replaced", false)
                            .put("problem", e.getMessage());
                    output.err().println(endpoint.name() + ": NOT replaced: " + e.getMessage());
                }
            }
            if (output.json()) {
                output.print(json);
            }
            output.err()
                    .println(
                            "In memory alone: at its next start a server shows what its own snapshots and"
                                    + " log have. To keep this, stop all of them and restore into their"
                                    + " folders (--data-dir).");
            return failures == 0 ? OperatorTool.FINE : OperatorTool.FAILED;
        }

        private static JsonNode requireStock(
                Endpoint endpoint, Connection connection, Deadline deadline)
                throws EndpointException {
            try {
                new AdminClient(connection).get(endpoint, "saucr", deadline);
            } catch (EndpointException e) {
                if (e.reason() == Reason.UNKNOWN_COMMAND) {
                    return new AdminClient(connection).get(endpoint, "ruok", deadline);
                }
                throw e;
            }
            throw new EndpointException(
                    Reason.REFUSED,
                    "has SAUCR on. It would show the snapshot until its next start or election, and then"
                            + " what its log has. Stop all servers, and restore into their folders"
                            + " (--data-dir)");
        }
    }
}
