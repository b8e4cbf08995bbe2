package io.saucr.crash.campaign;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Encryption;
import io.saucr.ensemble.Ensemble;
import java.util.Map;

/**
 * A distribution with its settings, under the name that reports use.
 *
 * @param settings keys of {@code zoo.cfg}
 * @param encryption what its servers and their clients encrypt
 */
public record SystemUnderTest(
        String name,
        Distribution distribution,
        Map<String, String> settings,
        Encryption encryption) {
    public SystemUnderTest {
        settings = Map.copyOf(settings);
    }

    /** Gives its servers their settings. */
    public void configure(Ensemble.Builder servers) {
        settings.forEach(servers::set);
        servers.encryption(encryption);
    }

    /** Whether its servers know what they should have, and so may lose their disks together. */
    public boolean situationAware() {
        return "true".equals(settings.get("saucr.enabled"));
    }

    /** Stock ZooKeeper that forces its log before it acknowledges. */
    public static SystemUnderTest diskDurable(Distribution distribution) {
        return new SystemUnderTest(
                "zk-disk", distribution, Map.of("forceSync", "yes"), Encryption.NONE);
    }

    /** Stock ZooKeeper that does not. */
    public static SystemUnderTest memoryDurable(Distribution distribution) {
        return new SystemUnderTest(
                "zk-mem", distribution, Map.of("forceSync", "no"), Encryption.NONE);
    }

    /** Situation-aware replication, from a distribution that has it. */
    public static SystemUnderTest situationAware(Distribution distribution) {
        return new SystemUnderTest(
                "saucr", distribution, Map.of("saucr.enabled", "true"), Encryption.NONE);
    }
}
