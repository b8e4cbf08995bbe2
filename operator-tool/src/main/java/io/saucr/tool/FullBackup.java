package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.AdminClient.Download;
import io.saucr.tool.EndpointException.Reason;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A backup that a server gave.
 *
 * @param from the server
 * @param made when it was finished
 */
record FullBackup(Endpoint from, Backup backup, Instant made) {
    /**
     * Takes one from the first endpoint that gives it. Those before it are named on the other
     * output.
     *
     * @param partial an empty folder, for its files
     * @param acceptFuzzy whether to keep a snapshot without the log that completes it
     * @throws FailureException if no endpoint gives one
     */
    static FullBackup make(
            Connection connection, Path partial, boolean acceptFuzzy, PrintWriter err)
            throws IOException, InterruptedException {
        for (Endpoint endpoint : connection.endpoints()) {
            try {
                return of(endpoint, connection, partial, acceptFuzzy);
            } catch (EndpointException | UnusableFileException e) {
                err.println(endpoint.name() + ": " + e.getMessage());
            }
        }
        throw new FailureException("no endpoint gave a backup; nothing was written");
    }

    /**
     * Takes one from an endpoint.
     *
     * @param partial an empty folder, for its files; empty again if this fails
     * @param acceptFuzzy whether to keep a snapshot without the log that completes it
     * @throws EndpointException if it gives none
     * @throws UnusableFileException if what it gives cannot be used
     */
    static FullBackup of(
            Endpoint endpoint, Connection connection, Path partial, boolean acceptFuzzy)
            throws IOException, InterruptedException {
        Path snapshotFile = partial.resolve("snapshot");
        Path logFile = partial.resolve("log");
        try {
            Taken taken = Taken.take(endpoint, connection, snapshotFile);
            LogFile log = null;
            boolean exact = taken.snapshot().kind() == Snapshot.Kind.EXACT;
            // A digest does not count what is below /zookeeper: where writes came, the log tells.
            if (!exact || taken.begun() != taken.snapshot().zxid()) {
                log = log(taken, connection, logFile, acceptFuzzy);
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
            Instant made = Instant.now();
            facts.put("made", made.truncatedTo(ChronoUnit.SECONDS).toString());
            facts.put("endpoint", endpoint.name());
            backup.describe(partial, facts);
            return new FullBackup(endpoint, Backup.read(partial), made);
        } catch (EndpointException | UnusableFileException e) {
            Files.deleteIfExists(snapshotFile);
            Files.deleteIfExists(logFile);
            throw e;
        }
    }

    /**
     * The log behind a snapshot; null if the server gives none, and that is accepted, or the
     * snapshot is exact as far as its digest tells.
     */
    private static LogFile log(Taken taken, Connection connection, Path file, boolean acceptFuzzy)
            throws IOException {
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
