package io.saucr.services;

import java.util.List;

/**
 * How a member of a group of services is at one moment. Immutable.
 *
 * @param group its path in the ensemble; empty text for a service without a group
 * @param members their names, as the group's head says
 * @param coordinator the member that coordinates, as the head says
 * @param coordinates whether this process does
 * @param epoch how many times a member became coordinator
 * @param world one more than the number of decisions that this member passed
 * @param version its newest version that is sealed
 * @param finalVersion its newest version that nothing can undo
 * @param notFinal versions between these two
 * @param lagMillis how long the oldest of these has waited; 0 without one
 * @param waits why messages to members wait until they are final (D16); empty text while they leave
 *     at once
 * @param rollbacks how many times turns were undone since the start
 * @param undoneTurns how many turns were undone since the start
 * @param dropped messages of another world that were dropped since the start, and come again
 */
public record GroupStatus(
        String group,
        List<String> members,
        String coordinator,
        boolean coordinates,
        long epoch,
        long world,
        long version,
        long finalVersion,
        int notFinal,
        long lagMillis,
        String waits,
        long rollbacks,
        long undoneTurns,
        long dropped) {

    /** Of a service without a group. */
    public static final GroupStatus NONE =
            new GroupStatus("", List.of(), "", false, 0, 0, 0, 0, 0, 0, "", 0, 0, 0);

    public GroupStatus {
        members = List.copyOf(members);
    }
}
