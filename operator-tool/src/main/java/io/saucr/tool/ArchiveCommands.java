package io.saucr.tool;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Archive.History;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The commands on archives that {@code backup --to} has made. They ask no server. */
final class ArchiveCommands {
    private ArchiveCommands() {}

    /** What went wrong with an archive. */
    static FailureException failure(String place, IOException cause) {
        if (cause instanceof UnusableFileException || cause instanceof EndpointException) {
            return new FailureException(cause.getMessage(), cause);
        }
        return new FailureException(
                place
                        + ": "
                        + (cause instanceof AccessDeniedException
                                ? cause.getMessage() + ": permission denied"
                                : cause.getMessage()),
                cause);
    }

    /** Which point of which history. */
    static final class PointOptions {
        @Spec(Spec.Target.MIXEE)
        private CommandSpec spec;

        @Parameters(paramLabel = "ARCHIVE", description = "The archive: a folder.")
        private String place;

        @Option(
                names = "--to-zxid",
                paramLabel = "ZXID",
                description =
                        "The last write to restore, such as 0x100000a3f. Default: the newest.")
        private String zxid;

        @Option(
                names = "--to-time",
                paramLabel = "TIME",
                description =
                        "Everything before the first write that is later than this time, such as"
                                + " 2026-11-29T10:15:00Z. Its time is that of the leader's clock.")
        private String time;

        @Option(
                names = "--history",
                paramLabel = "NAME",
                description = "An older history of the archive; 'backup status' lists them.")
        private String history;

        @Option(
                names = "--scratch",
                paramLabel = "DIR",
                description =
                        "Where temporary files go: as large as a full backup with the log behind it."
                                + " Default: the system's folder of temporary files.")
        private Path scratchFolder;

        String place() {
            return place;
        }

        Scratch scratch() throws IOException {
            return new Scratch(scratchFolder);
        }

        /** The point, as a backup in the scratch folder. */
        ArchivePoint fetch(Scratch scratch) throws IOException {
            if (zxid != null && time != null) {
                throw new ParameterException(
                        spec.commandLine(), "give either --to-zxid or --to-time");
            }
            Long wanted = zxid == null ? null : parseZxid();
            Instant until = time == null ? null : parseTime();
            try (ArchiveStore store = ArchiveStore.of(place, false)) {
                ArchiveMark mark = ArchiveMark.read(store);
                Archive archive = Archive.read(store);
                History of = ArchivePoint.history(store, archive, history);
                try {
                    if (until != null) {
                        wanted = ArchivePoint.zxidAt(store, of, until, mark.checked());
                    }
                    return ArchivePoint.fetch(
                            store, of, wanted == null ? of.through() : wanted, scratch);
                } catch (FailureException e) {
                    if (archive.histories().size() == 1) {
                        throw e;
                    }
                    throw new FailureException(
                            e.getMessage()
                                    + "; the archive also has other histories (--history): "
                                    + archive.histories().stream()
                                            .map(History::name)
                                            .filter(each -> !each.equals(of.name()))
                                            .toList(),
                            e);
                }
            }
        }

        private long parseZxid() {
            try {
                return Long.decode(zxid);
            } catch (NumberFormatException e) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--to-zxid: '" + zxid + "' is no zxid, such as 0x100000a3f",
                        e);
            }
        }

        private Instant parseTime() {
            try {
                return OffsetDateTime.parse(time).toInstant();
            } catch (DateTimeException e) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--to-time: '"
                                + time
                                + "' is no time with an offset, such as 2026-11-29T10:15:00Z",
                        e);
            }
        }
    }

    /** Into the folders of a new server. */
    @Command(
            name = "restore",
            description = {
                "Restores a point of an archive into the folders of a stopped server without data.",
                "Without a point it is the newest. Do it on every server of the ensemble before the first",
                "of them starts, with the zxid that the first one prints: a server that has other data, or",
                "none, would have another history. Sessions that were open then are open again until they",
                "expire, with their ephemeral nodes."
            })
    static final class Restore implements Callable<Integer> {
        @Mixin private PointOptions point;
        @Mixin private Output output;

        @Option(
                names = "--data-dir",
                paramLabel = "DIR",
                required = true,
                description = "dataDir of the server's zoo.cfg.")
        private Path dataDir;

        @Option(
                names = "--log-dir",
                paramLabel = "DIR",
                description = "dataLogDir of the server's zoo.cfg, if it has one.")
        private Path logDir;

        @Override
        public Integer call() {
            try (Scratch scratch = point.scratch()) {
                ArchivePoint found = point.fetch(scratch);
                try {
                    found.backup().restore(dataDir, logDir == null ? dataDir : logDir);
                } catch (IOException e) {
                    throw NewFile.failure(dataDir, e);
                }
                String zxid = Snapshot.hex(found.backup().through());
                if (output.json()) {
                    ObjectNode json = found.json();
                    json.put("dataDir", dataDir.toString());
                    if (logDir != null) {
                        json.put("logDir", logDir.toString());
                    }
                    output.print(json);
                    return OperatorTool.FINE;
                }
                output.out()
                        .println(
                                ("Restored %s%s into %s. Do the same with --to-zxid %s on every server of"
                                                + " the ensemble before the first one starts.")
                                        .formatted(
                                                zxid,
                                                found.time()
                                                        .map(time -> ", written at " + time + ",")
                                                        .orElse(""),
                                                dataDir,
                                                zxid));
                return OperatorTool.FINE;
            } catch (IOException e) {
                throw failure(point.place(), e);
            }
        }
    }
}
