package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.ensemble.FsyncShim;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The crash tester in the hands of a user who may take no power from anything. */
class UserWithoutRightsIT {
    private static final String NOBODY = "65534";

    @TempDir Path work;

    @RegisterExtension final FailedRuns kept = new FailedRuns(() -> work);

    /** Where the tests themselves have no rights, all others here show the same. */
    @Tag("long")
    @Test
    void aUserWithoutRightsGetsAVerdict() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        assumeTrue("root".equals(System.getProperty("user.name")), "already a user without rights");
        Path distribution = UnpackedDistribution.below(work);
        Path own = Files.createDirectories(work.resolve("own"));
        Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxrwxrwx"));
        ProcessBuilder tool =
                new ProcessBuilder(
                                "setpriv",
                                "--reuid=" + NOBODY,
                                "--regid=" + NOBODY,
                                "--clear-groups",
                                "--inh-caps=-all",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                copyClassPath(work.resolve("lib")),
                                CrashCommand.class.getName(),
                                "replay",
                                "--system",
                                "saucr",
                                "--distribution",
                                distribution.toString(),
                                "--gap",
                                "1000",
                                "-o",
                                own.resolve("out").toString(),
                                "123>12>1>123")
                        .directory(own.toFile());
        assertThat(CommandOutput.run(tool))
                .contains("no root back end: not allowed")
                .contains("faults by the unprivileged back end")
                .contains("1/1  CORRECT");
        assertThat(Files.getOwner(own.resolve("out/report.html")).getName()).isIn("nobody", NOBODY);
    }

    /** Where anybody can read it. */
    private static String copyClassPath(Path target) throws Exception {
        Files.createDirectories(target);
        List<String> copied = new ArrayList<>();
        String classPath =
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            Path from = Path.of(entry);
            // A class path may end with a separator.
            if (!entry.isEmpty() && Files.exists(from)) {
                Path to = target.resolve(copied.size() + "").resolve(from.getFileName());
                Files.createDirectories(to.getParent());
                UnpackedDistribution.run("cp", "-r", from.toString(), to.toString());
                copied.add(to.toString());
            }
        }
        UnpackedDistribution.run("chmod", "-R", "a+rX", target.toString());
        return String.join(File.pathSeparator, copied);
    }
}
