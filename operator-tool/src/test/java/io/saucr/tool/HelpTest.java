package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class HelpTest {
    /** The list of commands shows that line alone. */
    @Test
    void theFirstLineOfEachDescriptionIsASentence() {
        for (CommandLine command : OperatorTool.commandLine().getSubcommands().values()) {
            firstLineIsASentence(command);
        }
    }

    private static void firstLineIsASentence(CommandLine command) {
        String[] description = command.getCommandSpec().usageMessage().description();
        assertThat(description).as(command.getCommandName()).isNotEmpty();
        assertThat(description[0]).as(command.getCommandName()).matches("[A-Z].*[.a-z]$");
        assertThat(description.length == 1 || description[0].endsWith("."))
                .as(command.getCommandName() + ": " + description[0])
                .isTrue();
        command.getSubcommands().values().forEach(HelpTest::firstLineIsASentence);
    }

    @Test
    void theVersionHasTheSameTwoNamesEverywhere() {
        for (String[] arguments : new String[][] {{"-V"}, {"--version"}, {"mode", "-V"}}) {
            Run run = Run.of(arguments);
            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).startsWith("saucr ");
        }
    }
}
