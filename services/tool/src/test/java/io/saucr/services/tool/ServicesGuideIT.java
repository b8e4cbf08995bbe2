package io.saucr.services.tool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

/**
 * docs/services/tutorial.md as a newcomer follows it: its programs are compiled as they stand
 * there, two banks run as processes, one is killed while the teller moves money.
 */
class ServicesGuideIT {

    private static final Path PAGE = Path.of("../../docs/services/tutorial.md");
    private static final int TRANSFERS = 4_000;
    private static final int BETWEEN_KILLS_BYTES = 200_000;

    @TempDir private Path folder;

    private final List<Process> processes = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(folder.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
    }

    @AfterEach
    void stopAll() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        ensemble.shutdown();
    }

    private static List<String> blocks(String language) throws IOException {
        Matcher block =
                Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
                        .matcher(Files.readString(PAGE));
        List<String> blocks = new ArrayList<>();
        while (block.find()) {
            blocks.add(block.group(1));
        }
        return blocks;
    }

    /** The programs of the page, by the names of their classes. */
    private static Map<String, String> programs() throws IOException {
        Map<String, String> programs = new LinkedHashMap<>();
        for (String block : blocks("java")) {
            Matcher name = Pattern.compile("public final class (\\w+)").matcher(block);
            if (name.find()) {
                programs.put(name.group(1), block);
            } else {
                programs.put("Kit", kit(block));
            }
        }
        return programs;
    }

    /** The part of a test, within what a test has around it. */
    private static String kit(String block) {
        return """
                import io.saucr.services.Client;
                import io.saucr.services.testkit.CrashPoints;
                import io.saucr.services.testkit.TestService;
                public final class Kit {
                    static void assertEquals(long expected, long actual) {
                        if (expected != actual) {
                            throw new AssertionError(expected + " was expected, not " + actual);
                        }
                    }
                    public static int run() {
                """
                + block
                + "return crashes; } }";
    }

    private Path compile() throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "-d",
                                classes.toString(),
                                "-proc:none",
                                "-cp",
                                System.getProperty("java.class.path")));
        for (Map.Entry<String, String> program : programs().entrySet()) {
            Path source = folder.resolve(program.getKey() + ".java");
            Files.writeString(source, program.getValue());
            arguments.add(source.toString());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).isZero();
        return classes;
    }

    private Process start(Path classes, Path output, String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "-Xmx128m",
                                "-Dlogback.configurationFile=io/saucr/services/examples/logback.xml",
                                "-cp",
                                classes
                                        + File.pathSeparator
                                        + System.getProperty("java.class.path")));
        command.addAll(List.of(arguments));
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                        .start();
        processes.add(process);
        return process;
    }

    @Test
    void aBankWhoseProcessIsKilledLosesNothing() throws Exception {
        Path classes = compile();
        String place = "127.0.0.1:" + ensemble.getLocalPort();
        Path log = folder.resolve("banks.log");
        Path out = folder.resolve("teller.out");
        Process north = start(classes, log, "Bank", place, "north");
        Process south = start(classes, log, "Bank", place, "south");
        Process teller = start(classes, out, "Teller", place, Integer.toString(TRANSFERS));
        for (int kill = 0; kill < 4; kill++) {
            awaitTransfers(teller);
            if (kill % 2 == 0) {
                south.destroyForcibly().waitFor();
                south = start(classes, log, "Bank", place, "south");
            } else {
                north.destroyForcibly().waitFor();
                north = start(classes, log, "Bank", place, "north");
            }
        }
        assertThat(teller.waitFor()).as(Files.readString(out)).isZero();
        assertThat(Files.readString(out, UTF_8))
                .contains("ann has 0\n")
                .contains("bob has " + TRANSFERS + "\n");
    }

    /** Waits until the services have written what some hundred transfers take, or all are made. */
    private void awaitTransfers(Process teller) {
        long[] last = {bytes()};
        long[] written = new long[1];
        await().atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> {
                            long now = bytes();
                            // Less where a journal has been folded.
                            written[0] += Math.max(0, now - last[0]);
                            last[0] = now;
                            return written[0] > BETWEEN_KILLS_BYTES || !teller.isAlive();
                        });
    }

    /** Of all files of the services; those that come and go meanwhile do not count. */
    private long bytes() {
        long bytes = 0;
        try (Stream<Path> files = Files.walk(folder.resolve("data"))) {
            for (Path file : files.toList()) {
                bytes += file.toFile().length();
            }
        } catch (IOException | UncheckedIOException e) {
            return bytes;
        }
        return bytes;
    }

    @Test
    void theTestOfThePageCrashesABankEverywhere() throws Exception {
        Path classes = compile();
        try (URLClassLoader loader =
                new URLClassLoader(
                        new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
            Object crashes = loader.loadClass("Kit").getMethod("run").invoke(null);
            assertThat((Integer) crashes).isGreaterThan(20);
        }
    }

    /**
     * As in the page, by the Maven of this machine with what its installation presets, into a local
     * repository that has nothing but this library.
     */
    @Test
    void theTutorialWorksWithABareMavenAndAnEmptyRepository() throws Exception {
        Path project = Files.createDirectories(folder.resolve("bank"));
        writeFiles(tutorial(), project);
        assertThat(project.resolve("pom.xml")).exists();
        assertThat(project.resolve("src/main/java/Teller.java")).exists();
        Path repository = folder.resolve("repository");
        for (String module :
                List.of("saucr-zookeeper", "saucr-services-core", "saucr-once", "saucr-services")) {
            install(module, repository);
        }
        String typed =
                commands(tutorial())
                        .replace("mvn -q", "mvn -B -q -Dmaven.repo.local=" + repository)
                        .replace(
                                "bin/saucr-services",
                                Path.of("../../bin/saucr-services").toRealPath().toString());
        assertThat(typed).contains("mvn -B", "kill -9", "wait $teller");
        String told = run(typed, project);
        assertThat(told)
                .contains("ann has 0\n")
                .contains("bob has " + TRANSFERS + "\n")
                .contains("bob has " + 2 * TRANSFERS + "\n")
                .doesNotContain("INFO")
                .doesNotContain("SLF4J");
    }

    /** The same with the Gradle of this machine, as docs/services/gradle.md says. */
    @Test
    void theTutorialWorksWithGradle() throws Exception {
        assumeTrue(isOnPath("gradle"), "no gradle on the PATH");
        Path project = Files.createDirectories(folder.resolve("bank"));
        writeFiles(tutorial(), project);
        Files.delete(project.resolve("pom.xml"));
        String page = Files.readString(PAGE.resolveSibling("gradle.md"));
        writeFiles(page, project);
        assertThat(project.resolve("build.gradle")).exists();
        // What mavenLocal() is, is said by a setting of the user's that Gradle reads.
        Path repository = folder.resolve("repository");
        for (String module :
                List.of("saucr-zookeeper", "saucr-services-core", "saucr-once", "saucr-services")) {
            install(module, repository);
        }
        String typed =
                commands(page)
                        .replace(
                                "gradle -q",
                                "gradle -q --no-daemon --gradle-user-home "
                                        + folder.resolve("gradle")
                                        + " -Dmaven.repo.local="
                                        + repository);
        assertThat(typed).contains("gradle -q", "kill -9", "wait $teller");
        assertThat(run(typed, project))
                .contains("ann has 0\n")
                .contains("bob has " + TRANSFERS + "\n")
                .doesNotContain("INFO")
                .doesNotContain("SLF4J");
    }

    private static boolean isOnPath(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(it -> Files.isExecutable(Path.of(it, program)));
    }

    /** The files whose names and contents a page gives. */
    private static void writeFiles(String page, Path project) throws IOException {
        Matcher file =
                Pattern.compile("`([\\w/.]+)`[^`]*```(?!bash)\\w+\n(.*?)```", Pattern.DOTALL)
                        .matcher(page);
        while (file.find()) {
            Path target = project.resolve(file.group(1));
            Files.createDirectories(target.getParent());
            Files.writeString(target, file.group(2));
        }
    }

    /** What a page has its reader type, without what puts the library into a repository. */
    private static String commands(String page) {
        Matcher commands = Pattern.compile("```bash\n(.*?)```", Pattern.DOTALL).matcher(page);
        StringBuilder script = new StringBuilder("set -e\n");
        while (commands.find()) {
            if (!commands.group(1).contains(" install ")) {
                script.append(commands.group(1));
            }
        }
        return script.toString();
    }

    private String run(String commands, Path project) throws Exception {
        String typed =
                commands.replace("localhost:2181", "127.0.0.1:" + ensemble.getLocalPort())
                        .replace(" 20000", " " + TRANSFERS);
        Files.writeString(folder.resolve("typed.sh"), typed);
        Path output = folder.resolve("typed.out");
        ProcessBuilder builder =
                new ProcessBuilder("bash", folder.resolve("typed.sh").toString())
                        .directory(project.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        String java = System.getProperty("java.home");
        builder.environment().put("JAVA_HOME", java);
        builder.environment().merge("PATH", java + "/bin", (all, first) -> first + ":" + all);
        Process shell = builder.start();
        boolean ended;
        try {
            ended = shell.waitFor(10, TimeUnit.MINUTES);
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
        }
        String told = Files.readString(output);
        assertThat(ended && shell.exitValue() == 0).as(told).isTrue();
        return told;
    }

    /** The part of the page from an empty folder to a bank that is killed and has standbys. */
    private static String tutorial() throws IOException {
        String page = Files.readString(PAGE);
        return page.substring(page.indexOf("\n## 1. "), page.indexOf("\n## 7. "));
    }

    /** Puts what this build has made into a local repository, as mvn install does. */
    private static void install(String artifact, Path repository) throws Exception {
        Path module =
                switch (artifact) {
                    case "saucr-services-core" -> Path.of("../core");
                    case "saucr-once" -> Path.of("../once");
                    case "saucr-services" -> Path.of("../runtime");
                    default -> Path.of("../..");
                };
        Document pom =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(module.resolve("pom.xml").toFile());
        String version = pom.getElementsByTagName("version").item(0).getTextContent();
        String name = artifact + "-" + version;
        Path place =
                Files.createDirectories(
                        repository.resolve("io/saucr").resolve(artifact).resolve(version));
        Files.copy(module.resolve("pom.xml"), place.resolve(name + ".pom"));
        Path jar = module.resolve("target").resolve(name + ".jar");
        if (Files.exists(jar)) {
            Files.copy(jar, place.resolve(name + ".jar"));
        }
    }

    @Test
    void theProjectOfThePageDependsOnThisLibrary() throws Exception {
        Document pom =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(
                                new java.io.ByteArrayInputStream(
                                        blocks("xml").get(0).getBytes(UTF_8)));
        Document ours =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(Path.of("../runtime/pom.xml").toFile());
        assertThat(pom.getElementsByTagName("artifactId").item(1).getTextContent())
                .isEqualTo("saucr-services");
        assertThat(pom.getElementsByTagName("version").item(1).getTextContent())
                .isEqualTo(ours.getElementsByTagName("version").item(0).getTextContent());
        assertThat(Files.readString(Path.of("../runtime/pom.xml")))
                .contains("<artifactId>saucr-services</artifactId>");
    }
}
