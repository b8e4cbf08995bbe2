package io.saucr.tests.ensemble;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Apache's released servers, from their artifacts, untouched. */
final class ApacheRelease {
    private ApacheRelease() {}

    /** The release that this build is based on, with the libraries that it was released with. */
    static Distribution base() {
        return Distribution.stock();
    }

    /**
     * The oldest release that upgrades start from: its own two jars with the libraries of the base.
     */
    static Distribution old() throws IOException {
        Path folder = BuiltDistribution.target().resolve("apache-old");
        List<Path> own;
        try (Stream<Path> jars = Files.list(folder)) {
            own = jars.sorted().toList();
        }
        String server =
                own.stream()
                        .map(jar -> jar.getFileName().toString())
                        .filter(name -> name.matches("zookeeper-\\d.*"))
                        .findFirst()
                        .orElseThrow();
        List<Path> libraries =
                base().classPath().stream()
                        .filter(jar -> !jar.getFileName().toString().startsWith("zookeeper-"))
                        .toList();
        return new Distribution(
                "zookeeper",
                server.replaceAll("zookeeper-|\\.jar", ""),
                Stream.concat(own.stream(), libraries.stream()).toList());
    }
}
