package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/services/spring-boot.md as a newcomer follows it: a project of Boot's own parent, with the
 * Maven of this machine, against servers of the distribution that this build made.
 */
class SpringBootGuideIT {

    private static final Path PAGE = Path.of("../docs/services/spring-boot.md");

    @TempDir private Path folder;

    /** The part of the page from an empty folder to a standby that continues. */
    private static String tutorial() throws IOException {
        String page = Files.readString(PAGE);
        return page.substring(page.indexOf("\n## 2. "), page.indexOf("\n## Properties"));
    }

    private static Path write(Path project, String ensemble) throws IOException {
        Matcher file =
                Pattern.compile("`([\\w/.]+)`[^`]*```(?!bash)\\w+\n(.*?)```", Pattern.DOTALL)
                        .matcher(tutorial());
        while (file.find()) {
            Path target = project.resolve(file.group(1));
            Files.createDirectories(target.getParent());
            Files.writeString(target, file.group(2).replace("localhost:2181", ensemble));
        }
        return project;
    }

    /** Puts what this build has made where mvn install puts it. */
    private static void install(Path module, String artifact, Path repository) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("../pom.xml"))) {
            String version =
                    lines.filter(it -> it.startsWith("  <version>"))
                            .findFirst()
                            .orElseThrow()
                            .replaceAll(" *</?version>", "");
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
    }

    /** Below those that the kernel gives to connections meanwhile, the application starts late. */
    private static String freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(14_000, 18_000);
            try (ServerSocket socket =
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return Integer.toString(socket.getLocalPort());
            } catch (IOException taken) {
                // Another one.
            }
        }
    }

    @Test
    void theApplicationOfThePageIsKilledAndHandsOver() throws Exception {
        assumeTrue(Shell.knows("mvn") && Shell.knows("curl"), "no mvn or curl on the PATH");
        Path repository = folder.resolve("repository");
        install(Path.of(".."), "saucr-zookeeper", repository);
        install(Path.of("../services/core"), "saucr-services-core", repository);
        install(Path.of("../services/once"), "saucr-once", repository);
        install(Path.of("../services/runtime"), "saucr-services", repository);
        install(
                Path.of("../services/spring-boot-starter"),
                "saucr-services-spring-boot-starter",
                repository);
        Matcher commands = Pattern.compile("```bash\n(.*?)```", Pattern.DOTALL).matcher(tutorial());
        StringBuilder script = new StringBuilder("set -e\n");
        while (commands.find()) {
            script.append(commands.group(1));
        }
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describe("spring-boot", 3))) {
            ensemble.awaitFast();
            Path project = write(folder.resolve("bank"), ensemble.connectString());
            assertThat(project.resolve("src/main/java/bank/BankApplication.java")).exists();
            String told =
                    run(
                            project,
                            script.toString()
                                    .replace("mvn -q", "mvn -B -q -Dmaven.repo.local=" + repository)
                                    .replace("java -jar", "java -Xmx200m -jar")
                                    .replace("localhost:2181", ensemble.connectString())
                                    .replace("8081", freePort())
                                    .replace("8082", freePort()));
            assertThat(told)
                    .contains("{\"cents\":100}{\"cents\":100}")
                    .contains("\"saucrServices\":{\"status\":\"UP\"")
                    .contains("{\"cents\":7}");
            assertThat(told.split(Pattern.quote("{\"cents\":7}"), -1)).hasSize(4);
            assertThat(project.resolve("services/bank/identity")).exists();
            assertThat(project.resolve("two/bank")).isDirectory();
        }
    }

    private String run(Path project, String script) throws Exception {
        Path typed = folder.resolve("typed.sh");
        Files.writeString(typed, script);
        Path output = folder.resolve("typed.out");
        Path errors = folder.resolve("typed.err");
        ProcessBuilder builder =
                new ProcessBuilder("bash", typed.toString())
                        .directory(project.toFile())
                        .redirectError(errors.toFile())
                        .redirectOutput(output.toFile());
        String java = System.getProperty("java.home");
        builder.environment().put("JAVA_HOME", java);
        builder.environment()
                .merge("PATH", java + "/bin", (all, first) -> first + File.pathSeparator + all);
        // What the application logs is not what the commands print.
        builder.environment().put("LOGGING_LEVEL_ROOT", "error");
        builder.environment().put("SPRING_MAIN_BANNERMODE", "off");
        Process shell = builder.start();
        boolean ended;
        try {
            ended = shell.waitFor(10, TimeUnit.MINUTES);
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
        }
        String told = Files.readString(output);
        assertThat(ended && shell.exitValue() == 0)
                .as("%s%n%s", told, Files.readString(errors))
                .isTrue();
        return told;
    }
}
