package io.saucr.crash.fault;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** What becomes of a folder whose disk is lost. Stateless. */
final class Emptying {
    private Emptying() {}

    /**
     * Deletes everything in the folder, and the folder unless it is {@code root}, but keeps {@code
     * root/myid}, which an operator who replaces a disk writes first.
     */
    static void of(Path root, Path folder) throws IOException {
        if (!folder.startsWith(root)) {
            throw new IllegalArgumentException(folder + " is not on the disk " + root);
        }
        List<Path> deepestFirst;
        try (Stream<Path> paths = Files.walk(folder)) {
            deepestFirst = paths.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : deepestFirst) {
            if (!path.equals(root) && !path.equals(root.resolve("myid"))) {
                Files.delete(path);
            }
        }
    }
}
