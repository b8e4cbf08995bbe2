package io.saucr.server;

import io.saucr.core.Markers;
import io.saucr.core.Zxid;
import io.saucr.server.SaucrSettings.InvalidSettingException;
import java.io.File;
import java.io.IOException;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;

/** What must hold before a server starts from a configuration; nothing is changed by looking. */
final class StartCheck {
    private static final int LEAST_VOTERS = 3;

    private StartCheck() {}

    /**
     * @throws InvalidSettingException naming file, key, value and what is allowed
     */
    static void check(QuorumPeerConfig config, String path) throws InvalidSettingException {
        SaucrSettings settings = SaucrSettings.parse(path, System.getProperties());
        Markers markers = markers(config, path);
        if (!settings.enabled()) {
            refuseLossOfMemory(path, markers);
            return;
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
        if (System.getProperty("zookeeper.forceSync", "yes").equals("no")) {
            throw new InvalidSettingException(
                    path
                            + ": forceSync=no is not allowed with saucr.enabled=true: slow mode must reach the disk (H7);"
                            + " remove it, fast mode does not wait for the disk anyway");
        }
    }

    /** H13: with SAUCR off the server would vote with what its disk happens to hold. */
    private static void refuseLossOfMemory(String path, Markers markers)
            throws InvalidSettingException {
        if (markers.crashedInFastMode()) {
            throw new InvalidSettingException(
                    path
                            + ": saucr.enabled=false is not allowed now: this server crashed in fast mode (fast since "
                            + Zxid.toString(markers.fastSwitch())
                            + ", on disk through "
                            + Zxid.toString(markers.latestOnDisk())
                            + ") and may lack acknowledged writes. Start it with saucr.enabled=true until it has"
                            + " recovered, stop it, then disable SAUCR.");
        }
    }

    private static Markers markers(QuorumPeerConfig config, String path)
            throws InvalidSettingException {
        File logs = config.getDataLogDir() == null ? config.getDataDir() : config.getDataLogDir();
        if (logs == null) {
            return Markers.none();
        }
        try {
            return new MarkerStore(logs.toPath().resolve("version-2")).read();
        } catch (IOException e) {
            throw new InvalidSettingException(path + ": " + e.getMessage());
        }
    }
}
