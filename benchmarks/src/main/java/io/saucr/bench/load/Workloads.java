package io.saucr.bench.load;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/** The loads by their names. Immutable. */
public final class Workloads {
    /** Blind updates, the load of figure 7; every other name is that of a YCSB workload's file. */
    public static final String UPDATE = "update";

    private final Path folder;

    /**
     * @param folder with the files of the YCSB workloads
     */
    Workloads(Path folder) {
        this.folder = folder;
    }

    /** Those of the source tree that this program was started from, else of this folder. */
    public static Workloads ofProject() {
        return new Workloads(Path.of(System.getProperty("saucr.root", "."), "workloads"));
    }

    /**
     * A load for one ensemble.
     *
     * @throws IOException if there is no such workload
     */
    public Load load(String name, int records, int valueBytes) throws IOException {
        if (name.equals(UPDATE)) {
            return new UpdateLoad(records, valueBytes);
        }
        Path file = folder.resolve(name);
        if (!Files.isRegularFile(file)) {
            throw new IOException("no workload " + name + ": " + file + " does not exist");
        }
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(file)) {
            properties.load(in);
        }
        return new YcsbLoad(name, properties, records, valueBytes);
    }
}
