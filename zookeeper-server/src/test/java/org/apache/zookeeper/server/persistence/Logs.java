package org.apache.zookeeper.server.persistence;

import io.saucr.core.log.Markers;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import java.nio.file.Path;
import java.util.Properties;

/** Logs for tests. */
public final class Logs {
    private Logs() {}

    /**
     * Log and snapshots of a server in the folder, with the settings that a server has by itself.
     */
    public static SaucrTxnSnapLog open(Path folder) throws Exception {
        SaucrTxnSnapLog snapLog = unopened(folder);
        snapLog.open(snapLog.markerStore().read());
        return snapLog;
    }

    /** The same with these markers, whatever is on disk. */
    static SaucrTxnSnapLog open(Path folder, Markers markers) throws Exception {
        SaucrTxnSnapLog snapLog = unopened(folder);
        snapLog.open(markers);
        return snapLog;
    }

    /** The same before it is opened. */
    static SaucrTxnSnapLog unopened(Path folder) throws Exception {
        return unopened(folder, new Properties(), new LogMetrics());
    }

    /** The same with these times of what is flushed in the background. */
    static SaucrTxnSnapLog unopened(Path folder, String background, String idle, LogMetrics metrics)
            throws Exception {
        Properties properties = new Properties();
        properties.setProperty("zookeeper.saucr.backgroundFlushInterval", background);
        properties.setProperty("zookeeper.saucr.idleFlush", idle);
        return unopened(folder, properties, metrics);
    }

    private static SaucrTxnSnapLog unopened(Path folder, Properties properties, LogMetrics metrics)
            throws Exception {
        properties.setProperty("zookeeper.saucr.enabled", "true");
        return new SaucrTxnSnapLog(
                folder.toFile(), folder.toFile(), SaucrSettings.parse("test", properties), metrics);
    }
}
