package io.saucr.services.tool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
                                "-Dlogback.configurationFile=io/saucr/services/tool/logback.xml",
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
            // Somewhere in the middle of it, whatever this machine needs for a start.
            awaitFolderGrows(kill);
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

    /** Each kill waits for another base or journal file's content, or for half a second. */
    private void awaitFolderGrows(int kill) throws InterruptedException {
        Path identity = folder.resolve("data/south/identity");
        while (kill == 0 && !Files.exists(identity)) {
            Thread.sleep(20);
        }
        Thread.sleep(600);
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
