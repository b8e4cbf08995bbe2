package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.awaitility.Awaitility;

/**
 * Apache's servers and ours, for the tests of one class: what the once client promises holds on
 * either. An ensemble starts when the first test asks for it. Thread-safe.
 */
final class BothServers implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Whose servers. */
    enum Kind {
        /** One of Apache's release, alone. */
        STOCK,
        /** Three of the distribution that this build packages, with SAUCR on. */
        OURS;

        Kind other() {
            return this == STOCK ? OURS : STOCK;
        }
    }

    private final Path work;
    private final Map<Kind, Ensemble> started = new EnumMap<>(Kind.class); // Guarded by this.

    /**
     * @param work where the servers' folders are made
     */
    BothServers(Path work) {
        this.work = work;
    }

    /** They serve. */
    synchronized Ensemble of(Kind kind) throws IOException {
        Ensemble ensemble = started.get(kind);
        if (ensemble == null) {
            ensemble = kind == Kind.STOCK ? stock() : ours();
            started.put(kind, ensemble);
            restart(kind);
        }
        return ensemble;
    }

    /**
     * Stops them in good order, as an operator does: servers in fast mode that die all at once need
     * one that did not.
     */
    synchronized void stop(Kind kind) throws IOException {
        for (ServerProcess server : started.get(kind).servers()) {
            assertThat(server.terminate(PATIENCE)).as("%s has ended", server).isTrue();
        }
    }

    /** Starts those that have been stopped, and waits until they serve. */
    synchronized void restart(Kind kind) throws IOException {
        Ensemble ensemble = started.get(kind);
        ensemble.start();
        if (kind == Kind.OURS) {
            ensemble.awaitServing(PATIENCE);
        } else {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> ensemble.server(1).role().equals("standalone"));
        }
    }

    private Ensemble stock() throws IOException {
        return Ensemble.of(Distribution.stock(), work.resolve("stock")).voters(1).build();
    }

    private Ensemble ours() throws IOException {
        Path tarball = Path.of(System.getProperty("saucr.distribution")).toRealPath();
        // Where other modules' tests look for it, too, with what they archived of its classes.
        Path home = Distribution.unpack(tarball, tarball.resolveSibling("distribution"));
        return Ensemble.of(Distribution.folder(home), work.resolve("ours"))
                .voters(3)
                .set("saucr.enabled", "true")
                .build();
    }

    @Override
    public synchronized void close() {
        started.values().forEach(Ensemble::close);
    }
}
