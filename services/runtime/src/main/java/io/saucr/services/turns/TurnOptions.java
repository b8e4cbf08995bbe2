package io.saucr.services.turns;

import io.saucr.services.Protection;
import io.saucr.services.core.Limits;
import io.saucr.services.state.Codec;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Sizes that a service keeps to while its turns run. Immutable.
 *
 * @param limits of channels and attempts
 * @param largestMessageBytes of one message, from 1 KiB to 16 MiB
 * @param foldBytes of turns above the base at which the next base is written, from 1 KiB; a base
 *     that is larger counts instead, so that folding costs a part of the writing (K10)
 * @param unforcedBytes of turns that are not final at which no inputs of outside clients are taken,
 *     from 64 KiB; at four times as many none at all (K13)
 * @param outboxBytes of messages that wait for peers in files at which no inputs of outside clients
 *     are taken, from 64 KiB (K13)
 * @param checksValues whether every value that a turn saw is looked at for changes in place: for
 *     tests (C12)
 * @param allowed services that alone may send messages of a type, by the type's name
 * @param noEnsemble why turns cannot write to the ensemble, or null where they can
 * @param routing which services have partitions
 * @param lanes in which handlers run ahead of their turns, up to 64; 0 where none does (P1)
 */
public record TurnOptions(
        Limits limits,
        int largestMessageBytes,
        long foldBytes,
        long unforcedBytes,
        long outboxBytes,
        boolean checksValues,
        Map<String, Set<String>> allowed,
        String noEnsemble,
        Routing routing,
        int lanes) {

    /** No message is larger, whatever a frame takes. */
    static final int LARGEST_MESSAGE_BYTES = 16 << 20;

    public TurnOptions {
        check("largestMessageBytes", largestMessageBytes, 1 << 10, LARGEST_MESSAGE_BYTES);
        check("foldBytes", foldBytes, 1 << 10, Long.MAX_VALUE);
        check("unforcedBytes", unforcedBytes, 64 << 10, Long.MAX_VALUE / 4);
        check("outboxBytes", outboxBytes, 64 << 10, Long.MAX_VALUE);
        check("lanes", lanes, 0, Protection.MOST_LANES);
        allowed = Map.copyOf(allowed);
    }

    /**
     * Messages of just under 1 MiB, a base each 64 MiB, 16 MiB that are not final, 8 GiB that wait
     * in files.
     */
    public static TurnOptions standard() {
        return new TurnOptions(
                Limits.standard(),
                (1 << 20) - 2048,
                64L << 20,
                16L << 20,
                8L << 30,
                false,
                Map.of(),
                null,
                Routing.NONE,
                0);
    }

    /** These with another size of what waits in files. */
    public TurnOptions outboxBytes(long bytes) {
        return new TurnOptions(
                limits,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                bytes,
                checksValues,
                allowed,
                noEnsemble,
                routing,
                lanes);
    }

    /** These with other limits. */
    public TurnOptions with(Limits other) {
        return new TurnOptions(
                other,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                allowed,
                noEnsemble,
                routing,
                lanes);
    }

    /** These with another time to fold. */
    public TurnOptions foldBytes(long bytes) {
        return new TurnOptions(
                limits,
                largestMessageBytes,
                bytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                allowed,
                noEnsemble,
                routing,
                lanes);
    }

    /** These with messages of another size. */
    public TurnOptions largestMessageBytes(int bytes) {
        return new TurnOptions(
                limits,
                bytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                allowed,
                noEnsemble,
                routing,
                lanes);
    }

    /** These, and values are looked at. */
    public TurnOptions checkingValues() {
        return new TurnOptions(
                limits,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                true,
                allowed,
                noEnsemble,
                routing,
                lanes);
    }

    /** These, where messages of a type come from these services alone. */
    public TurnOptions allow(Class<?> type, String... senders) {
        Map<String, Set<String>> more = new HashMap<>(allowed);
        more.put(new Codec().name(type), Set.of(senders));
        return new TurnOptions(
                limits,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                more,
                noEnsemble,
                routing,
                lanes);
    }

    /** These, where turns cannot write to the ensemble. */
    public TurnOptions noEnsemble(String reason) {
        return new TurnOptions(
                limits,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                allowed,
                reason,
                routing,
                lanes);
    }

    /** These, where services have partitions. */
    public TurnOptions routing(Routing other) {
        return new TurnOptions(
                limits,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                allowed,
                noEnsemble,
                other,
                lanes);
    }

    /** These with another number of lanes. */
    public TurnOptions lanes(int other) {
        return new TurnOptions(
                limits,
                largestMessageBytes,
                foldBytes,
                unforcedBytes,
                outboxBytes,
                checksValues,
                allowed,
                noEnsemble,
                routing,
                other);
    }

    /** Whether a message of that type may come from there. */
    boolean allows(String type, String service, boolean outside) {
        Set<String> senders = allowed.get(type);
        return senders == null || (!outside && senders.contains(service));
    }

    private static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " is from " + least + " to " + most + ", not " + value);
        }
    }
}
