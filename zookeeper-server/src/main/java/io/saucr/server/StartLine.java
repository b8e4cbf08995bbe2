package io.saucr.server;

import io.saucr.core.log.LogIdentity;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.runtime.Release;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.zookeeper.Version;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;

/** The line that a server logs before it starts: what it is. */
final class StartLine {
    private StartLine() {}

    /** Reads the identity next to the log, if there is one. */
    static String of(QuorumPeerConfig config, SaucrSettings settings) {
        String release = "version " + Release.VERSION + " (" + Release.origin() + ")";
        String server =
                config.isDistributed() ? "server " + config.getServerId() : "a server alone";
        if (!settings.enabled()) {
            return "SAUCR is off, %s, %s: replicates as Apache ZooKeeper %s does"
                    .formatted(release, server, Version.getVersion());
        }
        String ensemble =
                settings.ensembleName().isEmpty()
                        ? "an ensemble without a name"
                        : "the ensemble '" + settings.ensembleName() + "'";
        return "SAUCR is on, %s, %s of %s, %s; %s"
                .formatted(release, server, ensemble, log(config), settings.inForce());
    }

    private static String log(QuorumPeerConfig config) {
        Path folder = config.getDataLogDir().toPath().resolve(StartCheck.VERSION_FOLDER);
        try {
            Optional<LogIdentity> identity = new MarkerStore(folder).identity();
            return identity.map(each -> "log " + Long.toHexString(each.log()))
                    .orElse("log without an identity yet");
        } catch (IOException e) {
            return "log of unknown identity: " + e.getMessage();
        }
    }
}
