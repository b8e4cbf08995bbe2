package io.saucr.services.once;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.ensemble.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The examples of docs/services/once.md, as they stand there, run. */
class OnceExampleTest {

    private static final Path PAGE = Path.of("../../docs/services/once.md");
    private static final Path SOURCE =
            Path.of("src/test/java/io/saucr/services/once/OnceExampleTest.java");

    @TempDir private Path temporary;

    private void example(String servers, Path folder) throws Exception {
        // Begin of the example.
        try (OnceClient client =
                OnceClient.at(
                                "zk1:2181,zk2:2181,zk3:2181/apps/bank"
                                        .replaceFirst("^[^/]*", servers))
                        .name("bank-eu")
                        .folder(
                                Path.of(
                                        "/var/lib/bank/once"
                                                .replaceFirst("^.*$", folder.toString())))
                        .open()) {
            client.create("/accounts", new byte[0]);
            client.setData("/accounts", "7".getBytes(UTF_8), 0);
            String order =
                    client.createSequential("/order-", "tea".getBytes(UTF_8)).orElse("gone by now");

            // As many as are given are under way; each tells its outcome.
            CompletableFuture<Outcome> outcome =
                    client.submit(
                            "payment-4711", Operation.setData("/accounts", "8".getBytes(UTF_8), 1));
            outcome.thenAccept(
                            o ->
                                    System.out.println(
                                            order
                                                    + ": "
                                                    + o.refusal().map(Enum::name).orElse("paid")))
                    .join();
        }
        // End of the example.
    }

    private void ephemeral(String servers, Path folder) throws Exception {
        // Begin of ephemerals.
        try (OnceClient client =
                OnceClient.at(
                                "zk1:2181,zk2:2181,zk3:2181/apps/bank"
                                        .replaceFirst("^[^/]*", servers))
                        .name("bank-eu")
                        .folder(
                                Path.of(
                                        "/var/lib/bank/once"
                                                .replaceFirst("^.*$", folder.toString())))
                        .onEphemeral((path, standing) -> System.out.println(path + ": " + standing))
                        .open()) {
            // There from now on, in each session and after each restart.
            client.declareEphemeral("/at", "10.0.0.7:9000".getBytes(UTF_8)).join();

            // Other data take the place of the old.
            client.declareEphemeral("/at", "10.0.0.7:9001".getBytes(UTF_8)).join();

            client.withdraw("/at").join();
        }
        // End of ephemerals.
    }

    @Test
    void itRuns() throws Exception {
        try (TestServer server = new TestServer(temporary.resolve("server"))) {
            example(server.connect(), temporary.resolve("folder"));
            ZooKeeper reader = new ZooKeeper(server.connect(), 30_000, event -> {});
            assertThat(reader.getData("/apps/bank/accounts", false, null))
                    .asString()
                    .isEqualTo("8");
            assertThat(reader.exists("/apps/bank/order-0000000002", false)).isNotNull();
            ephemeral(server.connect(), temporary.resolve("folder"));
            assertThat(reader.exists("/apps/bank/at", false)).isNull();
            reader.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'# The once client', the example",
        "'## Ephemeral nodes', ephemerals",
    })
    void itIsTheOneOfThePage(String heading, String name) throws Exception {
        String page = Files.readString(PAGE);
        String shown = between(page.substring(page.indexOf(heading + "\n")), "```java\n", "```");
        String source =
                between(
                                Files.readString(SOURCE),
                                "// Begin of " + name + ".",
                                "// End of " + name + ".")
                        .replace(".replaceFirst(\"^[^/]*\", servers)", "")
                        .replace(".replaceFirst(\"^.*$\", folder.toString())", "");
        assertThat(source.replaceAll("\\s+", "")).isEqualTo(shown.replaceAll("\\s+", ""));
    }

    private static String between(String text, String begin, String end) {
        Matcher matcher =
                Pattern.compile(Pattern.quote(begin) + "(.*?)" + Pattern.quote(end), Pattern.DOTALL)
                        .matcher(text);
        assertThat(matcher.find()).isTrue();
        return matcher.group(1);
    }
}
