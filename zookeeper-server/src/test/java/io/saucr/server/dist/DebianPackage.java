package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The script that makes the Debian package. Stateless. */
final class DebianPackage {
    static final String NAME = "saucr-zookeeper";

    private static final Path SCRIPT =
            Path.of("").toAbsolutePath().resolveSibling("packaging/debian/build");

    private DebianPackage() {}

    /** Whether this is a Debian system, with root's rights and what the package depends on. */
    static boolean canBeInstalled() {
        return "root".equals(System.getProperty("user.name"))
                && Files.isExecutable(Path.of("/usr/bin/dpkg-deb"))
                && Files.isExecutable(Path.of("/usr/sbin/adduser"));
    }

    /** Runs the script. */
    static Scripts.Result build(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString()));
        command.addAll(Arrays.asList(arguments));
        return Scripts.run(new ProcessBuilder(command), Scripts.LIMIT);
    }

    /**
     * Builds a version of it from the distribution. Returns the package, as the machine sees it.
     *
     * @param folder for the package on the way
     */
    static String built(IsolatedRoot machine, Path folder, String version) throws Exception {
        String tarball = System.getProperty("saucr.distribution");
        Scripts.Result built = build("-o", folder.toString(), "-v", version, tarball);
        assertThat(built.exitCode()).as(built.output()).isZero();
        return machine.copy(folder.resolve(NAME + "_" + version + "_all.deb")).toString();
    }
}
