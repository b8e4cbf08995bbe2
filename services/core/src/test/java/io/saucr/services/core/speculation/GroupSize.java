package io.saucr.services.core.speculation;

import java.util.Arrays;

/**
 * How much may happen in a group of three.
 *
 * @param program what the members do
 * @param requests from outside, of each that has any
 * @param crashes of members, which start again at once
 * @param claims of members while another one coordinates
 * @param cuts of links with the coordinator
 * @param breaks of connections with the ensemble while a write is under way
 * @param overdue decisions about members that are cut off
 * @param leaves of members, which come back
 * @param files whether messages that are sent again come from a file, so that the version of their
 *     turn is not known
 * @param slow whether other steps come between a seal and its fsync
 * @param early whether messages are acknowledged when they are consumed
 * @param givenUp members that an operator gives up, which run or not
 */
record GroupSize(
        Program program,
        int requests,
        int crashes,
        int claims,
        int cuts,
        int breaks,
        int overdue,
        int leaves,
        boolean files,
        boolean slow,
        boolean early,
        int givenUp) {

    /** From text, with blanks between the parts; numbers that are left out are 0. */
    static GroupSize parse(String text) {
        String[] parts = text.strip().split(" +");
        int[] numbers =
                Arrays.copyOf(
                        Arrays.stream(parts).skip(1).mapToInt(Integer::parseInt).toArray(), 11);
        return new GroupSize(
                Program.valueOf(parts[0]),
                numbers[0],
                numbers[1],
                numbers[2],
                numbers[3],
                numbers[4],
                numbers[5],
                numbers[6],
                numbers[7] > 0,
                numbers[8] > 0,
                numbers[9] > 0,
                numbers[10]);
    }
}
