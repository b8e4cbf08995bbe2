package io.saucr.services.tool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Asks;
import io.saucr.services.Client;
import io.saucr.services.Partitions;
import io.saucr.services.Services;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program of docs/services/partitions.md as it stands there, in two processes that are killed
 * while a client calls; one partition moves between them (K18, K19, K20).
 */
class PartitionsGuideIT {

    private static final Path PAGE = Path.of("../../docs/services/partitions.md");
    private static final int OWNERS = 40;
    private static final int MINUTES = 3;

    @TempDir private Path folder;

    private final List<Process> processes = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private Path classes;
    private String service;

    @BeforeEach
    void start() throws Exception {
        Path data = Files.createDirectories(folder.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
        service = "127.0.0.1:" + ensemble.getLocalPort() + "/apps/accounts";
        Matcher block =
                Pattern.compile("```java\n(package guide;.*?)```", Pattern.DOTALL)
                        .matcher(Files.readString(PAGE));
        assertThat(block.find()).isTrue();
        classes = Files.createDirectories(folder.resolve("classes"));
        Path source = Files.writeString(folder.resolve("Accounts.java"), block.group(1));
        int failed =
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-d",
                                classes.toString(),
                                "-proc:none",
                                "-cp",
                                System.getProperty("java.class.path"),
                                source.toString());
        assertThat(failed).isZero();
    }

    @AfterEach
    void stop() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        ensemble.shutdown();
    }

    /** A process of the page's program; returns once its partitions run. */
    private Process run(String side, String... partitions) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "-Xmx192m",
                                "-Dlogback.configurationFile=io/saucr/services/examples/logback.xml",
                                "-cp",
                                classes
                                        + File.pathSeparator
                                        + System.getProperty("java.class.path"),
                                "guide.Accounts",
                                service,
                                folder.resolve(side).toString()));
        command.addAll(List.of(partitions));
        int before = told(side);
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log(side).toFile()))
                        .start();
        processes.add(process);
        awaitTold(side, before + 1, process);
        return process;
    }

    private Path log(String side) {
        return folder.resolve(side + ".log");
    }

    /** How often a process said what runs. */
    private int told(String side) throws IOException {
        return Files.exists(log(side))
                ? (int)
                        Files.readAllLines(log(side)).stream()
                                .filter(line -> line.startsWith("running "))
                                .count()
                : 0;
    }

    private void awaitTold(String side, int times, Process process) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        while (told(side) < times) {
            assertThat(process.isAlive() && System.nanoTime() < end)
                    .as(Files.readString(log(side)))
                    .isTrue();
            Thread.sleep(20);
        }
    }

    private void command(Process process, String side, String line) throws Exception {
        int before = told(side);
        process.getOutputStream().write((line + "\n").getBytes(UTF_8));
        process.getOutputStream().flush();
        awaitTold(side, before + 1, process);
    }

    private static void kill(Process process) throws InterruptedException {
        int unused = process.destroyForcibly().waitFor();
    }

    @Test
    void nothingIsLostOrDoneTwiceWhileProcessesAreKilledAndAPartitionMoves() throws Exception {
        Process left = run("left");
        Partitions accounts = Services.at(service).partitions(16);
        try (URLClassLoader loader =
                        new URLClassLoader(
                                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
                Client client = accounts.client("teller", folder.resolve("teller"))) {
            Class<?> type = loader.loadClass("guide.Accounts$Deposit");
            List<CompletableFuture<?>> calls = new ArrayList<>();

            deposit(client, type, calls, 25);
            kill(left);
            deposit(client, type, calls, 25);
            left = run("left");

            int moved = accounts.of("owner1");
            command(left, "left", "release " + moved);
            Path to = folder.resolve("right").resolve(String.valueOf(moved));
            Files.createDirectories(to.getParent());
            Files.move(folder.resolve("left").resolve(String.valueOf(moved)), to);
            deposit(client, type, calls, 25);
            Process right = run("right", String.valueOf(moved));

            deposit(client, type, calls, 25);
            kill(right);
            kill(left);
            List<String> stay = new ArrayList<>();
            for (int number = 0; number < accounts.partitions(); number++) {
                if (number != moved) {
                    stay.add(String.valueOf(number));
                }
            }
            left = run("left", stay.toArray(String[]::new));
            right = run("right", String.valueOf(moved));

            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))
                    .get(MINUTES, TimeUnit.MINUTES);
            for (int owner = 0; owner < OWNERS; owner++) {
                assertThat(ask(client, type, owner, 0).get(MINUTES, TimeUnit.MINUTES).toString())
                        .isEqualTo("Cents[cents=100]");
            }
            assertThat(left.isAlive() && right.isAlive()).isTrue();
        }
    }

    private static void deposit(
            Client client, Class<?> type, List<CompletableFuture<?>> calls, int times)
            throws Exception {
        for (int count = 0; count < times; count++) {
            for (int owner = 0; owner < OWNERS; owner++) {
                calls.add(ask(client, type, owner, 1));
            }
        }
    }

    private static CompletableFuture<?> ask(Client client, Class<?> type, int owner, long cents)
            throws Exception {
        Object deposit =
                type.getConstructor(String.class, long.class).newInstance("owner" + owner, cents);
        return client.ask((Asks<?>) deposit);
    }
}
