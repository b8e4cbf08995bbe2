package io.saucr.crash;

import io.saucr.crash.campaign.Sequence;
import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.fault.RootBackend;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Encryption;
import io.saucr.ensemble.Encryption.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Which servers are tested. */
final class SystemOptions {
    /** What {@code --system} takes. */
    static final String NAMES = "zk-disk, zk-mem, saucr, vr-ideal";

    /** What {@code --distribution} takes. */
    static final String DISTRIBUTION =
            "Folder of an unpacked SAUCR distribution, for the system saucr. Default: the one that"
                    + " this program is a part of, or that this project has built.";

    /** System property that names the project's root folder: set by the source tree's script. */
    static final String ROOT = "saucr.root";

    /** System property that names the folder of the distribution: set by the script in it. */
    static final String HOME = "saucr.crash.distribution";

    @Option(
            names = "--stock",
            description =
                    "Folder of an unpacked stock ZooKeeper. Default: the release that this program"
                            + " was built with.")
    private Path stock;

    @Option(names = "--distribution", description = DISTRIBUTION)
    private Path distribution;

    @Option(
            names = "--set",
            description = "KEY=VALUE of zoo.cfg for every system; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--tls",
            paramLabel = "WHERE",
            defaultValue = "NONE",
            description =
                    "Where TLS is used, one of ${COMPLETION-CANDIDATES}. quorum: between servers;"
                            + " all: also between clients and servers. Take another --out for"
                            + " each. Default: ${DEFAULT-VALUE}.")
    private Tls tls = Tls.NONE;

    /**
     * The system of that name. If clients use TLS, all clients of this process do from now on.
     *
     * @param out of the campaign; with TLS it gets the keys
     * @throws IOException if there is no such system, or not what it takes
     */
    SystemUnderTest system(String name, Path out) throws IOException {
        SystemUnderTest system =
                switch (name) {
                    case "zk-disk" -> SystemUnderTest.diskDurable(stock());
                    case "zk-mem" -> SystemUnderTest.memoryDurable(stock());
                    case "saucr" ->
                            SystemUnderTest.situationAware(
                                    Distribution.folder(distribution(distribution)));
                    default ->
                            throw new IOException("system " + name + ": expected one of " + NAMES);
                };
        Map<String, String> all = new LinkedHashMap<>(system.settings());
        all.putAll(settings);
        return new SystemUnderTest(system.name(), system.distribution(), all, encryption(out));
    }

    private Encryption encryption(Path out) throws IOException {
        if (tls == Tls.NONE) {
            return Encryption.NONE;
        }
        Encryption encryption =
                Encryption.of(
                        tls,
                        Files.createDirectories(out.resolve("tls")),
                        RootBackend.addresses(Sequence.MOST_SERVERS));
        encryption.encryptClientsOfThisProcess();
        return encryption;
    }

    /**
     * The folder that was given, else that of the distribution that this program is a part of, else
     * that of the newest one that this project has built. Each build is unpacked into a folder of
     * its own: servers of another run may use the last.
     *
     * @param given null if none was
     * @throws IOException if there is none
     */
    static Path distribution(Path given) throws IOException {
        if (given != null) {
            return given;
        }
        if (System.getProperty(HOME) != null) {
            return Path.of(System.getProperty(HOME));
        }
        String root = System.getProperty(ROOT);
        Optional<Path> tarball =
                root == null ? Optional.empty() : Distribution.tarball(Path.of(root));
        if (tarball.isEmpty()) {
            throw new IOException("the system saucr needs --distribution");
        }
        long built = Files.getLastModifiedTime(tarball.get()).toMillis();
        return Distribution.unpack(
                tarball.get(), Path.of(root, "crash-framework/target/distribution-" + built));
    }

    private Distribution stock() throws IOException {
        return stock == null ? Distribution.stock() : Distribution.folder(stock);
    }
}
