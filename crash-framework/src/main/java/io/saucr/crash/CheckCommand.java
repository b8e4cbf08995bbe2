package io.saucr.crash;

import io.saucr.history.EdnHistory;
import io.saucr.history.History;
import io.saucr.history.LinearizabilityChecker;
import io.saucr.history.LinearizabilityChecker.Answer;
import io.saucr.history.LinearizabilityChecker.Judgement;
import io.saucr.history.LinearizabilityChecker.Result;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code saucr-crash check}. */
@Command(
        name = "check",
        description =
                "Checks saved histories of registers for linearizability: those of this program,"
                        + " and Jepsen's. Each register is checked alone; a read of nil fits"
                        + " anywhere, as in Knossos.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit status: 0 all linearizable; 1 one is unreadable, or not decided, or --split"
                    + " cannot be written; 2 wrong usage; 3 one is not linearizable."
        })
final class CheckCommand implements Callable<Integer> {
    @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "FILE",
            description = "Histories in Jepsen's format (history.edn).")
    private List<Path> files;

    @Option(
            names = "--configurations",
            defaultValue = "" + LinearizabilityChecker.DEFAULT_CONFIGURATIONS,
            description =
                    "How many configurations to remember per register, about 200 bytes each, before"
                            + " giving up. Default: ${DEFAULT-VALUE}.")
    private int configurations;

    @Option(
            names = "--initial",
            paramLabel = "VALUE",
            defaultValue = "nil",
            description =
                    "What each register holds before the first write, as EDN. Default:"
                            + " ${DEFAULT-VALUE}.")
    private String initial;

    @Option(
            names = "--split",
            paramLabel = "DIR",
            description =
                    "Folder, new or empty: also write each register's history there, one file each,"
                            + " as Knossos' model cas-register reads it. Of several histories each"
                            + " gets a folder in it.")
    private Path split;

    @Override
    public Integer call() throws Exception {
        LinearizabilityChecker checker;
        try {
            checker = LinearizabilityChecker.of(configurations, initial);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        Map<Path, Path> folders = folders();
        boolean violated = false;
        boolean undecided = false;
        boolean unwritten = false;
        for (Path file : files) {
            try {
                History history = EdnHistory.read(file);
                Answer answer = check(file, history, checker);
                violated |= answer == Answer.NOT_LINEARIZABLE;
                undecided |= answer == Answer.UNKNOWN;
                if (split != null) {
                    unwritten |= !writeRegisters(history, folders.get(file));
                }
            } catch (NoSuchFileException e) {
                System.err.println(file + ": there is no such file");
                undecided = true;
            } catch (IOException e) {
                // The other histories are checked all the same.
                System.err.println(unread(file, e));
                undecided = true;
            } catch (OutOfMemoryError e) {
                long megabytes = Runtime.getRuntime().maxMemory() >> 20;
                System.err.println(
                        ("%s: not decided: it needs more than the %s MB that this JVM"
                                        + " may take")
                                .formatted(file, megabytes));
                undecided = true;
            }
        }
        return violated ? CrashCommand.STATUS_LOST : undecided || unwritten ? 1 : 0;
    }

    /** Why a history was not read; what is wrong in it begins with the file already. */
    static String unread(Path file, IOException e) {
        String reason = e.getMessage();
        if (e instanceof FileSystemException failed) {
            // Its message is the file alone, or begins with it.
            reason = failed.getReason();
            reason = reason == null ? e.getClass().getSimpleName() : reason;
        } else if (reason != null && reason.startsWith(file.toString())) {
            return reason;
        }
        return file + ": cannot be read: " + reason;
    }

    /**
     * Where each history's registers go; empty if they go nowhere.
     *
     * @throws IOException if something could be written over
     */
    private Map<Path, Path> folders() throws IOException {
        Map<Path, Path> folders = new HashMap<>();
        if (split == null) {
            return folders;
        }
        if (Files.exists(split)) {
            if (!Files.isDirectory(split)) {
                throw new IOException("--split " + split + ": that is a file, not a folder");
            }
            try (Stream<Path> content = Files.list(split)) {
                if (content.findAny().isPresent()) {
                    throw new IOException(
                            "--split " + split + ": the folder is not empty; name a new one");
                }
            }
        }
        for (Path file : files) {
            String name = nameOfFolder(file);
            Path folder = files.size() == 1 ? split : split.resolve(name);
            if (folders.containsValue(folder)) {
                throw new IOException(
                        "--split %s: two histories are called %s; split them one by one"
                                .formatted(split, name));
            }
            folders.put(file, folder);
        }
        return folders;
    }

    /** The file's name without ".edn", where that leaves a name. */
    private static String nameOfFolder(Path file) {
        // The root has none. It is no history either; to read it says so.
        String name = file.getFileName() == null ? "root" : file.getFileName().toString();
        String shorter = name.replaceFirst("\\.edn$", "");
        return List.of("", ".", "..").contains(shorter) ? name : shorter;
    }

    private static Answer check(Path file, History history, LinearizabilityChecker checker)
            throws IOException {
        Result result = checker.check(history);
        if (result.registers().isEmpty()) {
            throw new IOException(file + ": there is no call on a register in it");
        }
        System.out.println(file + ": " + summary(result));
        for (Judgement judgement : result.registers()) {
            if (judgement.answer() == Answer.NOT_LINEARIZABLE) {
                System.out.println("  " + judgement.name() + ", no order of its calls fits:");
                judgement.explanation().forEach(line -> System.out.println("    " + line));
            } else if (judgement.answer() == Answer.UNKNOWN) {
                System.out.println(
                        ("  %s, not decided: given up after %s configurations;"
                                        + " --configurations allows more")
                                .formatted(judgement.name(), judgement.configurations()));
            }
        }
        return result.answer();
    }

    /** Whether they are written; the verdict stands either way. */
    private static boolean writeRegisters(History history, Path folder) {
        try {
            EdnHistory.writeRegisters(history, folder);
            System.out.println("  its registers are in " + folder);
            return true;
        } catch (IOException e) {
            // The message of some is the path alone; the class says what is wrong with it.
            System.err.println(
                    "--split %s: cannot be written: %s: %s"
                            .formatted(folder, e.getClass().getSimpleName(), e.getMessage()));
            return false;
        }
    }

    private static String summary(Result result) {
        int bad = result.with(Answer.NOT_LINEARIZABLE).size();
        int undecided = result.with(Answer.UNKNOWN).size();
        String registers = count(result.registers().size(), "register");
        String verdict =
                switch (result.answer()) {
                    case LINEARIZABLE -> "linearizable, " + registers;
                    case NOT_LINEARIZABLE -> "not linearizable, " + bad + " of " + registers;
                    case UNKNOWN -> "not decided, " + undecided + " of " + registers;
                };
        int calls = result.registers().stream().mapToInt(j -> j.register().calls()).sum();
        return verdict
                + "; "
                + count(calls, "call")
                + ", "
                + count(result.configurations(), "configuration");
    }

    private static String count(long count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
