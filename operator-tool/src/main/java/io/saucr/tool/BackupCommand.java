package io.saucr.tool;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code saucr backup}: all that a new ensemble needs to begin with. */
@Command(
        name = "backup",
        description = {
            "Makes a folder with all that a new ensemble needs, or keeps an archive of backups.",
            "The folder has a snapshot of the first endpoint that gives one, and, if clients wrote",
            "meanwhile, the log that makes it the state of one moment. It has every write that was",
            "acknowledged before the command began. It appears when it is complete, checked and synced",
            "to disk; an existing folder is not replaced. 'snapshot restore' restores it into the folders",
            "of new servers.",
            "An archive (--to) has full backups and the log between them: 'backup restore' restores any",
            "point of it. With --every the command runs until it is stopped, and repeats what fails;",
            "without, it adds one full backup and exits."
        },
        subcommands = {
            ArchiveCommands.Status.class,
            ArchiveCommands.Verify.class,
            ArchiveCommands.Restore.class,
        })
final class BackupCommand implements Callable<Integer> {
    private static final Duration LOG_EVERY = Duration.ofMinutes(1);

    @Mixin private ConnectionOptions options;
    @Mixin private Output output;
    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "FOLDER",
            arity = "0..1",
            description = "The new folder of a single backup.")
    private Path folder;

    @Option(
            names = "--accept-fuzzy",
            description =
                    "Where a server cannot give the log, as those of Apache's, keeps a snapshot that may"
                            + " show writes in part. For a single backup.")
    private boolean acceptFuzzy;

    @Option(
            names = "--to",
            paramLabel = "ARCHIVE",
            description =
                    "Adds to this archive instead: a folder, or s3://BUCKET/FOLDER with region,"
                            + " credentials and AWS_ENDPOINT_URL as the tools of AWS take them.")
    private String archive;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            description = "Runs on, and makes a full backup that often: " + Durations.FORM + ".")
    private String every;

    @Option(
            names = "--once",
            description =
                    "With --every: makes one round and exits, for cron. The full backup is made if the"
                            + " newest one is older than that.")
    private boolean once;

    @Option(
            names = "--log-every",
            paramLabel = "TIME",
            description = "Archives the log between them that often. Default: 1m.")
    private String logEvery;

    @Option(
            names = "--keep",
            paramLabel = "TIME",
            description =
                    "Removes what is not needed to restore any point of this time, after each full"
                            + " backup. Default: keeps everything.")
    private String keep;

    @Option(
            names = "--scratch",
            paramLabel = "DIR",
            description =
                    "Where temporary files go: as large as a full backup. Default: the system's folder of"
                            + " temporary files.")
    private Path scratchFolder;

    @Override
    public Integer call() throws InterruptedException {
        if ((folder == null) == (archive == null)
                || (archive == null && (every != null || keep != null || scratchFolder != null))
                || (every == null && (once || logEvery != null))
                || (archive != null && acceptFuzzy)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "give either FOLDER, for a single backup, or --to ARCHIVE, with --every to run on");
        }
        return archive == null ? single() : archive();
    }

    private int single() throws InterruptedException {
        Connection connection = options.connection();
        try (NewFile target = NewFile.folder(folder)) {
            Backup made =
                    FullBackup.make(connection, target.partial(), acceptFuzzy, output.err())
                            .backup();
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

    private int archive() throws InterruptedException {
        Connection connection = options.connection();
        Duration full = Durations.period(spec, "--every", every, Duration.ZERO);
        Duration pause = Durations.period(spec, "--log-every", logEvery, LOG_EVERY);
        Duration kept = Durations.period(spec, "--keep", keep, null);
        try (ArchiveStore store = ArchiveStore.of(archive, true);
                Scratch scratch = new Scratch(scratchFolder)) {
            ArchiveWriter writer = new ArchiveWriter(store, connection, scratch, kept, output);
            if (every == null || once) {
                writer.round(full);
                return OperatorTool.FINE;
            }
            run(writer, full, pause);
        } catch (IOException e) {
            throw FailureException.of(archive, e);
        }
        return OperatorTool.FINE;
    }

    /** Until the process is stopped. */
    private void run(ArchiveWriter writer, Duration full, Duration pause)
            throws InterruptedException {
        boolean failed = false;
        while (!Thread.currentThread().isInterrupted()) {
            Deadline next = Deadline.in(pause);
            try {
                writer.round(full);
                if (failed) {
                    output.out().println("The archive is up to date again.");
                }
                failed = false;
            } catch (FailureException | IOException e) {
                FailureException failure =
                        e instanceof FailureException known
                                ? known
                                : FailureException.of(archive, (IOException) e);
                output.err()
                        .println(
                                "saucr: %s; the next attempt is in %s at most"
                                        .formatted(
                                                failure.getMessage(), Durations.readable(pause)));
                failed = true;
            }
            Thread.sleep(next.millisLeft());
        }
    }
}
