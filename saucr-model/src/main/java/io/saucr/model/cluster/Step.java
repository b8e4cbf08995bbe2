package io.saucr.model.cluster;

import java.util.Locale;

/**
 * One thing that may happen in a {@link ModelCluster}, packed into an int so that millions of them
 * cost nothing: a kind, the server that does it, another server, and an argument.
 *
 * <p>As text: the kind, the server, then {@code with}, {@code of}, {@code to} or {@code from} the
 * other one, then the argument: {@code receive 1 from 3}, {@code elect 2 with 1,2}, {@code crash 3
 * keeping 1}. Servers count from 1.
 */
public final class Step {

    /** What happens. */
    public enum Kind {
        /** The leader proposes what a client wrote. */
        PROPOSE,
        /** The leader proposes a no-op that it owes (R5, R6). */
        NOOP,
        /** The next proposal of a server's queue goes into its log's buffer. */
        APPEND,
        /** Everything appended may be acked: forces and marks what that needs, and acks it. */
        ACK,
        /** A flush forces the log (R10, R11). */
        FORCE,
        /** The flush that has forced the log writes the latest-on-disk marker (R13). */
        MARK,
        /** The leader reads the next message of a follower. */
        RECEIVE,
        /** The leader looks at its followers, who are prompt, and may turn to fast mode (R5). */
        CONFIRM,
        /** The leader hears too few followers in time and turns to slow mode (R6). */
        SUSPECT,
        /** The leader notices, or decides, that a follower's connection is closed. */
        CLOSE,
        /** The leader gives up leading. */
        STEP_DOWN,
        /** A follower loses, or leaves, its leader and looks for another one (R10). */
        LEAVE,
        /** A server wins an election and a bare majority acknowledges its epoch. */
        ELECT,
        /** A server connects to an established leader. */
        CONNECT,
        /** A follower cuts what its leader does not have. */
        TRUNCATE,
        /** A follower logs its leader's committed history and acks NEWLEADER. */
        SYNC,
        /** A follower reads UPTODATE, and what came before it. */
        UPTODATE,
        /**
         * A server's machine loses power, and so what is not forced, but for the argument's number
         * of entries.
         */
        CRASH,
        /** A server's process starts. */
        RESTART,
        /** A server answers a recovering server's query, telling its leader first (R16, R20). */
        ANSWER,
        /** A recovering server receives another one's answer. */
        LEARN,
        /** The source of a recovering server's history answers its request. */
        SOURCE,
        /** A recovering server receives its source's answer. */
        HISTORY,
        /** A recovering server gives its silent source up. */
        GIVE_UP,
        /** A recovering server writes its markers: it is recovered. */
        FINISH,
        /** A client of the leader asks for a sync (R22). */
        CLIENT_SYNC,
        /** The leader asks those again who follow, for syncs that wait (R22). */
        ASK,
        /** A follower answers its leader's question (R22). */
        REPLY,
        /** The leader reads a follower's answer (R22). */
        HEAR,
        /**
         * A server's process dies and its machine continues: what was written stays, and the
         * argument's number of entries of the buffer (R25).
         */
        KILL,
        /** A server dies, or is dead, and everything on its disk is lost (R26). */
        LOSE_DISK,
        /** An operator forbids fast mode (R10). */
        PIN,
        /** An operator allows fast mode again. */
        UNPIN,
        /** The leader begins to hold proposals back until the slow ones are on disk (R5). */
        DRAIN,
        /** The leader has held proposals back for too long, and gives up (R24). */
        DRAIN_ENDS,
        /** The leader has not heard a follower in time (R6, R9). */
        MISS,
        /** The leader hears a follower again, who had nothing to say but that. */
        PONG,
        /** The leader's process has stood still for a long time, in fast mode (H11). */
        PAUSE,
        /**
         * A follower's process dies while it logs its leader's history: it has the argument's
         * number of entries of it, and its current epoch is what it was (R25).
         */
        KILL_JOINING;

        private static final Kind[] ALL = values();
    }

    private static final int KIND_BITS = 6;
    private static final int SERVER_BITS = 3;
    private static final int SERVER_MASK = (1 << SERVER_BITS) - 1;

    private Step() {}

    static int of(Kind kind, int server) {
        return of(kind, server, 0, 0);
    }

    static int of(Kind kind, int server, int other) {
        return of(kind, server, other, 0);
    }

    /**
     * @param server 0 to 6
     * @param other 0 to 6
     * @param argument at least 0
     */
    @SuppressWarnings("EnumOrdinal") // a step lives as long as the process
    public static int of(Kind kind, int server, int other, int argument) {
        return kind.ordinal()
                | server << KIND_BITS
                | other << (KIND_BITS + SERVER_BITS)
                | argument << (KIND_BITS + 2 * SERVER_BITS);
    }

    /** What happens. */
    public static Kind kind(int step) {
        return Kind.ALL[step & ((1 << KIND_BITS) - 1)];
    }

    /** The server that does it, counting from 0. */
    public static int server(int step) {
        return step >> KIND_BITS & SERVER_MASK;
    }

    /** The other server, 0 if there is none. */
    public static int other(int step) {
        return step >> (KIND_BITS + SERVER_BITS) & SERVER_MASK;
    }

    /** A mask of servers for ELECT, a number of entries for deaths, else 0. */
    public static int argument(int step) {
        return step >> (KIND_BITS + 2 * SERVER_BITS);
    }

    /**
     * The same step of other servers.
     *
     * @param names who takes the place of each server
     */
    public static int renamed(int step, int[] names) {
        Kind kind = kind(step);
        int argument = argument(step);
        if (kind == Kind.ELECT) {
            argument = 0;
            for (int i = 0; i < names.length; i++) {
                if ((argument(step) & 1 << i) != 0) {
                    argument |= 1 << names[i];
                }
            }
        }
        int other =
                switch (kind) {
                    case RECEIVE, CLOSE, LEARN, CONNECT, ANSWER, HEAR, MISS, PONG ->
                            names[other(step)];
                    default -> 0;
                };
        return of(kind, names[server(step)], other, argument);
    }

    /** As text that {@link #parse} reads. */
    public static String toString(int step) {
        Kind kind = kind(step);
        StringBuilder out =
                new StringBuilder(kind.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        out.append(' ').append(server(step) + 1);
        switch (kind) {
            case RECEIVE, CLOSE, LEARN, HEAR, MISS, PONG ->
                    out.append(" from ").append(other(step) + 1);
            case CONNECT, ANSWER -> out.append(" to ").append(other(step) + 1);
            case ELECT -> {
                char separator = ' ';
                out.append(" with");
                for (int i = 0; i < ModelCluster.MAX_SERVERS; i++) {
                    if ((argument(step) & 1 << i) != 0) {
                        out.append(separator).append(i + 1);
                        separator = ',';
                    }
                }
            }
            case CRASH, KILL -> {
                if (argument(step) > 0) {
                    out.append(" keeping ").append(argument(step));
                }
            }
            case KILL_JOINING -> out.append(" having ").append(argument(step));
            default -> {}
        }
        return out.toString();
    }

    /**
     * Reads what {@link #toString(int)} writes.
     *
     * @throws IllegalArgumentException when it is something else
     */
    public static int parse(String text) {
        String[] words = text.trim().split("\\s+");
        try {
            Kind kind = Kind.valueOf(words[0].toUpperCase(Locale.ROOT).replace('-', '_'));
            int server = Integer.parseInt(words[1]) - 1;
            int other = 0;
            int argument = 0;
            if (kind == Kind.ELECT) {
                for (String sid : words[3].split(",")) {
                    argument |= 1 << (Integer.parseInt(sid) - 1);
                }
            } else if (words.length > 3 && takesEntries(kind)) {
                argument = Integer.parseInt(words[3]);
            } else if (words.length > 3) {
                other = Integer.parseInt(words[3]) - 1;
            }
            int step = of(kind, server, other, argument);
            if (toString(step).equals(String.join(" ", words))) {
                return step;
            }
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            throw new IllegalArgumentException("no such step: " + text, e);
        }
        throw new IllegalArgumentException("no such step: " + text);
    }

    private static boolean takesEntries(Kind kind) {
        return switch (kind) {
            case CRASH, KILL, KILL_JOINING -> true;
            default -> false;
        };
    }
}
