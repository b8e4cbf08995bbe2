package io.saucr.crash;

import io.saucr.crash.history.EdnHistory;
import io.saucr.crash.history.History;
import io.saucr.crash.history.LinearizabilityChecker;
import io.saucr.crash.history.LinearizabilityChecker.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code saucr-crash check}. */
@Command(
        name = "check",
        description = "Checks saved histories of registers for linearizability.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit status: 0 all linearizable; 1 unreadable, or not decided; 2 wrong usage; 3 one is"
                    + " not linearizable."
        })
final class CheckCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", description = "Histories in Jepsen's format (EDN).")
    private List<Path> files;

    @Option(
            names = "--configurations",
            defaultValue = "" + LinearizabilityChecker.DEFAULT_CONFIGURATIONS,
            description =
                    "How many configurations to remember per register, about 200 bytes each, before"
                            + " giving up. Default: ${DEFAULT-VALUE}.")
    private int configurations;

    @Option(
            names = "--split",
            description =
                    "Folder: also write each register's history there, one file each, as Knossos'"
                            + " model cas-register reads it.")
    private Path split;

    @Override
    public Integer call() throws Exception {
        int status = 0;
        for (Path file : files) {
            History history = EdnHistory.read(file);
            LinearizabilityChecker.Result result =
                    new LinearizabilityChecker(configurations).check(history);
            System.out.printf(
                    "%s: %s, %d registers, %d configurations%n",
                    file,
                    result.answer().toString().toLowerCase(java.util.Locale.ROOT).replace('_', ' '),
                    history.operations().size(),
                    result.configurations());
            if (result.answer() == Answer.NOT_LINEARIZABLE) {
                System.out.println("  register " + result.key() + ", no order of:");
                result.evidence().forEach(call -> System.out.println("    " + call));
                status = CrashCommand.STATUS_LOST;
            } else if (result.answer() == Answer.UNKNOWN && status == 0) {
                status = 1;
            }
            if (split != null) {
                EdnHistory.writeRegisters(history, split);
            }
        }
        return status;
    }
}
