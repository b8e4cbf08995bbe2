package io.saucr.server.runtime;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads files that are small as long as they are what they should be: epochs, markers, ids.
 * Whatever else is in their place is refused by its path, and neither fills the memory nor keeps
 * the reader waiting.
 */
public final class SmallFile {
    /** Far more than any of them has. */
    private static final int MOST_BYTES = 1 << 20;

    private static final int MOST_SHOWN = 40;
    private static final char FIRST_PRINTABLE = ' ';
    private static final char LAST_PRINTABLE = '~';

    private SmallFile() {}

    /** Thrown for a file that is larger than any of its kind; the message is a clause. */
    public static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1;

        private TooLargeException() {
            super("it has more than " + MOST_BYTES + " bytes");
        }
    }

    /**
     * @throws NoSuchFileException if there is nothing of this name
     * @throws ObstacleException if what is there is no file, or cannot be read
     * @throws TooLargeException if it is no small file
     */
    public static byte[] read(Path file) throws IOException {
        ObstacleException.requireNoDanglingLink(file);
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw ObstacleException.noFile(file);
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MOST_BYTES + 1);
        } catch (NoSuchFileException e) {
            throw e;
        } catch (IOException e) {
            throw ObstacleException.unreadable(file, e);
        }
        if (bytes.length > MOST_BYTES) {
            throw new TooLargeException();
        }
        return bytes;
    }

    /** The lines of a file that should be ASCII; other bytes are characters, too. */
    public static List<String> lines(Path file) throws IOException {
        return new String(read(file), ISO_8859_1).lines().toList();
    }

    /** What such a line holds, in quotation marks, for a message: short, and in ASCII alone. */
    public static String quoted(String text) {
        StringBuilder shown = new StringBuilder("'");
        for (int i = 0; i < Math.min(text.length(), MOST_SHOWN); i++) {
            char c = text.charAt(i);
            if (c >= FIRST_PRINTABLE && c <= LAST_PRINTABLE) {
                shown.append(c);
            } else {
                shown.append(String.format("\\x%02x", (int) c));
            }
        }
        return shown.append(text.length() > MOST_SHOWN ? "'..." : "'").toString();
    }
}
