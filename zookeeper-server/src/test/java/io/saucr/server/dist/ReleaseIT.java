package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code packaging/release}, and what makes two builds of a commit the same. */
class ReleaseIT {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String ADDRESS = "https://example.org/saucr";

    @TempDir Path folder;
    private Path project;

    /** A project of one commit, in which nothing can be built. */
    @BeforeEach
    void project() throws Exception {
        project = folder.resolve("project");
        Files.createDirectories(project.resolve("packaging"));
        Files.copy(ROOT.resolve("packaging/release"), project.resolve("packaging/release"));
        Files.writeString(project.resolve("pom.xml"), "no project\n");
        for (String command :
                List.of(
                        "init -q",
                        "add .",
                        "-c user.name=a -c user.email=a@example.org commit -q -m first")) {
            Scripts.Result git = run(("git " + command).split(" "));
            assertThat(git.exitCode()).as(git.output()).isZero();
        }
    }

    @Test
    void anAddressIsWanted() throws Exception {
        refused(release(), 1, "--url is ''; it must be the https:// address");
        refused(release("--url"), 1, "--url needs a value");
        refused(release("--url", "saucr"), 1, "--url is 'saucr'; it must be the https:// address");
    }

    @Test
    void anUnknownOptionIsRefused() throws Exception {
        refused(release("--urls"), 2, "unknown option '--urls'");
    }

    @Test
    void aFolderThatExistsIsLeftAlone() throws Exception {
        Path out = Files.createDirectory(folder.resolve("out"));
        refused(
                release("--url", ADDRESS, "-o", out.toString()),
                1,
                out + " exists already; name another folder");
    }

    @Test
    void whatNoCommitHoldsIsNotReleased() throws Exception {
        Files.writeString(project.resolve("pom.xml"), "changed\n");
        refused(release("--url", ADDRESS), 1, "the work tree has changes that no commit holds");
        assertThat(project.resolve("target")).doesNotExist();
    }

    @Test
    void aBuildThatFailsLeavesNoRelease() throws Exception {
        Scripts.Result result = release("--url", ADDRESS);
        assertThat(result.exitCode()).as(result.output()).isNotZero();
        assertThat(project.resolve("target/release")).doesNotExist();
    }

    @Test
    void allFilesOfTheDistributionHaveTheDateOfTheBuild() throws Exception {
        Instant date = Instant.parse(setting("project.build.outputTimestamp"));
        ProcessBuilder list =
                new ProcessBuilder("tar", "-tvzf", System.getProperty("saucr.distribution"));
        list.environment().put("TZ", "UTC");
        Scripts.Result listed = Scripts.run(list, Duration.ofMinutes(1));
        String day = date.toString().substring(0, 10) + " " + date.toString().substring(11, 16);
        assertThat(listed.output().lines()).hasSizeGreaterThan(100).allMatch(l -> l.contains(day));
        LocalDateTime local = LocalDateTime.ofInstant(date, ZoneOffset.UTC);
        Path home = Scripts.unpack(Files.createDirectory(folder.resolve("unpacked")));
        int ours = 0;
        try (Stream<Path> files = Files.walk(home)) {
            for (Path jar : files.filter(f -> f.toString().endsWith(".jar")).toList()) {
                if (jar.getFileName().toString().startsWith("saucr-")) {
                    ours++;
                    sameInEachBuild(jar, local);
                }
            }
        }
        assertThat(ours).isGreaterThan(4);
    }

    private static void sameInEachBuild(Path jar, LocalDateTime date) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            assertThat(zip.stream().map(ZipEntry::getTimeLocal))
                    .as(jar.toString())
                    .containsOnly(date);
            List<String> names =
                    zip.stream()
                            .filter(entry -> !entry.isDirectory())
                            .map(ZipEntry::getName)
                            .filter(name -> name.startsWith("io/saucr/server/"))
                            .toList();
            if (jar.getFileName().toString().startsWith("saucr-zookeeper-agent")) {
                assertThat(names).isNotEmpty().containsExactlyElementsOf(new TreeSet<>(names));
            }
        }
    }

    @Test
    void everyPublishedModuleHasWhatMavenCentralWants() throws Exception {
        String parent = Files.readString(ROOT.resolve("pom.xml"));
        assertThat(parent)
                .contains(
                        "<description>", "<licenses>", "<developers>", "<scm ", "<url>${saucr.url}")
                .contains("<maven.deploy.skip>true</maven.deploy.skip>");
        int published = 0;
        Matcher modules = Pattern.compile("<module>(.*?)</module>").matcher(parent);
        while (modules.find()) {
            String pom = Files.readString(ROOT.resolve(modules.group(1)).resolve("pom.xml"));
            assertThat(pom).as(modules.group(1)).contains("<name>");
            published += pom.contains("<maven.deploy.skip>false<") ? 1 : 0;
        }
        assertThat(published).isGreaterThan(3);
    }

    private static String setting(String name) throws IOException {
        Matcher value =
                Pattern.compile("<" + name + ">(.*?)<")
                        .matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertThat(value.find()).isTrue();
        return value.group(1);
    }

    private static void refused(Scripts.Result result, int code, String why) {
        assertThat(result.output()).contains("release: " + why);
        assertThat(result.exitCode()).isEqualTo(code);
    }

    private Scripts.Result release(String... arguments) throws Exception {
        return run(
                Stream.concat(Stream.of("packaging/release"), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    private Scripts.Result run(String... command) throws Exception {
        return Scripts.run(
                new ProcessBuilder(command).directory(project.toFile()), Duration.ofMinutes(1));
    }
}
