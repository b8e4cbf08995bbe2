package io.saucr.services.turns;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.Keyed;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Which services have partitions, how many, and which one a service is itself (K18). A key belongs
 * to one partition, for ever: that of the CRC32C of its UTF-8 bytes, modulo their number.
 * Immutable.
 *
 * @param counts how many partitions services have, by their names
 * @param service of which this one is a partition; empty text where it is none
 * @param own the number of this one, from 0
 */
public record Routing(Map<String, Integer> counts, String service, int own) {

    /** Nobody has partitions. */
    public static final Routing NONE = new Routing(Map.of(), "", 0);

    public static final int MOST = 1024;

    public Routing {
        counts = Map.copyOf(counts);
    }

    /** The same, where this service has so many partitions. */
    public Routing with(String name, int count) {
        if (count < 1 || count > MOST) {
            throw new IllegalArgumentException(
                    name + " has 1 to " + MOST + " partitions, not " + count);
        }
        Map<String, Integer> more = new HashMap<>(counts);
        more.put(name, count);
        return new Routing(more, service, own);
    }

    /** The same of one partition. */
    public Routing as(String name, int number) {
        return new Routing(counts, name, number);
    }

    /** The partition of a key. */
    public static int partition(String key, int count) {
        CRC32C crc = new CRC32C();
        crc.update(key.getBytes(UTF_8));
        return (int) (crc.getValue() % count);
    }

    /** The partition of a message. */
    public static int partition(Object message, String service, int count) {
        if (!(message instanceof Keyed keyed)) {
            throw new IllegalArgumentException(
                    message.getClass().getName()
                            + " does not say to which of the "
                            + count
                            + " partitions of "
                            + service
                            + " it goes: have it implement Keyed");
        }
        return partition(keyed.key(), count);
    }

    /** The name by which a partition is a service. */
    public static String name(String service, int number) {
        return service + "." + number;
    }

    /** Where a message to a service goes. */
    String target(String to, Object message) {
        Integer count = counts.get(to);
        return count == null ? to : name(to, partition(message, to, count));
    }

    /** Why a message does not belong here; empty where it does, or says nothing. */
    Optional<String> refusal(Object message) {
        if (service.isEmpty() || !(message instanceof Keyed keyed)) {
            return Optional.empty();
        }
        int count = counts.get(service);
        int right = partition(keyed.key(), count);
        return right == own
                ? Optional.empty()
                : Optional.of(
                        "its key belongs to partition "
                                + right
                                + " of the "
                                + count
                                + " of "
                                + service
                                + ", and this is partition "
                                + own
                                + ": use the right number of partitions");
    }
}
