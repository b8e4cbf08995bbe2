package io.saucr.ycsb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.DBException;

/**
 * What {@code bin/saucr-ycsb} runs: looks whether the ensemble answers, then YCSB itself, which
 * prints stack traces and ends with status 0 where no thread of it gets a session.
 */
public final class YcsbCommand {
    private YcsbCommand() {}

    /**
     * @param arguments those of YCSB's client
     */
    public static void main(String[] arguments) {
        try {
            tryOut(properties(arguments));
        } catch (DBException | IOException e) {
            System.err.println("saucr-ycsb: " + e.getMessage());
            System.exit(1);
        }
        Client.main(arguments);
    }

    /** Connects as each of YCSB's threads will. */
    private static void tryOut(Properties properties) throws DBException {
        ZooKeeperBinding binding = new ZooKeeperBinding();
        binding.setProperties(properties);
        binding.init();
        binding.cleanup();
    }

    /** As YCSB reads them: those of {@code -p} count before those of files. */
    private static Properties properties(String[] arguments) throws IOException {
        Properties files = new Properties();
        Properties single = new Properties();
        for (int i = 0; i + 1 < arguments.length; i++) {
            String value = arguments[i + 1];
            if (arguments[i].equals("-P")) {
                try (InputStream file = Files.newInputStream(Path.of(value))) {
                    files.load(file);
                } catch (NoSuchFileException e) {
                    throw new IOException(value + " cannot be read: no such file", e);
                } catch (IOException e) {
                    throw new IOException(value + " cannot be read: " + e.getMessage(), e);
                }
            } else if (arguments[i].equals("-p") && value.contains("=")) {
                int split = value.indexOf('=');
                single.setProperty(value.substring(0, split), value.substring(split + 1));
            }
        }
        files.putAll(single);
        if (files.getProperty("workload") == null) {
            throw new IOException("no workload: add -P workloads/workloada, for example");
        }
        return files;
    }
}
