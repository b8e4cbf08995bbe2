package io.saucr.suites;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/**
 * The three servers that the tests of a suite share in a column, unless the suite starts its own.
 * Used by one thread.
 */
final class SharedEnsemble implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int DOWN_MS = 1000;

    private final Column column;
    private final Ensemble ensemble; // not started where the suite starts its own servers
    private final TestServers servers;
    private final Killer killer; // null where nobody kills

    private SharedEnsemble(Column column, Ensemble ensemble, TestServers servers, Killer killer) {
        this.column = column;
        this.ensemble = ensemble;
        this.servers = servers;
        this.killer = killer;
    }

    /**
     * Starts it, and waits until it serves.
     *
     * @param started whether there are shared servers: otherwise the suite gets class path and
     *     flags alone
     */
    static SharedEnsemble start(
            Column column, Distribution distribution, Path work, boolean started)
            throws IOException {
        List<String> properties =
                new ArrayList<>(
                        List.of(
                                "-Dzookeeper.extendedTypesEnabled=true",
                                // Tests wait for the end of containers and TTLs.
                                "-Dznode.container.checkIntervalMs=100"));
        try {
            properties.add(
                    "-Dzookeeper.DigestAuthenticationProvider.superDigest="
                            + DigestAuthenticationProvider.generateDigest(
                                    EnsembleProxy.SUPER_USER));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        Ensemble.Builder builder = Ensemble.of(distribution, work).voters(3);
        properties.forEach(builder::jvmFlag);
        builder.set("reconfigEnabled", "true");
        List<String> flags = new ArrayList<>(Ensemble.SMALL_JVM);
        flags.addAll(properties);
        if (column != Column.APACHE) {
            builder.set("saucr.enabled", "true");
            flags.add("-Dzookeeper.saucr.enabled=true");
        }
        Ensemble ensemble = builder.build();
        try {
            if (started) {
                ensemble.start();
                ensemble.awaitServing(PATIENCE);
            }
            return new SharedEnsemble(
                    column,
                    ensemble,
                    new TestServers(ensemble.connectString(), classPath(distribution), flags),
                    started && column == Column.KILLED ? killer(ensemble) : null);
        } catch (RuntimeException | IOException e) {
            ensemble.close();
            throw e;
        }
    }

    private static Killer killer(Ensemble ensemble) {
        return new Killer(
                random -> {
                    ServerProcess server = ensemble.server(1 + random.nextInt(ensemble.size()));
                    server.kill();
                    Thread.sleep(DOWN_MS);
                    server.start();
                    ensemble.awaitServing(PATIENCE);
                });
    }

    private static String classPath(Distribution distribution) {
        return distribution.classPath().stream()
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
    }

    Column column() {
        return column;
    }

    TestServers servers() {
        return servers;
    }

    @Override
    public void close() {
        if (killer != null) {
            killer.close();
        }
        ensemble.close();
    }
}
