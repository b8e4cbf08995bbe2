package io.saucr.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** What the program says of itself. */
class BenchCommandTest {
    /**
     * The list of subcommands shows the first element of each description, and each element begins
     * a line.
     */
    @Test
    void everyElementOfADescriptionIsASentence() {
        List<String> elements = new ArrayList<>();
        for (CommandLine line : BenchCommand.commandLine().getSubcommands().values()) {
            CommandSpec command = line.getCommandSpec();
            if (command.userObject() instanceof HelpCommand) {
                continue;
            }
            elements.addAll(List.of(command.usageMessage().description()));
            for (OptionSpec option : command.options()) {
                elements.addAll(List.of(option.description()));
            }
        }
        assertThat(elements)
                .hasSizeGreaterThan(50)
                .allSatisfy(element -> assertThat(element).endsWith("."));
    }
}
