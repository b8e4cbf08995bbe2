package io.saucr.suites;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * The program with which the tests of Rust clients start servers: it prints a connect string, then
 * reads letters: {@code k} kills a server, {@code q} stops all. One server is an {@link
 * EnsembleProxy}.
 */
public final class TestCluster {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private TestCluster() {}

    /**
     * @param args the number of servers
     */
    public static void main(String[] args) throws Exception {
        TestServers servers = TestServers.ofEnvironment();
        int number = Integer.parseInt(args[0]);
        if (number == 1) {
            try (EnsembleProxy proxy = new EnsembleProxy(servers.connectString(), 0)) {
                proxy.emptyTree();
                proxy.open();
                System.out.println("127.0.0.1:" + proxy.port());
                obey(proxy::close);
            }
        } else {
            Path work = Files.createTempDirectory("cluster");
            try (Ensemble ensemble = ensemble(servers, number, work)) {
                ensemble.start();
                ensemble.awaitServing(PATIENCE);
                System.out.println(ensemble.connectString());
                obey(
                        () ->
                                ensemble.servers().stream()
                                        .filter(s -> s.isAlive())
                                        .findFirst()
                                        .orElseThrow()
                                        .kill());
            }
        }
    }

    private static Ensemble ensemble(TestServers servers, int number, Path work)
            throws IOException {
        Distribution distribution =
                new Distribution(
                        "server",
                        "",
                        Stream.of(servers.classPath().split(File.pathSeparator))
                                .map(Path::of)
                                .toList());
        return Ensemble.of(distribution, work).voters(number).jvm(servers.flags()).build();
    }

    private interface Kill {
        void now() throws IOException;
    }

    private static void obey(Kill kill) throws IOException {
        while (true) {
            switch (System.in.read()) {
                case 'k' -> kill.now();
                case 'q', -1 -> {
                    return;
                }
                default -> {
                    continue;
                }
            }
        }
    }
}
