package io.saucr.services.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands against services that are processes: some run, one was killed. */
class ServicesCommandIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir private Path folder;

    private final List<Process> processes = new ArrayList<>();
    private String out;
    private String err;

    @AfterEach
    void killAll() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    /** Where a service that runs answers, and its page. */
    private record Running(Process process, Address address, String page) {}

    private Process start(String name, boolean parks, String... others) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "-Xmx128m",
                                "-cp",
                                System.getProperty("java.class.path"),
                                RelayProcess.class.getName(),
                                name,
                                folder.resolve(name).toString(),
                                Boolean.toString(parks)));
        command.addAll(List.of(others));
        Process process =
                new ProcessBuilder(command)
                        .redirectError(folder.resolve(name + ".log").toFile())
                        .redirectOutput(folder.resolve(name + ".out").toFile())
                        .start();
        processes.add(process);
        return process;
    }

    private Running running(String name, Process process) {
        Path output = folder.resolve(name + ".out");
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> !process.isAlive() || Files.readString(output).endsWith("\n"));
        try {
            String[] places = Files.readString(output).strip().split(" ");
            assertThat(places).as(Files.readString(folder.resolve(name + ".log"))).hasSize(2);
            return new Running(process, Address.parse(places[0]), places[1]);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private int execute(String... arguments) {
        StringWriter outText = new StringWriter();
        StringWriter errText = new StringWriter();
        CommandLine command = ServicesCommand.commandLine();
        command.setOut(new PrintWriter(outText, true));
        command.setErr(new PrintWriter(errText, true));
        int code = command.execute(arguments);
        out = outText.toString();
        err = errText.toString();
        return code;
    }

    private JsonNode json(int expectedCode, String... arguments) throws IOException {
        String[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = "--json";
        assertThat(execute(all)).as(err).isEqualTo(expectedCode);
        return JSON.readTree(out);
    }

    private Client client(Running to, String name) throws IOException {
        return Services.without(name, Map.of(name, to.address()))
                .client("sender", folder.resolve("client-of-" + name));
    }

    private static CompletableFuture<Void> send(Client client, String content) {
        return client.send(new RelayProcess.Relay.Parcel(content));
    }

    private static Map<String, String> seen(Path folder) throws IOException {
        Map<String, String> seen = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.toList()) {
                seen.put(
                        file.toString(),
                        Files.getAttribute(file, "unix:ctime")
                                + " "
                                + Files.getLastModifiedTime(file)
                                + " "
                                + (Files.isDirectory(file)
                                        ? ""
                                        : Arrays.hashCode(Files.readAllBytes(file))));
            }
        }
        return seen;
    }

    @Test
    void operatorsSeeAndMendServicesThatRunAndReadWhatAKilledOneLeft() throws Exception {
        Process waitsProcess = start("waits", false);
        Running shop = running("shop", start("shop", true));
        Running relay = running("relay", start("relay", true, "shop=" + shop.address()));
        Running waits = running("waits", waitsProcess);
        try (Client client = client(relay, "relay")) {
            send(client, "one, secret-4711").join();
            for (int poison = 0; poison < 2; poison++) {
                CompletableFuture<Void> refused = send(client, "poison, secret-4712");
                assertThat(refused.handle((done, failure) -> failure).join())
                        .hasMessageContaining("it does not bear the light");
            }
            await().atMost(PATIENCE)
                    .until(
                            () ->
                                    json(0, "status", "--url", relay.page())
                                            .at("/0/status/channels")
                                            .findValuesAsText("unacked")
                                            .stream()
                                            .allMatch("0"::equals));
            parkedOnes(relay);

            // The shop is killed, and what comes for it waits.
            String birth = json(0, "folder", path("shop")).get("generation").asText();
            shop.process().destroyForcibly().waitFor();
            send(client, "two, secret-4713").join();
            await().atMost(PATIENCE)
                    .until(
                            () -> {
                                assertThat(execute("status", "--url", relay.page())).isZero();
                                return out.matches("(?s).*shop +cannot be reached.*");
                            });
            folders(relay);
            assertThat(execute("declare-lost", "shop", birth, "--url", relay.page()))
                    .as(err)
                    .isZero();
            assertThat(out).contains("messages that return to relay: 1");
            assertThat(json(0, "folder", path("relay")).get("peers").toString()).contains(birth);
        }
        resumed(waits);
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }

    private void parkedOnes(Running relay) throws IOException {
        assertThat(execute("dead-letters", "--url", relay.page())).isEqualTo(1);
        assertThat(out)
                .containsPattern("relay +1 +sender#[0-9a-f]{32} +Parcel")
                .contains("IllegalArgumentException: it does not bear the light")
                .doesNotContain("secret");
        assertThat(execute("retry", "7", "--url", relay.page())).isEqualTo(1);
        assertThat(err).contains("These are: 1 (Parcel), 2 (Parcel)");
        assertThat(execute("retry", "1", "--url", relay.page())).isZero();
        await().atMost(PATIENCE)
                .until(
                        () ->
                                json(1, "dead-letters", "--url", relay.page())
                                        .at("/0/deadLetters")
                                        .findValuesAsText("id")
                                        .equals(List.of("2", "3")));
        assertThat(execute("discard", "3", "--url", relay.page())).isZero();
    }

    private void folders(Running relay) throws Exception {
        // One that runs.
        JsonNode ofRelay = json(0, "folder", path("relay"));
        assertThat(ofRelay.get("inUseBy").asText()).isEqualTo("process " + relay.process().pid());
        assertThat(ofRelay.at("/deadLetters/0/id").asLong()).isEqualTo(2);
        assertThat(ofRelay.get("peers").findValuesAsText("unacked")).contains("1");
        assertThat(out).doesNotContain("secret");

        // One that was killed: nothing of it changes.
        Path shop = folder.resolve("shop");
        Map<String, String> before = seen(shop);
        assertThat(execute("folder", path("shop"))).as(err).isZero();
        assertThat(out)
                .containsPattern("name +shop")
                .containsPattern("in use +no")
                .containsPattern("verdict +whole, up to turn [1-9]")
                .containsPattern("relay +[0-9a-f]{32} +0 +0 +0 B +- +1 ")
                .doesNotContain("secret");
        assertThat(execute("folder", "verify", path("shop"))).isZero();
        assertThat(out).contains(shop + ": whole, up to turn ");
        assertThat(seen(shop)).isEqualTo(before);

        // One bit of it flips.
        Path segment = shop.resolve("journal/0000000000000000001.log");
        byte[] whole = Files.readAllBytes(segment);
        byte[] damaged = whole.clone();
        damaged[64 + 32] ^= 1;
        Files.write(segment, damaged);
        Map<String, String> broken = seen(shop);
        assertThat(execute("folder", "verify", path("shop"))).isEqualTo(1);
        assertThat(out).contains("WRONG: " + segment + ", byte 64: turn 1 is damaged");
        JsonNode verdict = json(1, "folder", "verify", path("shop"));
        assertThat(verdict.get("whole").asBoolean()).isFalse();
        assertThat(verdict.at("/problems/0/offset").asLong()).isEqualTo(64);
        assertThat(execute("folder", path("shop"))).isEqualTo(1);
        assertThat(out).contains("a start would refuse it; it can be read up to turn 0");
        assertThat(seen(shop)).isEqualTo(broken);
        Files.write(segment, whole);
        assertThat(execute("folder", "verify", path("shop"))).isZero();
    }

    private void resumed(Running waits) throws Exception {
        try (Client client = client(waits, "waits")) {
            CompletableFuture<Void> stuck = send(client, "poison, secret-4714");
            await().atMost(PATIENCE).until(() -> execute("status", "--url", waits.page()) == 1);
            assertThat(out).contains("stands still").doesNotContain("secret");
            assertThat(execute("resume", "shop", "--url", waits.page())).isEqualTo(1);
            String channel =
                    json(1, "status", "--url", waits.page()).at("/0/status/stopped/0").asText();
            assertThat(err).isEmpty();
            assertThat(execute("resume", channel, "--url", waits.page())).isZero();
            assertThat(out).contains("its next message is tried");
            assertThat(stuck).isNotDone();
        }
    }
}
