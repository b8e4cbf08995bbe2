package io.saucr.services.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** What the demo's command line refuses, before anything runs. */
class DemoCommandTest {

    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        CommandLine command = ServicesCommand.commandLine();
        command.setOut(new PrintWriter(new StringWriter()));
        command.setErr(new PrintWriter(err));
        return command.execute(arguments);
    }

    @ParameterizedTest
    @CsvSource({
        "--seconds, 4, from 5 to 3600",
        "--seconds, 3601, from 5 to 3600",
        "--seconds, -1, from 5 to 3600",
        "--seconds, soon, Invalid value for option '--seconds'",
        "--plain-seconds, -1, from 0 to 3600",
        "--plain-seconds, 3601, from 0 to 3600",
        "--seed, x, Invalid value for option '--seed'",
        "--kills, 3, Unknown options: '--kills'"
    })
    void badNumbersAreRefused(String option, String value, String expected) {
        assertThat(execute("demo", option, value)).isEqualTo(2);
        assertThat(err.toString()).contains(expected);
    }

    @Test
    void aFolderWithFilesIsRefusedAndLeftAlone(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("mine"), "mine");
        assertThat(execute("demo", "--work", folder.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("there are files in " + folder);
        assertThat(folder).isDirectoryContaining(it -> it.equals(file));
        assertThat(folder.toFile().list()).hasSize(1);
    }

    @Test
    void anUnknownCommandIsRefused() {
        assertThat(execute("dance")).isEqualTo(2);
        assertThat(err.toString()).contains("dance");
    }
}
