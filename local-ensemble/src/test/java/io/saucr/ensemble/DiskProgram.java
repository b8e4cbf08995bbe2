package io.saucr.ensemble;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/** Runs below the shim: one disk operation per line of input, one line of output for each. */
final class DiskProgram {
    private static final Map<String, FileChannel> OPEN = new HashMap<>();

    private DiskProgram() {}

    public static void main(String[] args) throws IOException {
        Path root = Path.of(args[0]);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ", -1);
            Path file = root.resolve(word[1]);
            long start = System.nanoTime();
            String result;
            try {
                run(root, word, file);
                result = "ok";
            } catch (IOException e) {
                result = e.getMessage();
            }
            System.out.println((System.nanoTime() - start) / 1000 + " " + result);
        }
    }

    private static void run(Path root, String[] word, Path file) throws IOException {
        byte[] data = word[word.length - 1].getBytes(StandardCharsets.UTF_8);
        switch (word[0]) {
            case "append" -> {
                FileChannel channel = channel(word[1], file);
                channel.position(channel.size());
                channel.write(ByteBuffer.wrap(data));
            }
            case "at" ->
                    channel(word[1], file).write(ByteBuffer.wrap(data), Long.parseLong(word[2]));
            case "stream" -> {
                try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                    out.write(data);
                }
            }
            case "length" -> {
                try (RandomAccessFile random = new RandomAccessFile(file.toFile(), "rw")) {
                    random.setLength(Long.parseLong(word[2]));
                }
            }
            case "force" -> channel(word[1], file).force(false);
            case "forceall" -> channel(word[1], file).force(true);
            case "dir" -> {
                try (FileChannel folder = FileChannel.open(file, StandardOpenOption.READ)) {
                    folder.force(true);
                }
            }
            case "move" -> Files.move(file, root.resolve(word[2]), StandardCopyOption.ATOMIC_MOVE);
            case "delete" -> Files.delete(file);
            case "mkdir" -> Files.createDirectory(file);
            case "copy" -> Files.copy(file, root.resolve(word[2]));
            case "clock" -> throw new IOException(Long.toString(System.currentTimeMillis()));
            case "close" -> OPEN.remove(word[1]).close();
            default -> throw new IllegalArgumentException(word[0]);
        }
    }

    private static FileChannel channel(String name, Path file) throws IOException {
        FileChannel channel = OPEN.get(name);
        if (channel == null) {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            OPEN.put(name, channel);
        }
        return channel;
    }
}
