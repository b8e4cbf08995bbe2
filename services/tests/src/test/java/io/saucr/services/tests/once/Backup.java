package io.saucr.services.tests.once;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Folders as they were at some moment, to go back to. Whoever uses them must have stopped. */
final class Backup {
    private final List<Path> folders;
    private final Path copies;

    private Backup(List<Path> folders, Path copies) {
        this.folders = folders;
        this.copies = copies;
    }

    /**
     * Copies folders.
     *
     * @param copies where to; not there yet
     */
    static Backup of(List<Path> folders, Path copies) throws IOException {
        Files.createDirectories(copies);
        for (int i = 0; i < folders.size(); i++) {
            copy(folders.get(i), copies.resolve(Integer.toString(i)));
        }
        return new Backup(folders, copies);
    }

    /** Copies the data of all servers, which are stopped for it and started again. */
    static Backup of(BothServers.Kind kind, BothServers all, Path copies) throws IOException {
        Ensemble servers = all.of(kind);
        all.stop(kind);
        Backup backup =
                of(servers.servers().stream().map(ServerProcess::dataDirectory).toList(), copies);
        servers.start();
        return backup;
    }

    /** Makes the folders what they were. */
    void restore() throws IOException {
        for (int i = 0; i < folders.size(); i++) {
            try (Stream<Path> old = Files.walk(folders.get(i))) {
                for (Path each : old.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
            copy(copies.resolve(Integer.toString(i)), folders.get(i));
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        }
    }
}
