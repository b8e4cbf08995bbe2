package io.saucr.tests.ensemble;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Packages of Python that a test installs below this module's build folder. Stateless. */
final class PythonPackages {
    static final Path SOURCES = Path.of("src/test/python").toAbsolutePath();

    private PythonPackages() {}

    /**
     * Installs them if they are not there yet. The test is skipped if there is no Python with pip.
     *
     * @param folder its name
     * @param requirements the file of {@link #SOURCES} that lists them
     * @param main the folder of the package that the test wants
     * @return what goes on Python's path
     */
    static Path installed(String folder, String requirements, String main)
            throws IOException, InterruptedException {
        Path packages = BuiltDistribution.target().resolve(folder);
        if (!Files.isDirectory(packages.resolve(main))) {
            assumeTrue(
                    Shell.knows("python3") && hasPip(),
                    main + " wants python3 with pip on the PATH");
            BuiltDistribution.run(
                    "python3",
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--target",
                    packages.toString(),
                    "-r",
                    SOURCES.resolve(requirements).toString());
        }
        return packages;
    }

    private static boolean hasPip() throws IOException, InterruptedException {
        return new ProcessBuilder("python3", "-m", "pip", "--version")
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }
}
