package io.saucr.services.spring;

import io.saucr.services.Address;
import io.saucr.services.Protection;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the services of an application run: {@code saucr.services.*}. Immutable.
 *
 * <p>The texts of the components are what an editor shows, so they have no tags.
 *
 * @param ensemble Servers as for ZooKeeper's client, and the path below which services are, such as
 *     zk1:2181,zk2:2181/apps. The name of a service is that of its bean.
 * @param folder Below it each service has a folder of its name.
 * @param listen Where a service listens, as others reach it. With port 0 the system chooses the
 *     port; with several services it is 0.
 * @param protection What a service survives: local or standby.
 * @param copies With standbys, how many members have a segment before its turns are final.
 * @param every With standbys, the time between two checkpoints, where replies may leave before they
 *     are final.
 * @param fast With standbys, whether a standby takes the disk's place.
 * @param members With standbys, where other members reach this one.
 * @param sessionTimeout Timeout of sessions with the ensemble.
 * @param startWait How long the start of the application waits for its services. Those that need
 *     longer, because the ensemble is not there, start later, and health says so.
 * @param exitOnHalt Whether a service that must not continue ends the process.
 */
@ConfigurationProperties("saucr.services")
public record SaucrServicesProperties(
        String ensemble,
        @DefaultValue("services") String folder,
        @DefaultValue("localhost:0") String listen,
        @DefaultValue("local") Kind protection,
        Integer copies,
        Duration every,
        @DefaultValue("false") boolean fast,
        String members,
        Duration sessionTimeout,
        @DefaultValue("30s") Duration startWait,
        @DefaultValue("false") boolean exitOnHalt) {

    /** Which protection. */
    public enum Kind {
        /** One folder on one machine: {@link Protection#local}. */
        LOCAL,
        /** Members with a folder each: {@link Protection#standby}. */
        STANDBY
    }

    /**
     * The protection that they say.
     *
     * @throws IllegalArgumentException where a property is of the other kind
     */
    Protection asProtection() {
        if (protection == Kind.LOCAL) {
            if (copies != null || every != null || fast || members != null) {
                throw new IllegalArgumentException(
                        "saucr.services.copies, every, fast and members are of"
                                + " saucr.services.protection=standby");
            }
            return Protection.local();
        }
        Protection.Standby standby = Protection.standby();
        if (copies != null) {
            standby = standby.copies(copies);
        }
        if (fast) {
            standby = standby.fast();
        }
        if (every != null) {
            standby = standby.every(every);
        }
        return members == null ? standby : standby.members(address("members", members));
    }

    Address listenAddress() {
        return address("listen", listen);
    }

    private static Address address(String property, String text) {
        int colon = text.lastIndexOf(':');
        try {
            return new Address(
                    text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            throw new IllegalArgumentException(
                    "saucr.services." + property + " is host:port, not " + text, e);
        }
    }
}
