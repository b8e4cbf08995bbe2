package io.saucr.tool;

import io.saucr.tool.Archive.History;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.Callable;
import org.apache.zookeeper.txn.TxnDigest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The commands on archives that {@code backup --to} has made. They ask no server. */
final class ArchiveCommands {
    private static final String PLACE = "The archive: a folder, or s3://BUCKET/FOLDER.";

    private ArchiveCommands() {}

    /** Which point of which history. */
    static final class PointOptions {
        @Spec(Spec.Target.MIXEE)
        private CommandSpec spec;

        @Parameters(paramLabel = "ARCHIVE", description = PLACE)
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
                SnapshotCommand.restore(found.backup(), dataDir, logDir);
                String zxid = Snapshot.hex(found.backup().through());
                if (output.json()) {
                    output.print(SnapshotCommand.withFolders(found.json(), dataDir, logDir));
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
                throw FailureException.of(point.place(), e);
            }
        }
    }

    /** What there is. */
    @Command(
            name = "status",
            description = {
                "Prints what an archive has, and how old it is.",
                "Exits with 1 if it has no full backup, if a piece of the log is missing, or if it is older",
                "than --max-age or --max-log-age allow. It reads the names of the objects, not their content."
            })
    static final class Status implements Callable<Integer> {
        @Mixin private Output output;
        @Spec private CommandSpec spec;

        @Parameters(paramLabel = "ARCHIVE", description = PLACE)
        private String place;

        @Option(
                names = "--max-age",
                paramLabel = "TIME",
                description = "How old the newest full backup may be: " + Durations.FORM + ".")
        private String maxAge;

        @Option(
                names = "--max-log-age",
                paramLabel = "TIME",
                description =
                        "How long ago the last round may have begun that succeeded; it archived all that"
                                + " was committed by then.")
        private String maxLogAge;

        @Override
        public Integer call() {
            Duration full = Durations.period(spec, "--max-age", maxAge, null);
            Duration log = Durations.period(spec, "--max-log-age", maxLogAge, null);
            try (ArchiveStore store = ArchiveStore.of(place, false)) {
                ArchiveMark mark = ArchiveMark.read(store);
                ArchiveStatus status =
                        ArchiveStatus.of(
                                Archive.read(store), mark.checked(), Instant.now(), full, log);
                if (output.json()) {
                    output.print(status.json());
                } else {
                    output.out().println(status.text());
                    status.problems().forEach(problem -> output.err().println("saucr: " + problem));
                }
                return status.problems().isEmpty() ? OperatorTool.FINE : OperatorTool.FAILED;
            } catch (IOException e) {
                throw FailureException.of(place, e);
            }
        }
    }

    /** Whether it can be restored. */
    @Command(
            name = "verify",
            description = {
                "Restores a point of an archive into a new server, and compares the digest of its tree.",
                "The server is a standalone process of this distribution on the loopback address, in the",
                "folder of temporary files; it is removed afterwards. Its digest must be the one that the",
                "leader logged with the last write. Exits with 1 if it is another, or if the archive cannot",
                "be restored."
            })
    static final class Verify implements Callable<Integer> {
        @Mixin private PointOptions point;
        @Mixin private Output output;
        @Spec private CommandSpec spec;

        @Option(
                names = "--timeout",
                paramLabel = "TIME",
                description = "How long the server may take to load the data. Default: 10m.")
        private String timeout;

        @Override
        public Integer call() throws InterruptedException {
            Duration patience =
                    Durations.period(spec, "--timeout", timeout, Duration.ofMinutes(10));
            try (Scratch scratch = point.scratch()) {
                ArchivePoint found = point.fetch(scratch);
                Snapshot loaded = load(found, scratch, patience);
                if (output.json()) {
                    output.print(found.json().put("nodes", loaded.nodes()));
                } else {
                    output.out()
                            .println(
                                    "Verified %s: a new server has %d nodes, digest %s%s."
                                            .formatted(
                                                    Snapshot.hex(found.backup().through()),
                                                    loaded.nodes(),
                                                    Long.toHexString(loaded.digest()),
                                                    found.digest().isPresent()
                                                            ? ", as the ensemble had"
                                                            : "; the ensemble logged no digest"));
                }
                return OperatorTool.FINE;
            } catch (IOException e) {
                throw FailureException.of(point.place(), e);
            }
        }

        /** What the server has, from the snapshot that it writes when it has loaded its data. */
        private static Snapshot load(ArchivePoint found, Scratch scratch, Duration patience)
                throws IOException, InterruptedException {
            Path folder = scratch.empty("server");
            Path data = Files.createDirectory(folder.resolve("data"));
            found.backup().restore(data, data);
            String zxid = Snapshot.hex(found.backup().through());
            try (ThrowAwayServer server = new ThrowAwayServer(folder)) {
                String mismatches =
                        server.await(patience).getOrDefault("zk_digest_mismatches_count", "0");
                if (!mismatches.equals("0")) {
                    throw new FailureException(
                            "restored up to %s, a new server has another tree than the ensemble had: it"
                                            .formatted(zxid)
                                    + " counts "
                                    + mismatches
                                    + " digests in the log that do not fit");
                }
            }
            Snapshot loaded =
                    Snapshot.read(
                            data.resolve(
                                    "version-2/snapshot."
                                            + Long.toHexString(found.backup().through())));
            long expected = found.digest().map(TxnDigest::getTreeDigest).orElse(loaded.digest());
            if (loaded.digest() != expected) {
                throw new FailureException(
                        "restored up to %s, a new server has the digest %s, and the ensemble had %s"
                                .formatted(
                                        zxid,
                                        Long.toHexString(loaded.digest()),
                                        Long.toHexString(expected)));
            }
            return loaded;
        }
    }
}
