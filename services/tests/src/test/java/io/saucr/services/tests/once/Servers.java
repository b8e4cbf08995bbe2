package io.saucr.services.tests.once;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;

/** The ensembles that the tests of this package run on. */
final class Servers {
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private Servers() {}

    /** Three of Apache's release, serving. */
    static Ensemble stock(Path work) throws IOException {
        return serving(Ensemble.of(Distribution.stock(), work).voters(3).build());
    }

    /** One of Apache's release, serving alone. */
    static Ensemble stockAlone(Path work) throws IOException {
        Ensemble ensemble = Ensemble.of(Distribution.stock(), work).voters(1).build();
        try {
            ensemble.start();
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> ensemble.server(1).role().equals("standalone"));
            return ensemble;
        } catch (IOException | RuntimeException e) {
            ensemble.close();
            throw e;
        }
    }

    /** Three of the distribution that this build packages, serving, with SAUCR on. */
    static Ensemble ours(Path work) throws IOException {
        Path target = Path.of(System.getProperty("saucr.tests.target")).toAbsolutePath();
        Files.createDirectories(target);
        Path home =
                Distribution.unpack(
                        Path.of(System.getProperty("saucr.distribution")),
                        target.resolve("distribution"));
        return serving(
                Ensemble.of(Distribution.folder(home), work)
                        .voters(3)
                        .set("saucr.enabled", "true")
                        .build());
    }

    private static Ensemble serving(Ensemble ensemble) throws IOException {
        try {
            ensemble.start();
            ensemble.awaitServing(PATIENCE);
            return ensemble;
        } catch (IOException | RuntimeException e) {
            ensemble.close();
            throw e;
        }
    }
}
