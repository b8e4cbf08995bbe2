package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The variables of the image, against the settings that there are and the page that lists them. */
class EntryPointTest {
    private static final Path PROJECT = Path.of("").toAbsolutePath().getParent();

    /** A line of the table in the script: variable, key, kind, preset. */
    private static final Pattern SETTING =
            Pattern.compile(
                    "^((?:ZOO|SAUCR)_\\w+) +(\\S+) +(?:[a-z]+) +(\\S+)$", Pattern.MULTILINE);

    private static final Pattern DOCUMENTED =
            Pattern.compile(
                    "^\\| `((?:ZOO|SAUCR)_\\w+)` \\| `([\\w.]+)` \\| (?:`([^`]+)`)? ?\\|",
                    Pattern.MULTILINE);

    private static Map<String, String> rows(Pattern pattern, String file) throws Exception {
        return pattern.matcher(Files.readString(PROJECT.resolve(file)))
                .results()
                .collect(
                        Collectors.toMap(
                                row -> row.group(1),
                                EntryPointTest::keyAndPreset,
                                (one, other) -> one + " and " + other,
                                TreeMap::new));
    }

    private static String keyAndPreset(MatchResult row) {
        String preset = row.group(3);
        return row.group(2) + " " + (preset == null || preset.equals("-") ? "" : preset);
    }

    private static Map<String, String> ofTheScript() throws Exception {
        return rows(SETTING, "packaging/docker/docker-entrypoint.sh");
    }

    @Test
    void everySettingOfSaucrHasAVariableButTheBootIdOfTestBeds() throws Exception {
        String settings = Files.readString(PROJECT.resolve("docs/operate/settings.md"));
        assertThat(
                        ofTheScript().values().stream()
                                .map(String::strip)
                                .filter(key -> key.startsWith("saucr.")))
                .containsExactlyInAnyOrderElementsOf(
                        Pattern.compile("^\\| `(saucr\\.\\w+)` \\|", Pattern.MULTILINE)
                                .matcher(settings)
                                .results()
                                .map(row -> row.group(1))
                                .filter(key -> !key.equals("saucr.bootId"))
                                .distinct()
                                .toList());
    }

    @Test
    void theVariableOfASettingIsItsNameInCapitals() throws Exception {
        ofTheScript()
                .forEach(
                        (variable, key) -> {
                            if (variable.startsWith("SAUCR_")) {
                                String name = key.strip().replace("saucr.", "");
                                assertThat(variable)
                                        .isEqualToIgnoringCase(
                                                "SAUCR_" + name.replaceAll("([A-Z])", "_$1"));
                            }
                        });
    }

    /** Somebody may set them for all containers, and use them with "docker exec". */
    @Test
    void theVariablesOfTheScriptsAreKnown() throws Exception {
        String bin = "zookeeper-server/src/dist/bin/";
        String script = Files.readString(PROJECT.resolve("packaging/docker/docker-entrypoint.sh"));
        String known =
                script.substring(
                        script.indexOf("readonly other_variables="),
                        script.indexOf("readonly service_link="));
        for (String each : new String[] {"saucr", "zkEnv.sh", "zkServer.sh"}) {
            String head = Files.readString(PROJECT.resolve(bin + each)).split("\n\n|script=")[0];
            assertThat(known.split("[\\s']+"))
                    .contains(
                            Pattern.compile("\\b(ZOO|SAUCR)_[A-Z_]+")
                                    .matcher(head)
                                    .results()
                                    .map(MatchResult::group)
                                    .toArray(String[]::new));
        }
    }

    @Test
    void thePageHasEveryVariableWithItsKeyAndItsPreset() throws Exception {
        assertThat(ofTheScript()).hasSizeGreaterThan(15);
        assertThat(rows(DOCUMENTED, "docs/operate/packaging.md")).isEqualTo(ofTheScript());
    }
}
