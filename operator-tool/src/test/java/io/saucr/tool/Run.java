package io.saucr.tool;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/**
 * One run of the command line in this process.
 *
 * @param out what it printed
 * @param err what it printed on the other output
 */
record Run(int exitCode, String out, String err) {
    static Run of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line =
                OperatorTool.commandLine()
                        .setOut(new PrintWriter(out, true))
                        .setErr(new PrintWriter(err, true));
        int exitCode = line.execute(arguments);
        return new Run(exitCode, out.toString(), err.toString());
    }
}
