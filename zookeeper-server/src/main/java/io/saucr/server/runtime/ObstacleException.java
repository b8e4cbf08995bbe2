package io.saucr.server.runtime;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * What is in the place of a file that a server reads or writes cannot be used as one. The message
 * says the path, what is there, and what to do. Nothing has been changed.
 */
public final class ObstacleException extends IOException {
    private static final long serialVersionUID = 1;

    private ObstacleException(String message, IOException cause) {
        super(message, cause);
    }

    /** Something is where a file is to be written. */
    public static ObstacleException inTheWay(Path file) {
        return new ObstacleException(
                ("%s is in the way: it is %s, and this server writes a file of that"
                                + " name. Move it away")
                        .formatted(file, kind(file)),
                null);
    }

    /** A deletion that an operator ordered has not come to its end. */
    public static ObstacleException unfinishedDeletion(Path file) {
        return new ObstacleException(
                file
                        + " is in the way: zkServer-initialize.sh --force was interrupted, so the data"
                        + " of this server may not be whole. Run it again",
                null);
    }

    /** Something is in a folder that is this server's alone, which removes it. */
    public static ObstacleException foreign(Path file) {
        return new ObstacleException(
                ("%s is in the way: %s is for the recoveries of this server alone, and"
                                + " is removed by them. Move the file away")
                        .formatted(file, file.getParent()),
                null);
    }

    /**
     * A folder has the name of a copied history, and is none.
     *
     * @param why a clause
     */
    public static ObstacleException notCopied(Path folder, String why) {
        return new ObstacleException(
                folder
                        + " is in the way: under this name a recovery keeps the history that it has"
                        + " copied from another server, and this is not one: "
                        + why
                        + ". Move the folder away; if this server needs its content, it copies it"
                        + " once more",
                null);
    }

    /** Something that is no file is where one is read. */
    public static ObstacleException noFile(Path file) {
        return new ObstacleException(
                file + " must be a file, and it is " + kind(file) + ". Move it away", null);
    }

    /** Something that is no folder, or a link to one, is where this server makes a folder. */
    public static ObstacleException noFolder(Path folder) {
        return new ObstacleException(
                ("%s is in the way: it is %s, and this server makes a folder of that"
                                + " name. Move it away")
                        .formatted(folder, kind(folder)),
                null);
    }

    /** What is there cannot be read. */
    public static ObstacleException unreadable(Path file, IOException cause) {
        if (cause instanceof AccessDeniedException) {
            String user = System.getProperty("user.name");
            String owner = owner(file);
            return new ObstacleException(
                    file
                            + " cannot be read: permission denied. "
                            + (owner.equals(user)
                                    ? "It belongs to "
                                            + user
                                            + ", as which this server runs: give that user the"
                                            + " right to read it"
                                    : "It belongs to "
                                            + owner
                                            + ", and this server runs as "
                                            + user
                                            + ": give it to "
                                            + user),
                    cause);
        }
        return new ObstacleException(
                file
                        + " cannot be read: "
                        + reason(cause)
                        + ". If its disk is lost, give this server an empty one: it gets everything"
                        + " from the others before it takes part",
                cause);
    }

    /**
     * @throws IOException if it is a symbolic link that leads nowhere
     */
    public static void requireNoDanglingLink(Path file) throws IOException {
        if (Files.isSymbolicLink(file) && !Files.exists(file)) {
            throw new ObstacleException(
                    file
                            + " is a symbolic link to "
                            + Files.readSymbolicLink(file)
                            + ", which is not there. Bring that back, for example by mounting"
                            + " its disk, or remove the link",
                    null);
        }
    }

    /** A noun with its article. */
    static String kind(Path file) {
        try {
            if (Files.isSymbolicLink(file)) {
                return "a symbolic link to " + Files.readSymbolicLink(file);
            }
            BasicFileAttributes is =
                    Files.readAttributes(
                            file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return is.isDirectory()
                    ? "a folder"
                    : is.isRegularFile() ? "a file" : "a device, pipe or socket";
        } catch (IOException e) {
            return "something that cannot be looked at (" + reason(e) + ")";
        }
    }

    private static String owner(Path file) {
        try {
            return Files.getOwner(file).getName();
        } catch (IOException | UnsupportedOperationException e) {
            return "an unknown user";
        }
    }

    /** Without the path, which a file system's exception repeats. */
    private static String reason(IOException cause) {
        if (cause instanceof FileSystemException named && named.getReason() != null) {
            return named.getReason();
        }
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }
}
