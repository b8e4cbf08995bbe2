package io.saucr.server;

import io.saucr.core.StartAssessment;
import io.saucr.core.StartAssessment.Verdict;
import io.saucr.server.SaucrSettings.InvalidSettingException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.persistence.StartExamination;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;

/** Checks what must hold before a server starts from a configuration. Changes nothing. */
final class StartCheck {
    private static final int LEAST_VOTERS = 3;
    static final String VERSION_FOLDER = "version-2";

    private StartCheck() {}

    /**
     * @return the settings that the server starts with
     * @throws InvalidSettingException naming file, key, value and what is allowed
     */
    static SaucrSettings check(QuorumPeerConfig config, String path)
            throws InvalidSettingException {
        SaucrSettings settings = SaucrSettings.parse(path, System.getProperties());
        StartAssessment assessment = assess(config, settings, path);
        if (assessment.verdict() == Verdict.FOREIGN) {
            throw new InvalidSettingException(
                    path
                            + ": dataDir or dataLogDir is not this server's: "
                            + assessment.reason()
                            + ". Name the folders of this server, or give an empty one to it");
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
                    path
                            + ": saucr.enabled=true needs at least "
                            + LEAST_VOTERS
                            + " voters, but server.* names "
                            + voters);
        }
        // H7: slow mode relies on forces.
        if (System.getProperty("zookeeper.forceSync", "yes").equals("no")) {
            throw new InvalidSettingException(
                    path
                            + ": forceSync=no is not allowed with saucr.enabled=true: slow mode must reach the disk;"
                            + " remove it, fast mode does not wait for the disk anyway");
        }
        return settings;
    }

    /**
     * H13: with SAUCR off the server would vote although its disk may lack what it acknowledged.
     */
    private static void refuseLoss(String path, StartAssessment assessment)
            throws InvalidSettingException {
        if (assessment.verdict() != Verdict.COMPLETE && assessment.verdict() != Verdict.EMPTY) {
            throw new InvalidSettingException(
                    path
                            + ": saucr.enabled=false is not allowed now: this server may lack"
                            + " acknowledged writes, because "
                            + assessment.reason()
                            + ". Start it with saucr.enabled=true until it has recovered, stop it, then"
                            + " disable SAUCR.");
        }
    }

    private static StartAssessment assess(
            QuorumPeerConfig config, SaucrSettings settings, String path)
            throws InvalidSettingException {
        File snapshots = config.getDataDir();
        File logs = config.getDataLogDir() == null ? snapshots : config.getDataLogDir();
        if (logs == null) {
            return new StartAssessment(Verdict.EMPTY, "there is no data folder");
        }
        Path logFolder = logs.toPath().resolve(VERSION_FOLDER);
        try {
            return new StartExamination(
                            logFolder,
                            snapshots.toPath().resolve(VERSION_FOLDER),
                            new MarkerStore(logFolder))
                    .assessMarkers(settings.ensembleName(), config.getServerId());
        } catch (IOException e) {
            throw new InvalidSettingException(path + ": " + e.getMessage());
        }
    }
}
