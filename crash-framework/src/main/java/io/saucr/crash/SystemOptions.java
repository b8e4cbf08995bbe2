package io.saucr.crash;

import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Which servers are tested. */
final class SystemOptions {
    /** What {@code --system} takes. */
    static final String NAMES = "zk-disk, zk-mem, saucr, vr-ideal";

    @Option(
            names = "--stock",
            description =
                    "Folder of an unpacked stock ZooKeeper. Default: the release that this program"
                            + " was built with.")
    private Path stock;

    @Option(
            names = "--distribution",
            description = "Folder of an unpacked SAUCR distribution, for the system saucr.")
    private Path distribution;

    @Option(
            names = "--set",
            description = "KEY=VALUE of zoo.cfg for every system; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    /**
     * @throws IOException if there is no such system, or not what it takes
     */
    SystemUnderTest system(String name) throws IOException {
        SystemUnderTest system =
                switch (name) {
                    case "zk-disk" -> SystemUnderTest.diskDurable(stock());
                    case "zk-mem" -> SystemUnderTest.memoryDurable(stock());
                    case "saucr" -> {
                        if (distribution == null) {
                            throw new IOException("the system saucr needs --distribution");
                        }
                        yield SystemUnderTest.situationAware(Distribution.folder(distribution));
                    }
                    default ->
                            throw new IOException("system " + name + ": expected one of " + NAMES);
                };
        Map<String, String> all = new LinkedHashMap<>(system.settings());
        all.putAll(settings);
        return new SystemUnderTest(system.name(), system.distribution(), all);
    }

    private Distribution stock() throws IOException {
        return stock == null ? Distribution.stock() : Distribution.folder(stock);
    }
}
