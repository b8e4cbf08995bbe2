package io.saucr.services.tests.once;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a client told its user, in a file that outlives the client's process, but not the machine.
 * One line is one write, so a kill leaves it whole or missing. Thread-safe.
 */
final class OutcomeFile implements AutoCloseable {
    private static final String NAME = "outcomes";

    private final FileChannel file;

    /** Continues the one in the folder, or makes it. */
    OutcomeFile(Path folder) throws IOException {
        file =
                FileChannel.open(
                        folder.resolve(NAME), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    synchronized void append(int number, Told told) throws IOException {
        String line = number + " " + told.word() + " " + told.name() + "\n";
        file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * What was told of each of the first operations, null where nothing was.
     *
     * @throws IOException if one was told twice, differently
     */
    static List<Told> read(Path folder, int operations) throws IOException {
        Told[] told = new Told[operations];
        List<String> lines =
                Files.exists(folder.resolve(NAME))
                        ? Files.readAllLines(folder.resolve(NAME))
                        : new ArrayList<>();
        for (String line : lines) {
            String[] words = line.split(" ", -1);
            int number = Integer.parseInt(words[0]);
            Told next = new Told(words[1], words[2]);
            if (told[number] != null && !told[number].equals(next)) {
                throw new IOException(
                        folder + ": operation " + line + ", told before as " + told[number]);
            }
            told[number] = next;
        }
        return Arrays.asList(told);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
