package io.saucr.ensemble.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;

/** What one command of the command line did. */
record CommandRun(int exitCode, String out, String err) {

    /** Runs a command in this process on a state folder. */
    static CommandRun of(Path state, String... args) {
        System.setProperty("saucr.root", projectRoot().toString());
        System.setProperty("saucr.state", state.toString());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = SaucrCommand.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        int exitCode = commandLine.execute(args);
        return new CommandRun(exitCode, out.toString(), err.toString());
    }

    /** The folder with the script saucr, from whichever module's folder the tests run. */
    static Path projectRoot() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("saucr"))) {
            folder = folder.getParent();
            if (folder == null) {
                throw new AssertionError("not inside the project's folder");
            }
        }
        return folder;
    }
}
