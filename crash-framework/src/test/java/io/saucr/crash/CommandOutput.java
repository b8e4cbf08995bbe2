package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.assertj.core.api.AbstractStringAssert;

/** Runs a command line of the tool in this JVM, or in a process of its own. */
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

    /** What a process without input printed, errors as well; it must end with status 0. */
    static String run(ProcessBuilder command) throws IOException, InterruptedException {
        Process tool = command.redirectErrorStream(true).start();
        tool.getOutputStream().close();
        String text = new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tool.waitFor()).as(text).isZero();
        return text;
    }
}
