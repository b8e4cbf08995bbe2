package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.AdminClient.Download;
import io.saucr.tool.EndpointException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code saucr backup}: all that a new ensemble needs to begin with. */
@Command(
        name = "backup",
        description = {
            "Makes a folder with all that a new ensemble needs.",
            "It has a snapshot of the first endpoint that gives one, and, if clients wrote meanwhile,",
            "the log that makes it the state of one moment. It has every write that was acknowledged",
            "before the command began. The folder appears when it is complete, checked and synced to",
            "disk; an existing folder is not replaced.",
            "'snapshot restore' restores it into the folders of new servers."
        })
final class BackupCommand implements Callable<Integer> {
    @Mixin private ConnectionOptions options;
    @Mixin private Output output;

    @Parameters(paramLabel = "FOLDER", description = "The new folder.")
    private Path folder;

    @Option(
            names = "--accept-fuzzy",
            description =
                    "Where a server cannot give the log, as those of Apache's, keeps a snapshot that may"
                            + " show writes in part.")
    private boolean acceptFuzzy;

    @Override
    public Integer call() throws InterruptedException {
        Connection connection = options.connection();
        try (NewFile target = NewFile.folder(folder)) {
            Backup made = make(connection, target.partial());
            target.commit();
            ObjectNode json = made.json();
            json.put("folder", folder.toString());
            if (output.json()) {
                output.print(json);
            } else {
                output.out()
                        .println(
                                "Backed up %s in %s: %s."
                                        .formatted(
                                                Snapshot.hex(made.through()),
                                                folder,
                                                contents(made)));
            }
            return OperatorTool.FINE;
        } catch (IOException e) {
            throw NewFile.failure(folder, e);
        }
    }

    private static String contents(Backup made) {
        long nodes = made.snapshot().nodes();
        return made.log() == null
                ? nodes + " nodes"
                : ("a snapshot of %d nodes, and the log of %d writes that came meanwhile; the snapshot"
                                + " may show some of them already")
                        .formatted(nodes, made.log().entries());
    }

    private Backup make(Connection connection, Path partial)
            throws IOException, InterruptedException {
        Path snapshotFile = partial.resolve("snapshot");
        Path logFile = partial.resolve("log");
        for (Endpoint endpoint : connection.endpoints()) {
            try {
                Taken taken = Taken.take(endpoint, connection, snapshotFile);
                LogFile log = null;
                boolean exact = taken.snapshot().kind() == Snapshot.Kind.EXACT;
                // A digest does not count what is below /zookeeper: where writes came, the log
                // tells.
                if (!exact || taken.begun() != taken.snapshot().zxid()) {
                    log = log(taken, connection, logFile);
                }
                boolean complete = exact || log != null;
                if (log != null && log.entries() == 0) {
                    // Servers want an entry in a log; that nothing was written is all it said.
                    Files.delete(logFile);
                    log = null;
                }
                Backup backup =
                        new Backup(
                                snapshotFile,
                                taken.snapshot(),
                                exact && log == null ? taken.snapshot().zxid() : taken.begun(),
                                complete,
                                log == null ? null : logFile,
                                log);
                ObjectNode facts = JsonNodeFactory.instance.objectNode();
                facts.put("made", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
                facts.put("endpoint", endpoint.name());
                backup.describe(partial, facts);
                return Backup.read(partial);
            } catch (EndpointException | UnusableFileException e) {
                output.err().println(endpoint.name() + ": " + e.getMessage());
                Files.deleteIfExists(snapshotFile);
                Files.deleteIfExists(logFile);
            }
        }
        throw new FailureException("no endpoint gave a backup; nothing was written");
    }

    /**
     * The log behind a snapshot; null if the server gives none, and that is accepted, or the
     * snapshot is exact as far as its digest tells.
     */
    private LogFile log(Taken taken, Connection connection, Path file) throws IOException {
        try (Download download =
                new AdminClient(connection)
                        .download(
                                taken.from(),
                                "saucr/log?after=" + Snapshot.hex(taken.begun()),
                                Deadline.in(connection.silence()))) {
            NewFile.write(download.in(), file);
        } catch (EndpointException e) {
            if (e.reason() != Reason.UNKNOWN_COMMAND) {
                throw e;
            }
            if (acceptFuzzy || taken.snapshot().kind() == Snapshot.Kind.EXACT) {
                return null;
            }
            throw new EndpointException(
                    Reason.REFUSED,
                    (taken.snapshot().kind() == Snapshot.Kind.FUZZY
                                    ? "clients wrote while it took its snapshot"
                                    : "its snapshot has no digest that tells whether clients wrote"
                                            + " meanwhile")
                            + ", so that may show writes in part, and the log behind it is given by"
                            + " servers with SAUCR on alone. --accept-fuzzy keeps it all the same");
        }
        LogFile log = LogFile.read(file, taken.begun(), taken.snapshot().zxid());
        if (log.entries() == 0 && taken.snapshot().kind() == Snapshot.Kind.FUZZY) {
            throw new UnusableFileException(
                    "its snapshot does not fit its digest, or lacks ACLs of its nodes, though nothing"
                            + " was written meanwhile: its tree is damaged");
        }
        return log;
    }
}
