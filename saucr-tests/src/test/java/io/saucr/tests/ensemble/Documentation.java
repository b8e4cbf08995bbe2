package io.saucr.tests.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * README.md, YCSB's page and those below docs as far as they can be run: a code block that is
 * indented, or fenced as {@code sh} or without a language, holds shell commands, one a line. What
 * follows {@code " # "} is a comment; a line that ends with a backslash goes on.
 */
final class Documentation {
    private static final int INDENTED = 4;
    private static final Set<String> SHELL = Set.of("", "sh");
    private static final String FENCE = "```";

    /** Whose commands build upon each other, and are run by a test of their own. */
    private static final String SECURITY = "operate/security.md";

    private static final Pattern COMMENT = Pattern.compile("(^|\\s+)#(\\s.*)?$");
    private static final Pattern CONTINUED = Pattern.compile(" *\\\\\n *");
    private static final Pattern METRIC = Pattern.compile("`(?:zk_)?(saucr_\\w+)`");

    private final Path root;
    private final List<Path> pages = new ArrayList<>();

    /** A fenced block of a page: the word behind the fence, and the lines. */
    record Block(String language, String text) {}

    /**
     * @param root the project's folder
     */
    Documentation(Path root) throws IOException {
        this.root = root;
        pages.add(root.resolve("README.md"));
        pages.add(root.resolve("ycsb-binding/README.md"));
        try (Stream<Path> files = Files.walk(root.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
    }

    /** The blocks of the security guide, in its order. */
    List<Block> securityGuide() throws IOException {
        List<Block> blocks = new ArrayList<>();
        String language = null;
        StringBuilder text = new StringBuilder();
        for (String line : Files.readAllLines(root.resolve("docs").resolve(SECURITY))) {
            if (!line.startsWith(FENCE)) {
                text.append(line).append('\n');
            } else if (language == null) {
                language = line.substring(FENCE.length());
                text.setLength(0);
            } else {
                blocks.add(new Block(language, text.toString()));
                language = null;
            }
        }
        return blocks;
    }

    /** All commands of the other pages, each once. */
    Set<String> commands() throws IOException {
        Set<String> commands = new TreeSet<>();
        for (Path page : pages) {
            if (page.endsWith(SECURITY)) {
                continue;
            }
            String text = CONTINUED.matcher(Files.readString(page)).replaceAll(" ");
            commands.addAll(commands(text.lines().toList()));
        }
        return commands;
    }

    private static List<String> commands(List<String> lines) {
        List<String> commands = new ArrayList<>();
        String language = null;
        boolean indented = false;
        boolean afterBlank = true;
        for (String line : lines) {
            String text = line.strip();
            if (text.startsWith(FENCE)) {
                language =
                        language == null
                                ? text.substring(FENCE.length()).toLowerCase(Locale.ROOT)
                                : null;
                indented = false;
            } else if (language != null) {
                if (SHELL.contains(language)) {
                    add(commands, text);
                }
            } else if (!text.isEmpty()) {
                int indentation = line.length() - line.stripLeading().length();
                indented = indentation >= INDENTED && (afterBlank || indented);
                if (indented) {
                    add(commands, text);
                }
            }
            afterBlank = text.isEmpty();
        }
        return commands;
    }

    private static void add(List<String> commands, String text) {
        String command = COMMENT.matcher(text).replaceFirst("");
        if (!command.isEmpty()) {
            commands.add(command);
        }
    }

    /** Every metric that is named, without the prefix of {@code mntr}. */
    Set<String> metrics() throws IOException {
        Set<String> metrics = new TreeSet<>();
        for (Path page : pages) {
            METRIC.matcher(Files.readString(page))
                    .results()
                    .map((MatchResult found) -> found.group(1))
                    .forEach(metrics::add);
        }
        return metrics;
    }
}
