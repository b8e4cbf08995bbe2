package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.assertj.core.api.AbstractStringAssert;

/** Runs a command line of the tool in this JVM. */
final class CommandOutput {
    private CommandOutput() {}

    /** What it printed, to be asserted on; it must end with this status. */
    static AbstractStringAssert<?> of(int status, String... arguments) {
        return assertThat(run(status, arguments));
    }

    static String run(int status, String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        int actual;
        try {
            actual = CrashCommand.execute(arguments);
        } finally {
            System.setOut(before);
        }
        String text = bytes.toString(StandardCharsets.UTF_8);
        before.print(text);
        assertThat(actual).as(text).isEqualTo(status);
        return text;
    }
}
