package io.saucr.bench.ensemble;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is measured: a distribution and the keys of {@code zoo.cfg} that distinguish it, or an
 * ensemble that runs elsewhere. Immutable.
 *
 * @param name what reports call it
 * @param distribution null if the ensemble runs elsewhere
 * @param settings keys of {@code zoo.cfg}, in order
 * @param connect the connect string of an ensemble that runs elsewhere; null if it is started here
 * @param security of an ensemble that is started here
 */
public record Configuration(
        String name,
        Distribution distribution,
        Map<String, String> settings,
        String connect,
        Security security) {
    public static final String MEMORY_DURABLE = "memory-durable";
    public static final String DISK_DURABLE = "disk-durable";
    public static final String SAUCR = "saucr";

    public Configuration {
        settings = Map.copyOf(settings);
    }

    /**
     * Reads one configuration from the command line: {@code memory-durable} (stock ZooKeeper,
     * {@code forceSync=no}), {@code disk-durable} (stock), {@code saucr}, or {@code
     * NAME=FOLDER[,KEY=VALUE...]} for an unpacked distribution. The first three take keys, too:
     * {@code saucr,saucr.heartbeatInterval=10ms}.
     *
     * @param saucr the distribution that {@code saucr} means
     * @throws IOException if a folder holds no ZooKeeper server
     * @throws IllegalArgumentException if the text has another form
     */
    public static Configuration parse(String text, SaucrDistribution saucr) throws IOException {
        String[] parts = text.split(",");
        Map<String, String> settings = new LinkedHashMap<>();
        String name = parts[0];
        Distribution distribution;
        switch (name) {
            case MEMORY_DURABLE -> {
                distribution = Distribution.stock();
                settings.put("forceSync", "no");
            }
            case DISK_DURABLE -> distribution = Distribution.stock();
            case SAUCR -> {
                distribution = saucr.unpacked();
                settings.put("saucr.enabled", "true");
            }
            default -> {
                int equals = name.indexOf('=');
                if (equals < 1) {
                    throw new IllegalArgumentException(
                            "unknown configuration '"
                                    + name
                                    + "': use memory-durable, disk-durable, saucr or NAME=FOLDER,"
                                    + " each with ,KEY=VALUE for keys of zoo.cfg");
                }
                distribution = Distribution.folder(Path.of(name.substring(equals + 1)));
                name = name.substring(0, equals);
            }
        }
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException(
                        "configuration '" + text + "': '" + parts[i] + "' is not KEY=VALUE");
            }
            settings.put(parts[i].substring(0, equals), parts[i].substring(equals + 1));
        }
        if (parts.length > 1 && text.indexOf('=') > text.indexOf(',')) {
            name = text;
        }
        return new Configuration(name, distribution.named(name), settings, null, Security.NONE);
    }

    /**
     * Reads an ensemble that runs elsewhere: {@code [NAME=]HOST:PORT[,HOST:PORT...][/CHROOT]}.
     *
     * @throws IllegalArgumentException if there is no host in it
     */
    public static Configuration running(String text) {
        int equals = text.indexOf('=');
        String name = equals < 0 ? text : text.substring(0, equals);
        String connect = text.substring(equals + 1);
        if (name.isBlank() || !connect.matches("[^,/]+:\\d+(,[^,/]+:\\d+)*(/.*)?")) {
            throw new IllegalArgumentException(
                    "'" + text + "': expected [NAME=]HOST:PORT[,HOST:PORT...][/CHROOT]");
        }
        return new Configuration(name, null, Map.of(), connect, Security.NONE);
    }

    /** The same with TLS, or Netty. */
    public Configuration secured(Security other) {
        return new Configuration(name, distribution, settings, connect, other);
    }

    /** Whether its servers replicate situation-aware, so that they have a mode. */
    public boolean situationAware() {
        return "true".equals(settings.get("saucr.enabled"));
    }

    /** The form in which results show it. */
    public Map<String, Object> described() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", name);
        if (connect != null) {
            values.put("connect", connect);
        } else {
            values.put("version", distribution.version());
            values.put("settings", settings);
            values.putAll(security.described());
        }
        return values;
    }
}
