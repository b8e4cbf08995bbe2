package io.saucr.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The packages of the compiled library: what may know what. */
class PackagesTest {

    private static final String API = "io.saucr.services";

    private static final Pattern USE =
            Pattern.compile("^ +(io\\.saucr\\.services\\S*) +-> (io\\.saucr\\.services\\S*) ");

    /** Which classes each class uses, of this library. */
    private static final Map<String, Set<String>> USES = new TreeMap<>();

    @BeforeAll
    static void readClasses() throws Exception {
        Path classes =
                Path.of(Services.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        StringWriter out = new StringWriter();
        int status =
                ToolProvider.findFirst("jdeps")
                        .orElseThrow()
                        .run(
                                new PrintWriter(out),
                                new PrintWriter(out),
                                "-verbose:class",
                                "-filter:none",
                                "--ignore-missing-deps",
                                "--multi-release",
                                "17",
                                classes.toString());
        assertThat(status).as(out.toString()).isZero();
        out.toString()
                .lines()
                .map(USE::matcher)
                .filter(Matcher::find)
                .forEach(
                        it ->
                                USES.computeIfAbsent(outer(it.group(1)), key -> new TreeSet<>())
                                        .add(outer(it.group(2))));
        assertThat(USES).hasSizeGreaterThan(100).containsKey(API + ".Services");
    }

    private static String outer(String name) {
        int dollar = name.indexOf('$');
        return dollar < 0 ? name : name.substring(0, dollar);
    }

    private static String packageOf(String name) {
        return name.substring(0, name.lastIndexOf('.'));
    }

    /** Which packages each package uses; the API's is everybody's, and left out. */
    private static Map<String, Set<String>> packages() {
        Map<String, Set<String>> packages = new TreeMap<>();
        USES.forEach(
                (user, all) ->
                        all.forEach(
                                used -> {
                                    String from = packageOf(user);
                                    String to = packageOf(used);
                                    if (!from.equals(to) && !from.equals(API) && !to.equals(API)) {
                                        packages.computeIfAbsent(from, key -> new TreeSet<>())
                                                .add(to);
                                    }
                                }));
        return packages;
    }

    @Test
    void noPackageDependsOnItselfByWayOfOthers() {
        Map<String, Set<String>> left = packages();
        // What uses nothing that is left cannot be on a circle.
        int before;
        do {
            before = left.size();
            left.values().forEach(uses -> uses.removeIf(used -> !left.containsKey(used)));
            left.values().removeIf(Set::isEmpty);
        } while (left.size() < before);
        assertThat(left).as("packages on a circle, or that use one").isEmpty();
    }

    @Test
    void noProtectionKnowsAnother() {
        Set<String> protections = Set.of(API + ".local", API + ".standby", API + ".speculative");
        Map<String, Set<String>> packages = packages();
        for (String protection : protections) {
            assertThat(packages.get(protection))
                    .doesNotContainAnyElementsOf(
                            protections.stream().filter(it -> !it.equals(protection)).toList());
        }
        assertThat(packages.get(API + ".turns")).doesNotContainAnyElementsOf(protections);
    }

    /** A reader of the API meets four classes that know what is beneath it. */
    @Test
    void theApiStandsAlone() {
        Set<String> knowing = new TreeSet<>();
        USES.forEach(
                (user, all) -> {
                    boolean knows =
                            all.stream()
                                    .map(PackagesTest::packageOf)
                                    .anyMatch(
                                            it -> !it.equals(API) && !it.startsWith(API + ".core"));
                    if (packageOf(user).equals(API) && knows) {
                        knowing.add(user.substring(API.length() + 1));
                    }
                });
        assertThat(knowing)
                .containsExactlyInAnyOrder(
                        "EnsembleWrites", "Partitions", "Protection", "Services");
    }
}
