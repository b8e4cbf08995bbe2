package io.saucr.model.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The first steps of three servers, up to where searches begin. */
public final class Schedules {
    /** Three servers in slow mode. */
    public static final List<String> SLOW =
            List.of(
                    "elect 1 with 1,2",
                    "connect 3 to 1",
                    "sync 2",
                    "sync 3",
                    "receive 1 from 2",
                    "receive 1 from 3",
                    "uptodate 2",
                    "uptodate 3",
                    "receive 1 from 2",
                    "receive 1 from 3");

    /** As {@link #SLOW}; a no-op is committed, and on all disks. */
    public static final List<String> ON_DISKS =
            and(
                    SLOW,
                    "confirm 1",
                    "noop 1",
                    "append 1",
                    "append 2",
                    "append 3",
                    "ack 1",
                    "ack 2",
                    "ack 3",
                    "receive 1 from 2",
                    "receive 1 from 3");

    /** Three servers in fast mode; a no-op is in all logs. */
    public static final List<String> FAST = and(ON_DISKS, "confirm 1");

    /** As {@link #FAST}, and server 2's ack of a fast entry is unread, which 3 has not got yet. */
    public static final List<String> ACKED =
            and(FAST, "propose 1", "append 1", "append 2", "ack 1", "ack 2");

    /** As {@link #ACKED}, and the entry is committed. */
    public static final List<String> COMMITTED =
            and(ACKED, "append 3", "ack 3", "receive 1 from 2", "receive 1 from 3");

    /** Three servers in slow mode; an entry is committed that the leader's own log lacks. */
    public static final List<String> ON_OTHERS =
            and(
                    SLOW,
                    "propose 1",
                    "append 2",
                    "append 3",
                    "ack 2",
                    "ack 3",
                    "receive 1 from 2",
                    "receive 1 from 3");

    /** As {@link #SLOW}; server 2 has left, and 3's ack of an entry is unread. */
    public static final List<String> LEFT = and(SLOW, "leave 2", "propose 1", "append 3", "ack 3");

    private Schedules() {}

    private static List<String> and(List<String> first, String... then) {
        return Stream.concat(first.stream(), Arrays.stream(then)).toList();
    }

    /** The one of this name. */
    public static List<String> named(String name) {
        return switch (name) {
            case "START" -> List.of();
            case "SLOW" -> SLOW;
            case "FAST" -> FAST;
            case "ACKED" -> ACKED;
            case "COMMITTED" -> COMMITTED;
            case "ON_OTHERS" -> ON_OTHERS;
            case "LEFT" -> LEFT;
            default -> throw new IllegalArgumentException(name);
        };
    }
}
