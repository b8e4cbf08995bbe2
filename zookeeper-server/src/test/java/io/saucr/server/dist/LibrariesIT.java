package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The libraries of the distribution. */
class LibrariesIT {
    private static final Pattern JAR =
            Pattern.compile("/([a-zA-Z][\\w-]*?)-(\\d[\\w.]*)(-[a-z]+-\\w+)?\\.jar\n");

    /** What comes by ZooKeeper's jar would be older, with the vulnerabilities of its day. */
    @Test
    void eachLibraryIsThereInOneVersion() throws Exception {
        Scripts.Result listed =
                Scripts.run(
                        new ProcessBuilder("tar", "tzf", System.getProperty("saucr.distribution")),
                        Scripts.LIMIT);
        Set<String> versions = new TreeSet<>();
        Set<String> names = new TreeSet<>();
        Set<String> netty = new TreeSet<>();
        for (MatchResult jar : JAR.matcher(listed.output()).results().toList()) {
            versions.add(jar.group(1) + "-" + jar.group(2));
            names.add(jar.group(1));
            if (jar.group(1).startsWith("netty-") && !jar.group(1).startsWith("netty-tcnative")) {
                netty.add(jar.group(2));
            }
        }
        assertThat(names).contains("netty-handler", "logback-core", "jackson-databind");
        assertThat(versions).hasSameSizeAs(names);
        assertThat(netty).hasSize(1);
    }
}
