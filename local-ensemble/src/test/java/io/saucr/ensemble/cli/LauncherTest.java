package io.saucr.ensemble.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.ensemble.Distribution;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The script {@code saucr} and those in {@code bin}, with programs that stand in for JDK and Maven.
 */
class LauncherTest {
    private static final String LAUNCHER = "bin/launcher.sh";

    private static final List<String> ORDINARY_PROGRAMS =
            List.of(
                    "bash",
                    "dirname",
                    "basename",
                    "readlink",
                    "sed",
                    "awk",
                    "cat",
                    "find",
                    "head",
                    "rm");

    private static final List<String> MODEL_MODULES = List.of("saucr-core", "saucr-model");
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir Path folder;
    private Path programs;
    private Path project;

    /**
     * A PATH with the ordinary programs, without a JDK and Maven; the scripts, and nothing built.
     */
    @BeforeEach
    void ordinaryMachine() throws IOException {
        project = Files.createDirectories(folder.resolve("project/bin")).getParent();
        for (String script : scripts()) {
            Files.copy(CommandRun.projectRoot().resolve(script), project.resolve(script));
        }
        Files.copy(CommandRun.projectRoot().resolve(LAUNCHER), project.resolve(LAUNCHER));
        programs = Files.createDirectory(folder.resolve("bin"));
        for (String name : ORDINARY_PROGRAMS) {
            ordinary(name);
        }
    }

    private void ordinary(String name) throws IOException {
        Files.createSymbolicLink(programs.resolve(name), ordinaryPath(name));
    }

    private static Path ordinaryPath(String name) {
        return Stream.of("/bin", "/usr/bin")
                .map(place -> Path.of(place, name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
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
    void anApplicationThatMavenCannotFetchIsNamedAndNoServerStarted() throws Exception {
        ordinary("mkdir");
        program(programs.resolve("mvn"), "echo 'it does not resolve' >&2; exit 1");
        for (String application : List.of("kafka", "bookkeeper")) {
            Result result = run(project.resolve("bin/saucr-applications"), jdk(), application);
            assertThat(result.exitCode).isEqualTo(1);
            assertThat(result.output)
                    .contains("it does not resolve\n")
                    .contains("saucr-applications: Maven cannot fetch org.apache." + application)
                    .doesNotContain("Starting");
        }
    }

    @Test
    void testSaysWhatItTakesAndRefusesWhatItDoesNot() throws Exception {
        for (String asked : List.of("help test", "test --help")) {
            Result result = saucr(null, asked.split(" "));
            assertThat(result.exitCode).isZero();
            assertThat(result.output).contains("Usage: ./saucr test").contains("--all", "--quick");
        }
        Result result = saucr(null, "test", "--quik");
        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.output)
                .contains("saucr: test: unknown option '--quik'")
                .contains("Usage: ./saucr test");
        for (String known : List.of("--all", "--quick", "--trial", "--no-skip", "--set-up")) {
            assertThat(saucr(null, "test", known).output).contains("no JDK found");
        }
    }

    @Test
    void helpBeforeAnyBuildNeedsNeitherJdkNorMaven() throws Exception {
        for (String asked : List.of("help", "--help", "-h", "help up", "up --help")) {
            Result result = saucr(null, asked.split(" "));
            assertThat(result.exitCode).as(asked).isZero();
            assertThat(result.output).startsWith("Usage: ./saucr COMMAND\n");
            List<String> commands =
                    result.output
                            .lines()
                            .filter(line -> line.startsWith("  "))
                            .map(line -> line.strip().split(" ")[0])
                            .toList();
            assertThat(commands)
                    .containsAll(SaucrCommand.commandLine().getSubcommands().keySet())
                    .hasSize(SaucrCommand.commandLine().getSubcommands().size() + 1)
                    .contains("test");
        }
        assertThat(project.resolve("target")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void theVersionNeedsNoBuild(String script) throws Exception {
        Files.copy(CommandRun.projectRoot().resolve("pom.xml"), project.resolve("pom.xml"));
        for (String asked : List.of("-V", "--version")) {
            Result result = run(project.resolve(script), null, asked);
            assertThat(result.exitCode).isZero();
            assertThat(result.output).matches("SAUCR ZooKeeper \\d+\\.\\d+\\.\\d+\\S*\n");
        }
        assertThat(project.resolve("target")).doesNotExist();
    }

    @Test
    void helpOfWhatIsBuiltIsShownAsItIs() throws Exception {
        unbuiltModel();
        Files.createFile(folder.resolve("go"));
        Result before = run(project.resolve("bin/saucr-model"), jdk(), "help");
        assertThat(before.exitCode).isZero();
        assertThat(before.output)
                .contains("Explores everything that can happen")
                .contains("is not built yet")
                .doesNotContain("java runs");
        run(project.resolve("bin/saucr-model"), jdk());
        Files.delete(project.resolve("saucr-core/target/classes/Some.class"));
        for (String asked : List.of("help", "--help", "check --help")) {
            assertThat(run(project.resolve("bin/saucr-model"), jdk(), asked.split(" ")))
                    .isEqualTo(new Result(0, "java runs\n"));
        }
        assertThat(builds()).hasSize(1);
    }

    @Test
    void aBuildNamesEachModuleThatItBegins() throws Exception {
        unbuiltModel();
        Files.createFile(folder.resolve("go"));
        Result result = run(project.resolve("bin/saucr-model"), jdk());
        assertThat(result.output)
                .contains("saucr-model: building [1/2] The core\n")
                .contains("saucr-model: building [2/2] The model: a checker\n")
                .doesNotContain("Building jar");
    }

    @Test
    void whatTheTestsWantIsNamedInOneLineEach() throws Exception {
        mavenThatReports("");
        Result result = saucr(jdk(), "test", "--no-install");
        // adduser may be in /usr/sbin, which is looked at whatever PATH says.
        assertThat(
                        result.output
                                .lines()
                                .filter(line -> line.contains("missing:"))
                                .filter(line -> !line.contains("adduser")))
                .hasSize(9)
                .allMatch(line -> line.startsWith("saucr: test: missing: "))
                .allMatch(line -> line.contains("(Debian, Ubuntu: apt-get install "))
                .allMatch(line -> line.contains("; not tested: "))
                .anyMatch(line -> line.contains("Chromium"))
                .anyMatch(line -> line.contains("apt-get install gcc libc6-dev)"));
        assertThat(result.exitCode).isZero();
        assertThat(result.output).endsWith("\n1 passed, 0 failed\n");
    }

    @Test
    void whatIsMissingIsInstalledFirst() throws Exception {
        mavenThatReports("");
        for (String name : List.of("cut", "tr", "env")) {
            ordinary(name);
        }
        program(programs.resolve("id"), "echo 0");
        // Knows all packages but one; installs programs of the names of packages.
        program(programs.resolve("apt-cache"), "[ \"$2\" != chromium-headless-shell ]");
        program(
                programs.resolve("apt-get"),
                "echo \"$*\" >>'" + folder + "/installed'",
                "for name; do",
                "    case \"$name\" in",
                "    gcc | curl | openssl | gradle | chromium | adduser) ;;",
                "    systemd) name=systemd-analyze ;;",
                "    iproute2) name=ip ;;",
                "    *) continue ;;",
                "    esac",
                "    echo '#!/bin/sh' >'" + programs + "'/$name",
                "    \"" + ordinaryPath("chmod") + "\" +x '" + programs + "'/$name",
                "done");
        Result result = saucr(jdk(), "test", "--set-up");
        assertThat(result.exitCode).isZero();
        assertThat(result.output)
                .contains("installing what is missing, by apt-get (--no-install leaves it out):")
                .doesNotContain("maven runs");
        assertThat(Files.readAllLines(folder.resolve("installed"))).first().isEqualTo("-q update");
        assertThat(Files.readString(folder.resolve("installed")))
                .contains("--no-install-recommends gcc libc6-dev\n")
                .contains("--no-install-recommends chromium\n");
        // What cannot be had is named.
        assertThat(result.output.lines().filter(line -> line.contains("missing:")))
                .hasSize(2)
                .anyMatch(line -> line.contains("missing: Python 3 with pip"))
                .anyMatch(line -> line.contains("missing: Prometheus"));
    }

    @Test
    void aSkippedTestIsCountedWithItsReasonAndMayBeAFailure() throws Exception {
        mavenThatReports(
                "  <testcase name=\"page\" classname=\"io.saucr.SomeIT\" time=\"0\">\n"
                        + "    <skipped message=\"Assumption failed: no &quot;browser&quot;\""
                        + " type=\"x\"/>\n  </testcase>");
        Result result = saucr(jdk(), "test", "--no-install");
        assertThat(result.output)
                .endsWith(
                        "SKIPPED io.saucr.SomeIT.page: no \"browser\"\n"
                                + "1 passed, 0 failed, 1 skipped\n");
        assertThat(result.exitCode).isZero();
        Result strict = saucr(jdk(), "test", "--no-install", "--no-skip");
        assertThat(strict.output)
                .contains("Tests were skipped, which --no-skip does not allow.\n")
                .endsWith("1 passed, 0 failed, 1 skipped\n");
        assertThat(strict.exitCode).isEqualTo(1);
    }

    /** A Maven whose tests passed once, and more test cases, which were skipped. */
    private void mavenThatReports(String more) throws IOException {
        ordinary("mkdir");
        program(
                programs.resolve("mvn"),
                "echo \"maven runs in $PWD\"",
                "mkdir -p module/target/surefire-reports",
                "cat >module/target/surefire-reports/TEST-a.xml <<'END'",
                "<testsuite name=\"a\" tests=\""
                        + (more.isEmpty() ? "1\" skipped=\"0" : "2\" skipped=\"1")
                        + "\" errors=\"0\" failures=\"0\">",
                "  <testcase name=\"one\" classname=\"io.saucr.OneTest\" time=\"0\"/>",
                more,
                "</testsuite>",
                "END");
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void aLinkToAScriptRunsThatScript(String script) throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), project.resolve(script));
        Result result = run(link, folder, "load");
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output).startsWith("link: JAVA_HOME is '" + folder + "'");
    }

    @Test
    void theTestsOfTheProjectThatALinkLeadsToAreRun() throws Exception {
        final Path ours =
                Files.createDirectories(project.resolve("module/target/surefire-reports"));
        final Path others =
                Files.createDirectories(folder.resolve("other/target/surefire-reports"));
        program(programs.resolve("mvn"), "echo \"maven runs in $PWD\"");
        Path link = Files.createSymbolicLink(folder.resolve("link"), project.resolve("saucr"));
        Result result = run(link, jdk(), "test");
        assertThat(result.output).contains("maven runs in " + project.toRealPath() + "\n");
        assertThat(ours).doesNotExist();
        assertThat(others).exists();
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void withoutTheLauncherNothingIsDone(String script) throws Exception {
        final Path others =
                Files.createDirectories(folder.resolve("other/target/surefire-reports"));
        program(programs.resolve("mvn"), "echo \"maven runs in $PWD\"");
        Files.delete(project.resolve(LAUNCHER));
        Result result = run(project.resolve(script), jdk(), "test");
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output).contains(LAUNCHER).doesNotContain("maven");
        assertThat(others).exists();
    }

    @Test
    void ofTwoCommandsOneBuildsAndTheOtherWaits() throws Exception {
        unbuiltModel();
        Process first = start(project.resolve("bin/saucr-model"), jdk());
        awaitBuilds(1);
        Process second = start(project.resolve("bin/saucr-model"), jdk());
        BufferedReader said = second.inputReader(StandardCharsets.UTF_8);
        assertThat(said.readLine()).isEqualTo("saucr-model: waiting for another build");
        Files.createFile(folder.resolve("go"));
        assertThat(end(first).output).contains("saucr-model: building").contains("java runs");
        assertThat(said.readLine()).isEqualTo("java runs");
        assertThat(end(second).exitCode).isZero();
        assertThat(builds()).hasSize(1);
    }

    @Test
    void aBuildThatIsInterruptedEndsAndKeepsNobodyWaiting() throws Exception {
        unbuiltModel();
        Process first = start(project.resolve("bin/saucr-model"), jdk());
        awaitBuilds(1);
        first.toHandle().destroy(); // leaves the output open
        assertThat(end(first).exitCode).isEqualTo(130);
        final Process second = start(project.resolve("bin/saucr-model"), jdk());
        awaitBuilds(2);
        Files.createFile(folder.resolve("go"));
        assertThat(end(second).output).contains("java runs");
        assertThat(builds()).hasSize(2);
    }

    @Test
    void withoutFlockItBuildsAsWell() throws Exception {
        unbuiltModel();
        Files.delete(programs.resolve("flock"));
        Files.createFile(folder.resolve("go"));
        Result result = run(project.resolve("bin/saucr-model"), jdk());
        assertThat(result.output).contains("saucr-model: built in").contains("java runs");
        assertThat(result.exitCode).isZero();
    }

    @Test
    void whatIsBuiltIsBuiltOnce() throws Exception {
        unbuiltModel();
        Files.createFile(folder.resolve("go"));
        for (int i = 0; i < 2; i++) {
            assertThat(run(project.resolve("bin/saucr-model"), jdk()).output)
                    .endsWith("java runs\n");
        }
        assertThat(builds()).hasSize(1);
    }

    @ParameterizedTest
    @FieldSource("MODEL_MODULES")
    void classesThatWereRemovedAreBuiltAgain(String module) throws Exception {
        unbuiltModel();
        Files.createFile(folder.resolve("go"));
        final Path classes = project.resolve(module).resolve("target/classes");
        run(project.resolve("bin/saucr-model"), jdk());
        Files.delete(classes.resolve("Some.class"));
        run(project.resolve("bin/saucr-model"), jdk());
        assertThat(builds()).hasSize(2);
        Files.delete(classes.resolve("Some.class"));
        Files.delete(classes);
        run(project.resolve("bin/saucr-model"), jdk());
        assertThat(builds()).hasSize(3);
        assertThat(classes.resolve("Some.class")).exists();
    }

    @Test
    void ofSeveralDistributionsTheNewestCounts() throws Exception {
        Path target = Files.createDirectories(project.resolve("zookeeper-server/target"));
        Path product = project.resolve("bin/product");
        program(product, ". \"${BASH_SOURCE[0]%/*}/launcher.sh\"", "product zookeeper-server");
        for (String name : List.of("b", "a", "c")) {
            Path tarball = Files.createFile(target.resolve(name + "-bin.tar.gz"));
            Files.setLastModifiedTime(tarball, FileTime.fromMillis(name.equals("b") ? 2000 : 1000));
        }
        assertThat(run(product, null).output).isEqualTo(target.resolve("b-bin.tar.gz") + "\n");
        assertThat(Distribution.tarball(project)).contains(target.resolve("b-bin.tar.gz"));
    }

    @Test
    void ycsbShowsItsUsageWhereItIsAskedFor() throws Exception {
        Path out = project.resolve("bin/out");
        program(out, "exec \"${BASH_SOURCE[0]%/*}/saucr-ycsb\" \"$@\" 2>/dev/null");
        for (String asked : List.of("-h", "--help", "help")) {
            assertThat(run(out, null, asked).output).startsWith("usage: saucr-ycsb load|run");
            assertThat(run(out, null, asked).exitCode).isZero();
        }
        assertThat(run(out, null, "walk")).isEqualTo(new Result(2, ""));
    }

    /**
     * The sources of the module saucr-model and what it is made of, and a Maven that builds it as
     * soon as there is a file {@code go}.
     */
    private void unbuiltModel() throws IOException {
        Files.createFile(project.resolve("pom.xml"));
        for (String module : MODEL_MODULES) {
            Files.createDirectories(project.resolve(module).resolve("src/main"));
            Files.createFile(project.resolve(module).resolve("pom.xml"));
        }
        for (String name : List.of("mkdir", "touch", "sleep", "grep", "flock", "setsid")) {
            ordinary(name);
        }
        program(
                programs.resolve("mvn"),
                "echo \"$*\" >>'" + folder + "/builds'",
                "echo '[INFO] Building The core 0.1.0                      [1/2]'",
                "echo '[INFO] Building The model: a checker 0.1.0          [2/2]'",
                "echo '[INFO] Building jar: model.jar'",
                "while [ -e '" + folder + "/builds' ] && [ ! -e '" + folder + "/go' ]; do",
                "    sleep 0.05",
                "done",
                "for module in " + String.join(" ", MODEL_MODULES) + "; do",
                "    mkdir -p $module/target/classes",
                "    echo >$module/target/classes/Some.class",
                "done",
                "echo -n $PWD/saucr-core/target/classes >saucr-model/target/class.path");
    }

    /** What Maven was called with. */
    private List<String> builds() throws IOException {
        Path file = folder.resolve("builds");
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    private void awaitBuilds(int count) {
        await().atMost(LIMIT).until(() -> builds().size() == count);
    }

    /** All that a user calls. */
    static List<String> scripts() throws IOException {
        Path root = CommandRun.projectRoot();
        try (Stream<Path> files = Files.list(root.resolve("bin"))) {
            return Stream.concat(Stream.of(root.resolve("saucr")), files)
                    .map(file -> root.relativize(file).toString())
                    .filter(name -> !name.equals(LAUNCHER))
                    .sorted()
                    .toList();
        }
    }

    /** A JDK that is new enough, and whose programs say that they run. */
    private Path jdk() throws IOException {
        Path home = folder.resolve("jdk-17");
        Files.createDirectories(home.resolve("bin"));
        program(home.resolve("bin/javac"), "echo 'javac 17.0.1'");
        program(home.resolve("bin/java"), "echo 'java runs'");
        return home;
    }

    private void program(Path file, String... lines) throws IOException {
        Files.writeString(
                file, "#!" + programs.resolve("bash") + "\n" + String.join("\n", lines) + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private record Result(int exitCode, String output) {}

    private Result saucr(Path javaHome) throws IOException, InterruptedException {
        return saucr(javaHome, "status");
    }

    private Result saucr(Path javaHome, String... arguments)
            throws IOException, InterruptedException {
        return run(project.resolve("saucr"), javaHome, arguments);
    }

    private Result run(Path script, Path javaHome, String... arguments)
            throws IOException, InterruptedException {
        return end(start(script, javaHome, arguments));
    }

    private Process start(Path script, Path javaHome, String... arguments) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(programs.resolve("bash").toString(), script.toString());
        builder.command().addAll(List.of(arguments));
        builder.environment().clear();
        builder.environment().put("PATH", programs.toString());
        builder.environment().put("SAUCR_STATE", folder.resolve("state").toString());
        if (javaHome != null) {
            builder.environment().put("JAVA_HOME", javaHome.toString());
        }
        return builder.directory(folder.toFile()).redirectErrorStream(true).start();
    }

    private static Result end(Process process) throws IOException, InterruptedException {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return new Result(process.exitValue(), output);
    }
}
