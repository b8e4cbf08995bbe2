package io.saucr.services.bench;

import java.io.PrintWriter;
import java.io.StringWriter;

/** A test that runs commands of {@link ServicesBench}, and reads what they print. */
abstract class CommandRun {

    final StringWriter out = new StringWriter();
    final StringWriter errors = new StringWriter();

    /** Returns the exit status. */
    final int run(String... arguments) {
        return ServicesBench.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(errors))
                .execute(arguments);
    }
}
