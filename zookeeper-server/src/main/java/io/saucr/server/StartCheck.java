package io.saucr.server;

import static io.saucr.server.config.SaucrSettings.notAllowed;

import io.saucr.core.recovery.StartAssessment;
import io.saucr.core.recovery.StartAssessment.Verdict;
import io.saucr.server.config.RefusedConfiguration;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import io.saucr.server.runtime.ObstacleException;
import io.saucr.server.runtime.SmallFile;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.zookeeper.server.persistence.DiskInspection;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks what must hold before a server starts from a configuration. Changes nothing. */
final class StartCheck {
    private static final Logger LOG = LoggerFactory.getLogger(StartCheck.class);

    private static final int LEAST_VOTERS = 3;

    /** In UTF-8, read byte by byte. */
    private static final String BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

    static final String VERSION_FOLDER = "version-2";

    private StartCheck() {}

    /**
     * @return the settings that the server starts with
     * @throws InvalidSettingException naming file, key, value and what is allowed
     */
    static SaucrSettings check(QuorumPeerConfig config, String path)
            throws InvalidSettingException {
        SaucrSettings settings = SaucrSettings.parse(path, System.getProperties());
        checkServerId(config, path);
        checkFolder(path, "dataDir", config.getDataDir());
        checkFolder(path, "dataLogDir", config.getDataLogDir());
        StartAssessment assessment = assess(config, settings, path);
        if (assessment.verdict() == Verdict.FOREIGN) {
            throw new InvalidSettingException(
                    ("%s: dataDir or dataLogDir is not this server's: %s. %sName the"
                                    + " folders of this server, or give an empty one to it")
                            .formatted(path, assessment.reason(), whichServer(config)));
        }
        if (!settings.enabled()) {
            refuseLoss(path, assessment);
            return settings;
        }
        QuorumVerifier verifier = config.getQuorumVerifier();
        if (verifier == null || !verifier.getClass().equals(QuorumMaj.class)) {
            throw new InvalidSettingException(
                    path
                            + ": saucr.enabled=true needs majority quorums; group.*, weight.* and oraclePath have no fast"
                            + " quorum and are not allowed with it");
        }
        int voters = verifier.getVotingMembers().size();
        if (voters < LEAST_VOTERS) {
            throw new InvalidSettingException(
                    "%s: saucr.enabled=true needs at least %s voters, but server.* names %s"
                            .formatted(path, LEAST_VOTERS, voters));
        }
        // H7: slow mode relies on forces.
        if (System.getProperty("zookeeper.forceSync", "yes").equals("no")) {
            throw new InvalidSettingException(
                    path
                            + ": forceSync=no is not allowed with saucr.enabled=true: slow mode must reach the disk;"
                            + " remove it, fast mode does not wait for the disk anyway");
        }
        checkPositive(path, "initLimit", config.getInitLimit());
        checkPositive(path, "syncLimit", config.getSyncLimit());
        checkAdminServers(settings, verifier.getAllMembers().keySet(), path);
        return settings;
    }

    /**
     * The configuration and what ZooKeeper reads because it says so. Anything else that is wrong
     * with them ZooKeeper or {@link #check} finds.
     */
    static void checkFiles(Path config) throws InvalidSettingException {
        // What comes through a pipe can be read once.
        if (!Files.isRegularFile(config)) {
            return;
        }
        requireSmall(config);
        Properties given = new Properties();
        try (InputStream bytes = Files.newInputStream(config)) {
            given.load(bytes);
        } catch (IOException | IllegalArgumentException e) {
            LOG.debug("ZooKeeper will say why {} cannot be read", config, e);
        }
        requireNoByteOrderMark(config);
        for (String key : List.of("dynamicConfigFile", "dataDir")) {
            File named = new File(given.getProperty(key, "").trim());
            try {
                if (key.equals("dataDir")) {
                    requireSmall(named.toPath().resolve("myid"));
                } else {
                    requireSmall(named.toPath());
                    requireNoByteOrderMark(named.toPath());
                }
            } catch (InvalidPathException e) {
                LOG.debug("ZooKeeper will say what is wrong with {}", key, e);
            }
        }
    }

    /** Nobody knows a key that an editor has put it in front of, and most keys have a default. */
    private static void requireNoByteOrderMark(Path file) throws InvalidSettingException {
        String first;
        try {
            first = Files.isRegularFile(file) ? SmallFile.lines(file).get(0) : "";
        } catch (IOException | IndexOutOfBoundsException e) {
            LOG.debug("ZooKeeper will say what is wrong with {}", file, e);
            return;
        }
        String line = first.replaceFirst("^" + BYTE_ORDER_MARK, "").strip();
        if (first.startsWith(BYTE_ORDER_MARK) && !line.matches("([#!].*)?")) {
            throw new InvalidSettingException(
                    file
                            + ": begins with a byte order mark, so its first key, "
                            + line.split("[=: \t]", 2)[0]
                            + ", is not found; save the file without one");
        }
    }

    private static void requireSmall(Path file) throws InvalidSettingException {
        try {
            if (Files.isRegularFile(file)) {
                SmallFile.read(file);
            }
        } catch (SmallFile.TooLargeException e) {
            throw new InvalidSettingException(
                    file + " is not what it should be: " + e.getMessage());
        } catch (IOException e) {
            LOG.debug("ZooKeeper will say why {} cannot be read", file, e);
        }
    }

    /** Of an operator's two files, the one with the wrong number may be this one. */
    private static String whichServer(QuorumPeerConfig config) {
        return config.isDistributed()
                ? "This is server %s, as the file %s says. "
                        .formatted(config.getServerId(), new File(config.getDataDir(), "myid"))
                : "";
    }

    /** ZooKeeper finds this only when its client port is bound already. */
    private static void checkServerId(QuorumPeerConfig config, String path)
            throws InvalidSettingException {
        if (!config.isDistributed()) {
            return;
        }
        Set<Long> members = config.getQuorumVerifier().getAllMembers().keySet();
        if (!members.contains(config.getServerId())) {
            throw new InvalidSettingException(
                    path
                            + ": the file "
                            + new File(config.getDataDir(), "myid")
                            + " says that this is server "
                            + config.getServerId()
                            + ", but server.* names only "
                            + RefusedConfiguration.listed(members));
        }
    }

    /** Else its marker files would be said to be damaged. */
    private static void checkFolder(String path, String key, File folder)
            throws InvalidSettingException {
        for (File each : List.of(folder, new File(folder, VERSION_FOLDER))) {
            try {
                ObstacleException.requireNoDanglingLink(each.toPath());
            } catch (IOException e) {
                throw new InvalidSettingException(path + ": " + key + ": " + e.getMessage());
            }
            if (each.exists() && !each.isDirectory()) {
                throw new InvalidSettingException(
                        notAllowed(
                                path,
                                key,
                                folder.toString(),
                                "a folder, and " + each + " is a file"));
            }
        }
    }

    private static void checkPositive(String path, String key, int value)
            throws InvalidSettingException {
        if (value < 1) {
            throw new InvalidSettingException(
                    notAllowed(
                            path, key, Integer.toString(value), "a number of ticks, at least 1"));
        }
    }

    /**
     * Where servers come and go while the ensemble runs, one that is removed must not keep the
     * others from starting.
     */
    private static void checkAdminServers(SaucrSettings settings, Set<Long> members, String path)
            throws InvalidSettingException {
        Set<Long> strangers = new TreeSet<>(settings.adminServers().keySet());
        strangers.removeAll(members);
        if (strangers.isEmpty()) {
            return;
        }
        String problem =
                path
                        + ": saucr.adminServers names server "
                        + RefusedConfiguration.listed(strangers)
                        + ", which is not in the ensemble; server.* names "
                        + RefusedConfiguration.listed(members);
        if (!QuorumPeerConfig.isReconfigEnabled()) {
            throw new InvalidSettingException(problem);
        }
        LOG.warn("{}", problem);
    }

    /**
     * H13: with SAUCR off the server would vote although its disk may lack what it acknowledged.
     */
    private static void refuseLoss(String path, StartAssessment assessment)
            throws InvalidSettingException {
        if (assessment.verdict() != Verdict.COMPLETE && assessment.verdict() != Verdict.EMPTY) {
            throw new InvalidSettingException(
                    ("%s: saucr.enabled=false is not allowed now: this server may lack"
                                    + " acknowledged writes, because %s. Start it with"
                                    + " saucr.enabled=true until it has recovered, stop it, then"
                                    + " disable SAUCR.")
                            .formatted(path, assessment.reason()));
        }
    }

    private static StartAssessment assess(
            QuorumPeerConfig config, SaucrSettings settings, String path)
            throws InvalidSettingException {
        Path logFolder = config.getDataLogDir().toPath().resolve(VERSION_FOLDER);
        try {
            return new DiskInspection(
                            logFolder,
                            config.getDataDir().toPath().resolve(VERSION_FOLDER),
                            new MarkerStore(logFolder))
                    .assessMarkers(settings.ensembleName(), config.getServerId());
        } catch (IOException e) {
            throw new InvalidSettingException(path + ": " + e.getMessage());
        }
    }
}
