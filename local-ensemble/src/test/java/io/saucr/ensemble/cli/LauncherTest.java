package io.saucr.ensemble.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code saucr} on machines that lack something. */
class LauncherTest {
    @TempDir Path folder;
    private Path programs;
    private Path project;

    /**
     * A PATH with the ordinary programs, without a JDK and Maven; the scripts, and nothing built.
     */
    @BeforeEach
    void ordinaryMachine() throws IOException {
        project = Files.createDirectories(folder.resolve("project/bin")).getParent();
        for (String script : List.of("saucr", "bin/launcher.sh")) {
            Files.copy(CommandRun.projectRoot().resolve(script), project.resolve(script));
        }
        programs = Files.createDirectory(folder.resolve("bin"));
        for (String name : List.of("bash", "dirname", "basename", "sed", "cat", "find", "head")) {
            Path program =
                    Stream.of("/bin", "/usr/bin")
                            .map(place -> Path.of(place, name))
                            .filter(Files::isExecutable)
                            .findFirst()
                            .orElseThrow();
            Files.createSymbolicLink(programs.resolve(name), program);
        }
    }

    @Test
    void withoutJdkItSaysWhatToInstall() throws Exception {
        Result result = saucr(null);
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output).contains("no JDK found").contains("17").contains("JAVA_HOME");
    }

    @Test
    void withAnOlderJdkItNamesTheVersionAndThePlace() throws Exception {
        Path home = folder.resolve("jdk-11");
        Path javac = Files.createDirectories(home.resolve("bin")).resolve("javac");
        Files.writeString(javac, "#!/bin/sh\necho 'javac 11.0.2'\n");
        assertThat(javac.toFile().setExecutable(true)).isTrue();
        Result result = saucr(home);
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output).contains(javac.toString()).contains("version 11").contains("17");
    }

    @Test
    void withAJavaHomeThatHoldsNoJdkItSaysSo() throws Exception {
        Result result = saucr(folder);
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output).contains("JAVA_HOME is '" + folder + "'").contains("no JDK");
    }

    @Test
    void withoutMavenItSaysWhatToInstall() throws Exception {
        Result result = saucr(Path.of(System.getProperty("java.home")));
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output).contains("Maven not found");
        assertThat(folder.resolve("state")).doesNotExist();
        assertThat(project.resolve("target")).doesNotExist();
    }

    @Test
    void testSaysWhatItTakesAndRefusesWhatItDoesNot() throws Exception {
        for (String asked : List.of("help test", "test --help")) {
            Result result = saucr(null, asked.split(" "));
            assertThat(result.exitCode).isZero();
            assertThat(result.output).contains("Usage: ./saucr test").contains("--quick");
        }
        Result result = saucr(null, "test", "--quik");
        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.output)
                .contains("saucr: test: unknown option '--quik'")
                .contains("Usage: ./saucr test");
        assertThat(saucr(null, "test", "--quick").output).contains("no JDK found");
    }

    private record Result(int exitCode, String output) {}

    private Result saucr(Path javaHome) throws IOException, InterruptedException {
        return saucr(javaHome, "status");
    }

    private Result saucr(Path javaHome, String... arguments)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(
                        programs.resolve("bash").toString(), project.resolve("saucr").toString());
        builder.command().addAll(List.of(arguments));
        builder.environment().clear();
        builder.environment().put("PATH", programs.toString());
        builder.environment().put("SAUCR_STATE", folder.resolve("state").toString());
        if (javaHome != null) {
            builder.environment().put("JAVA_HOME", javaHome.toString());
        }
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Result(process.exitValue(), output);
    }
}
