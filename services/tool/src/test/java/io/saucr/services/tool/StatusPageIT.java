package io.saucr.services.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status page in a real browser, headless: what people see once its script has run. */
class StatusPageIT {

    private static final List<String> BROWSERS =
            List.of("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");

    @TempDir private Path folder;

    /** Sends everything on to a service that is not there, but what is poison. */
    static final class Relay implements Service {

        record Parcel(String content) {}

        Relay(State state) {}

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Parcel.class,
                    (parcel, turn) -> {
                        if (parcel.content().startsWith("poison")) {
                            throw new IllegalArgumentException("it does not bear the light");
                        }
                        turn.send("far-away", parcel);
                    });
        }
    }

    private static Path browser() {
        return BROWSERS.stream()
                .flatMap(
                        name ->
                                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                                        .map(path -> Path.of(path, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(
                        () -> abort("no browser: install one of " + String.join(", ", BROWSERS)));
    }

    /** The page as it is after five seconds of its own time, most of which do not pass here. */
    private String shown(String url) throws IOException, InterruptedException {
        Path out = folder.resolve("page.html");
        Process process =
                new ProcessBuilder(
                                browser().toString(),
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--user-data-dir=" + folder.resolve("profile"),
                                "--virtual-time-budget=5000",
                                "--dump-dom",
                                url)
                        .redirectError(folder.resolve("browser.log").toFile())
                        .redirectOutput(out.toFile())
                        .start();
        assertThat(process.waitFor()).isZero();
        return Files.readString(out);
    }

    @Test
    void peopleSeeChannelsAndWhatWasPutAsideAndNoContent() throws Exception {
        try (RunningService relay =
                        Services.without("relay", Map.of())
                                .folder(folder.resolve("relay"))
                                .segmentBytes(1 << 20)
                                .limits(new Limits(256, 1, true, 0, 0, 1_024, 3_600_000))
                                .statusPage(0)
                                .run(Relay::new, Protection.local());
                Client client =
                        Services.without("relay", Map.of("relay", relay.address()))
                                .client("sender", folder.resolve("sender"))) {
            client.send(new Relay.Parcel("secret-4711")).join();
            try {
                client.send(new Relay.Parcel("poison, secret-4712")).join();
            } catch (CompletionException e) {
                assertThat(e).hasMessageContaining("it does not bear the light");
            }
            String page = shown("http://" + relay.statusPage().orElseThrow() + "/");
            assertThat(page)
                    .contains("relay at " + relay.address())
                    .contains("far-away")
                    .contains("client sender")
                    .contains("IllegalArgumentException: it does not bear the light")
                    .contains("final up to turn")
                    .doesNotContain("secret-4711", "secret-4712");
        }
    }
}
