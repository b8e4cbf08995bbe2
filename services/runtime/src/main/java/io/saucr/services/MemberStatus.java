package io.saucr.services;

import java.util.List;
import java.util.Map;

/**
 * How a member of a service with standbys is at one moment. Immutable.
 *
 * @param member this one, 16 hexadecimal digits; empty text for a service without members
 * @param role {@code primary}, {@code standby}, {@code starting} while no head was read, or {@code
 *     stopped}; empty text for a service without members
 * @param epoch how often a member became primary, as the head says; 0 before it was read
 * @param primary the primary, as the head says
 * @param primaryAt where other members reach it
 * @param segment the newest segment that the head names, as far as this member knows
 * @param stored the newest segment in this member's folder
 * @param applied up to which segment this member's state is
 * @param copies {@code forced} where as many members as asked for have that segment, {@code alone}
 *     where fewer do, {@code memory} where two have written it (C15), {@code store} where the store
 *     that members share has it; empty text at a standby that follows, which does not read the head
 * @param holders members that have it; none at such a standby
 * @param followers of a primary: up to which segment each linked standby has stored
 * @param linked of a standby: whether the primary is there
 * @param lacks of a standby: what it needs to take over; empty text where it could
 * @param waitingMillis of a primary: how long the oldest turn has waited for the head
 * @param lastCommitMicros of a primary: how long the last segment took from its first turn until
 *     the head named it
 * @param store of a primary: why the store that members share does not hold all; empty text where
 *     it does, or they share none
 * @param ensemble whether the ensemble is connected
 * @param stopped why this member does not continue; empty text where it does
 * @param replays what replays segments here, such as {@code code 7-jdk17 in 8 lanes}; empty text if
 *     segments are turns (X17)
 * @param differs of a standby that replays: what its handlers did otherwise than the primary's; it
 *     stores segments until it has loaded a snapshot of the primary (X14). Empty text if nothing
 * @param divergences how often that was found since this member was started
 * @param millisBehind how far the replay of a trace is behind (X16): of a standby, its own; of a
 *     primary, that of the fastest standby. 0 if segments are turns
 */
public record MemberStatus(
        String member,
        String role,
        long epoch,
        String primary,
        String primaryAt,
        long segment,
        long stored,
        long applied,
        String copies,
        List<String> holders,
        Map<String, Long> followers,
        boolean linked,
        String lacks,
        long waitingMillis,
        long lastCommitMicros,
        String store,
        boolean ensemble,
        String stopped,
        String replays,
        String differs,
        long divergences,
        long millisBehind) {

    /** Of a service that runs alone. */
    public static final MemberStatus NONE =
            new MemberStatus(
                    "", "", 0, "", "", 0, 0, 0, "", List.of(), Map.of(), false, "", 0, 0, "", false,
                    "", "", "", 0, 0);

    public MemberStatus {
        holders = List.copyOf(holders);
        followers = Map.copyOf(followers);
        // The status of an older release has none.
        replays = replays == null ? "" : replays;
        differs = differs == null ? "" : differs;
    }

    /**
     * Whether this member serves, or could take over now: a standby that is linked with the primary
     * and lacks nothing. False for a service without members.
     */
    public boolean ready() {
        return role.equals("primary") || (role.equals("standby") && linked && lacks.isEmpty());
    }
}
