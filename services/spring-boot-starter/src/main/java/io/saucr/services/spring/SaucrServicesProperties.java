package io.saucr.services.spring;

import io.saucr.services.Address;
import io.saucr.services.Protection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
 * @param protection What a service survives: local or standby. Or speculative, as a member of a
 *     group.
 * @param copies With standbys, how many members have a segment before its turns are final.
 * @param every With standbys, the time between two checkpoints, where replies may leave before they
 *     are final. In a group, the time between two fsyncs at least.
 * @param fast With standbys, whether a standby takes the disk's place.
 * @param members With standbys or in a group, where other members reach this one.
 * @param group The path in the ensemble of the group that all services of the application are
 *     members of, such as /groups/travel.
 * @param grace In a group, how long other members wait for an fsync before the group decides
 *     without it.
 * @param speculation In a group, whether messages to members leave before they are final.
 * @param partitions How many partitions a service has, by its name; it has none without it.
 * @param partitionsHere Which partitions of a service this application runs, by its name, such as
 *     0,1,2; without it all.
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
        String group,
        Duration grace,
        @DefaultValue("true") boolean speculation,
        @DefaultValue Map<String, Integer> partitions,
        @DefaultValue Map<String, List<Integer>> partitionsHere,
        Duration sessionTimeout,
        @DefaultValue("30s") Duration startWait,
        @DefaultValue("false") boolean exitOnHalt) {

    public SaucrServicesProperties {
        partitions = Map.copyOf(partitions);
        partitionsHere = Map.copyOf(partitionsHere);
        for (String each : partitionsHere.keySet()) {
            if (!partitions.containsKey(each)) {
                throw new IllegalArgumentException(
                        "saucr.services.partitions-here."
                                + each
                                + " is set, and saucr.services.partitions."
                                + each
                                + " is not: it says how many partitions there are");
            }
        }
    }

    /** Which protection. */
    public enum Kind {
        /** One folder on one machine: {@link Protection#local}. */
        LOCAL,
        /** Members with a folder each: {@link Protection#standby}. */
        STANDBY,
        /** Members of a group: {@link Protection#speculative}. */
        SPECULATIVE
    }

    /**
     * The protection that they say.
     *
     * @throws IllegalArgumentException where a property is of another kind, or missing
     */
    Protection asProtection() {
        if (protection != Kind.STANDBY && (copies != null || fast)) {
            throw new IllegalArgumentException(
                    "saucr.services.copies and fast are of saucr.services.protection=standby");
        }
        if (protection != Kind.SPECULATIVE && (group != null || grace != null || !speculation)) {
            throw new IllegalArgumentException(
                    "saucr.services.group, grace and speculation are of"
                            + " saucr.services.protection=speculative");
        }
        return switch (protection) {
            case LOCAL -> local();
            case STANDBY -> standby();
            case SPECULATIVE -> speculative();
        };
    }

    private Protection local() {
        if (every != null || members != null) {
            throw new IllegalArgumentException(
                    "saucr.services.every and members are of saucr.services.protection=standby or"
                            + " speculative");
        }
        return Protection.local();
    }

    private Protection speculative() {
        if (group == null) {
            throw new IllegalArgumentException(
                    "saucr.services.protection=speculative needs saucr.services.group, the path of"
                            + " a group in the ensemble, such as /groups/travel");
        }
        Protection.Speculative member = Protection.speculative(group);
        if (every != null) {
            member = member.every(every);
        }
        if (grace != null) {
            member = member.grace(grace);
        }
        if (!speculation) {
            member = member.off();
        }
        return members == null ? member : member.at(address("members", members));
    }

    private Protection standby() {
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
