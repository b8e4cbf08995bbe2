package io.saucr.services.tool;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.SharedReport;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.turns.FolderContents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bin/saucr-services folder} and {@code folder verify}. */
@Command(
        name = "folder",
        description = {
            "Reads the folder of a service or client, without its process and without changing a"
                    + " byte of it. Shows name and generation, files, the newest turn, dead"
                    + " letters, and messages that wait for each peer. If a process uses the"
                    + " folder, the output shows about one moment.",
            "For the folder of a member of a service with standbys it shows the member, the files"
                    + " and the newest segment. For a folder that members share it shows the"
                    + " service, and the newest segment of each generation.",
            "Exits with 1 if a start would refuse the folder; reports where, and what to do."
        },
        subcommands = FolderCommand.Verify.class,
        footer = {
            "",
            "Examples:",
            "  saucr-services folder services/bank",
            "  saucr-services folder services/bank --json",
            "  saucr-services folder verify services/bank && echo whole"
        })
final class FolderCommand implements Callable<Integer> {

    @Parameters(
            arity = "0..1",
            paramLabel = "FOLDER",
            description =
                    "As the service was given with folder(...), or members share. One named verify:"
                            + " ./verify.")
    private Path folder;

    @Mixin private Output output;
    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws FailureException {
        if (folder == null) {
            throw new ParameterException(spec.commandLine(), "Which folder?");
        }
        Optional<MemberFolderReport> member = member(folder);
        if (member.isPresent()) {
            if (output.json()) {
                output.print(member.get().json());
            } else {
                member.get().print(output);
            }
            return member.get().leadsToLast() ? ServicesCommand.FINE : ServicesCommand.FAILED;
        }
        Optional<SharedFolderReport> shared = shared(folder);
        if (shared.isPresent()) {
            print(shared.get(), output);
            return shared.get().leadsToLast() ? ServicesCommand.FINE : ServicesCommand.FAILED;
        }
        FolderContents contents = read(folder);
        FolderReport report = new FolderReport(contents);
        if (output.json()) {
            output.print(report.json());
        } else {
            report.print(output);
        }
        return contents.files().starts() && contents.unread().isEmpty()
                ? ServicesCommand.FINE
                : ServicesCommand.FAILED;
    }

    /** The folder of a member of a service with standbys; empty where it is none. */
    private static Optional<MemberFolderReport> member(Path folder) throws FailureException {
        try {
            Disk disk = Disk.readOnly();
            if (!Files.isDirectory(folder) || !MemberFolder.isOne(disk, folder)) {
                return Optional.empty();
            }
            return Optional.of(
                    new MemberFolderReport(
                            MemberFolder.verify(disk, folder), MemberFolder.inUseBy(folder)));
        } catch (IOException e) {
            throw new FailureException(folder + " cannot be read: " + e, e);
        }
    }

    /** A folder that members share; empty where it is none. */
    private static Optional<SharedFolderReport> shared(Path folder) throws FailureException {
        try {
            if (!Files.isDirectory(folder)) {
                return Optional.empty();
            }
            List<SharedReport> births = SharedReport.of(Disk.readOnly(), folder);
            return births.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new SharedFolderReport(folder, births));
        } catch (IOException e) {
            throw new FailureException(folder + " cannot be read: " + e, e);
        }
    }

    private static void print(SharedFolderReport report, Output output) {
        if (output.json()) {
            output.print(report.json());
        } else {
            report.print(output);
        }
    }

    private static FolderContents read(Path folder) throws FailureException {
        try {
            return FolderContents.read(folder);
        } catch (RefusedFolderException e) {
            throw FailureException.of(e);
        } catch (IOException e) {
            throw new FailureException(folder + " cannot be read: " + e, e);
        } catch (OutOfMemoryError e) {
            throw new FailureException(
                    folder
                            + " needs more memory than this command has, as its service does: set"
                            + " SAUCR_SERVICES_JVMFLAGS=-Xmx4g, or more",
                    e);
        }
    }

    /** Whether it is whole. */
    @Command(
            name = "verify",
            description = {
                "Reads a folder from end to end, with every checksum, and changes nothing.",
                "Exits with 1 if anything is damaged or missing, also if an older base makes up for"
                        + " it. What a crash leaves behind, such as a torn last record, is no damage."
            },
            footer = {"", "Example:", "  saucr-services folder verify services/bank"})
    static final class Verify implements Callable<Integer> {

        @Parameters(
                paramLabel = "FOLDER",
                description = "As the service was given with folder(...), or members share.")
        private Path folder;

        @Mixin private Output output;

        @Override
        public Integer call() throws FailureException {
            Optional<MemberFolderReport> member = member(folder);
            if (member.isPresent()) {
                if (output.json()) {
                    output.print(member.get().verdict());
                } else {
                    member.get().printVerdict(output);
                }
                return member.get().isWhole() ? ServicesCommand.FINE : ServicesCommand.FAILED;
            }
            Optional<SharedFolderReport> shared = shared(folder);
            if (shared.isPresent()) {
                print(shared.get(), output);
                return shared.get().isWhole() ? ServicesCommand.FINE : ServicesCommand.FAILED;
            }
            FolderContents contents = read(folder);
            FolderReport report = new FolderReport(contents);
            if (output.json()) {
                output.print(report.verdict());
            } else {
                report.printVerdict(output);
            }
            return report.isWhole() ? ServicesCommand.FINE : ServicesCommand.FAILED;
        }
    }
}
