package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.stream.Stream;

/** What this package does with whole folders. Stateless. */
final class Folders {
    private Folders() {}

    /** Where processes of this user keep something in common; it may not exist. */
    static Path ofThisUser(String purpose) {
        return Path.of(
                System.getProperty("java.io.tmpdir"),
                "saucr-crash-" + purpose + "-" + System.getProperty("user.name"));
    }

    /**
     * A folder that only this user may write to, for what is kept from one process to the next;
     * made if it is not there.
     *
     * @throws IOException if it is somebody else's, or cannot be made
     */
    static Path own(Path folder) throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(
                    folder,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        }
        UserPrincipal us = Files.getOwner(Path.of("/proc/self"));
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                || !Files.getOwner(folder).equals(us)
                || !Files.isWritable(folder)) {
            throw new IOException(folder + " is not ours");
        }
        return folder;
    }

    /** The first 16 hexadecimal digits of the SHA-256 digest. */
    static String digest(byte[] bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    /** Removes a folder and everything in it; nothing happens if there is none. */
    static void remove(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
