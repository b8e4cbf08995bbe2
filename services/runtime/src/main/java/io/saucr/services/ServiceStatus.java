package io.saucr.services;

import java.util.List;
import java.util.Map;

/**
 * How a service is at one moment. No message's content is in it. Immutable.
 *
 * @param service its name
 * @param address where it answers
 * @param generation of its folder, 32 hexadecimal digits
 * @param incarnation the number of its start
 * @param turn the newest turn; 0 before the first
 * @param finalTurn up to which nothing can undo turns any more
 * @param bytesNotFinal of the turns behind that
 * @param bytesAboveBase of the turns that the next start would read behind its base
 * @param bytesInFiles of messages that wait for peers on the disk and not in memory (K13)
 * @param lastFsyncMicros how long the last fsync took; 0 before the first
 * @param duplicates messages that came again and were dropped, since the start
 * @param timers that are set
 * @param outputs calls to the world that have not returned
 * @param channels with services and clients
 * @param deadLetters dead letters (K12)
 * @param stopped channels that wait for a person, or for a release that knows their next type
 * @param waitsFor services that take nothing at the moment, though messages wait for them (K13)
 * @param unreachable services that cannot be reached, or say that this one's generation is lost,
 *     with the reason and what to do
 * @param member how this member is, of a service with standbys; else {@link MemberStatus#NONE}
 * @param group how it is in its group, of a member of one; else {@link GroupStatus#NONE}
 */
public record ServiceStatus(
        String service,
        String address,
        String generation,
        long incarnation,
        long turn,
        long finalTurn,
        long bytesNotFinal,
        long bytesAboveBase,
        long bytesInFiles,
        long lastFsyncMicros,
        long duplicates,
        int timers,
        int outputs,
        List<Channel> channels,
        List<DeadLetter> deadLetters,
        List<String> stopped,
        List<String> waitsFor,
        Map<String, String> unreachable,
        MemberStatus member,
        GroupStatus group) {

    public ServiceStatus {
        channels = List.copyOf(channels);
        deadLetters = List.copyOf(deadLetters);
        stopped = List.copyOf(stopped);
        waitsFor = List.copyOf(waitsFor);
        unreachable = Map.copyOf(unreachable);
    }

    /** Of a member that is not primary, and runs no turns. */
    public static ServiceStatus none(String service, String generation) {
        return new ServiceStatus(
                service,
                "",
                generation,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(),
                MemberStatus.NONE,
                GroupStatus.NONE);
    }

    /** The same of a member of a service with standbys. */
    public ServiceStatus with(MemberStatus its) {
        return with(its, group);
    }

    /** The same of a member of a group. */
    public ServiceStatus with(GroupStatus its) {
        return with(member, its);
    }

    private ServiceStatus with(MemberStatus itsMember, GroupStatus itsGroup) {
        return new ServiceStatus(
                service,
                address,
                generation,
                incarnation,
                turn,
                finalTurn,
                bytesNotFinal,
                bytesAboveBase,
                bytesInFiles,
                lastFsyncMicros,
                duplicates,
                timers,
                outputs,
                channels,
                deadLetters,
                stopped,
                waitsFor,
                unreachable,
                itsMember,
                itsGroup);
    }

    /**
     * One channel.
     *
     * @param peer a service, or a client and its generation
     * @param outside whether it is a client
     * @param generation of the peer; empty text while it has not been met
     * @param connected whether it is there
     * @param sent messages that were sent to it, over all its generations
     * @param unacked those of them that it has not acked
     * @param inFiles those of them that lie on the disk and not in memory
     * @param oldestUnackedMillis for how long the oldest of these has waited; 0 without one
     * @param consumed the number of the last message that was consumed from it
     * @param waiting messages from it that wait for their turn
     */
    public record Channel(
            String peer,
            boolean outside,
            String generation,
            boolean connected,
            long sent,
            long unacked,
            long inFiles,
            long oldestUnackedMillis,
            long consumed,
            int waiting) {}

    /**
     * A dead letter: a message that failed as often as limits allow (K12).
     *
     * @param id for commands
     * @param channel from which it came
     * @param type of the message
     * @param bytes that it has
     * @param reason why
     */
    public record DeadLetter(long id, String channel, String type, int bytes, String reason) {}
}
