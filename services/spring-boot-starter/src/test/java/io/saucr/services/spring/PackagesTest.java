package io.saucr.services.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;

/** The starter stands on what applications stand on, too: the API and its metrics. */
class PackagesTest {

    @Test
    void theStarterKnowsTheApiAlone() throws Exception {
        Path classes =
                Path.of(
                        SaucrServices.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        StringWriter out = new StringWriter();
        int status =
                ToolProvider.findFirst("jdeps")
                        .orElseThrow()
                        .run(
                                new PrintWriter(out),
                                new PrintWriter(out),
                                "-verbose:package",
                                "-filter:none",
                                "--ignore-missing-deps",
                                "--multi-release",
                                "17",
                                classes.toString());
        assertThat(status).as(out.toString()).isZero();
        Matcher use = Pattern.compile("-> (io\\.saucr\\.\\S+)").matcher(out.toString());
        Set<String> used = new TreeSet<>();
        while (use.find()) {
            used.add(use.group(1));
        }
        used.remove("io.saucr.services.spring");
        assertThat(used).containsExactly("io.saucr.services", "io.saucr.services.metrics");
    }
}
