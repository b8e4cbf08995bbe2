package io.saucr.services.core.speculation;

import java.util.List;

/** What the services of a group do: which turn sends a message to which members. */
enum Program {
    /**
     * Requests come to the first one, which passes them on to the second, and that to the third.
     */
    CHAIN(0b001) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 ? List.of(1) : from == 0 ? List.of(2) : List.of();
        }
    },
    /** A request of the first one, which the second one answers. */
    ECHO(0b001) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 ? List.of(1) : from == 0 ? List.of(0) : List.of();
        }
    },
    /** Requests of two, of which each sends to the other. */
    EXCHANGE(0b011) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 ? List.of(1 - member) : List.of();
        }
    },
    /** The first one sends to the second, which has requests of its own and sends nothing. */
    ONE_WAY(0b011) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 && member == 0 ? List.of(1) : List.of();
        }
    },
    /** The second one sends to the first, which coordinates. */
    INWARD(0b010) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 ? List.of(0) : List.of();
        }
    },
    /** The second one sends to the third, and the first does nothing but coordinate. */
    APART(0b010) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 ? List.of(2) : List.of();
        }
    },
    /** The same, and each turn of the third one begins a call, whose result is its input. */
    CALLS(0b010) {
        @Override
        List<Integer> sends(int member, int from) {
            return from < 0 || from == 1 ? List.of(2) : List.of();
        }
    };

    /** A bit for each member. */
    private final int asked;

    Program(int asked) {
        this.asked = asked;
    }

    /** Whether a member has requests from outside. */
    boolean isAsked(int member) {
        return (asked >> member & 1) == 1;
    }

    /**
     * Who hears of a turn.
     *
     * @param member whose turn it is
     * @param from who sent the message that it takes; -1 for a request from outside
     */
    abstract List<Integer> sends(int member, int from);

    /** Whether one of them may send to the other. */
    boolean talks(int member, int to) {
        for (int from = -1; from < 3; from++) {
            boolean reached = from < 0 ? isAsked(member) : from != member && talksTo(from, member);
            if (reached && sends(member, from).contains(to)) {
                return true;
            }
        }
        return false;
    }

    private boolean talksTo(int from, int to) {
        return isAsked(from) && sends(from, -1).contains(to);
    }
}
