package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.model.cluster.Step.Kind;

/**
 * Which schedules a search may skip, because another one that differs only in the order of
 * independent steps, or in steps without an observable effect, leads to the same.
 *
 * <p>The effect of most steps is seen by few later ones: an appended entry by its ack, an ack by
 * the leader that reads it, an ack that was read by the commit of an entry. Such <em>quiet</em>
 * steps are taken as late as possible. A <em>run</em> is some quiet steps and the first step that
 * is not quiet and sees the effects of all of them. The search stores only the states between runs.
 * Any schedule becomes a sequence of runs when its quiet steps are moved back over steps that are
 * independent of them; quiet steps whose effect no step sees are left out. Where quiet steps of a
 * run may come in any order, one order is explored: proposals, then the leader's log, then the
 * followers' in the order of their numbers.
 *
 * <p>Some steps depend on a single earlier step and are taken <em>at once</em> after it: a crashed
 * process starts again, an answer is received, the source's answer is used. Any schedule becomes
 * such a one when these steps are moved forward. An answer may also be lost.
 *
 * <p>A step is never quiet if an invariant can see its effect at another server's step: one that
 * takes "fast" from a server's markers, and any ack where a fast entry can commit without it (S4).
 * docs/internals/proof.md says for each kind of step which others see its effect. Owned by one
 * thread, together with its cluster.
 */
public final class PartialOrderReduction {
    /** What is to be done with the cluster after a step. */
    public enum Next {
        /** The run continues. */
        GO_ON,
        /** The run ends here: a state. */
        STATE,
        /** The run ends here, or continues. */
        STATE_OR_GO_ON,
        /** Another run leads to the same. */
        LEAVE_OUT
    }

    private static final int NOTHING = -1;

    /** The steps of a run whose effects no step has seen yet. */
    private static final class Run {
        /** The last quiet step of one server's log, or the step to which another one belongs. */
        int last = NOTHING;

        /** Whether what that step wrote into its connection can be read next. */
        boolean readable;

        /** Whether a proposal is in nobody's log. */
        boolean proposed;

        /** Servers whose acks the leader has counted, and nothing has committed. */
        int counted;

        /** Servers that have acked fast entries. */
        int acked;

        /** The highest in the order of servers whose log the run has touched. */
        int highest;

        void set(Run other) {
            last = other.last;
            readable = other.readable;
            proposed = other.proposed;
            counted = other.counted;
            acked = other.acked;
            highest = other.highest;
        }

        void clear() {
            last = NOTHING;
            readable = false;
            proposed = false;
            counted = 0;
            acked = 0;
            highest = 0;
        }
    }

    private final ModelCluster cluster;
    private final boolean acksAreQuiet;
    private final Run[] runs;

    // What the cluster was like before the step.
    private boolean saidFast;
    private boolean linkWasEmpty;
    private int committed;
    private int acksRead;
    private boolean manyFast;
    private boolean noopOwed;

    /**
     * @param longest no run is longer than this
     */
    public PartialOrderReduction(ModelCluster cluster, int longest) {
        this.cluster = cluster;
        acksAreQuiet = cluster.fastQuorum == cluster.n;
        runs = new Run[longest + 1];
        for (int i = 0; i <= longest; i++) {
            runs[i] = new Run();
        }
    }

    /** A run begins. */
    public void begin() {
        runs[0].clear();
    }

    /**
     * Whether a step that is enabled may be the next one of a run.
     *
     * @param length of the run so far
     */
    public boolean mayFollow(int length, int step) {
        Run run = runs[length];
        Kind kind = Step.kind(step);
        boolean dies = kind == Kind.CRASH || kind == Kind.LOSE_DISK;
        if (dies && !cluster.up(Step.server(step))) {
            // As if it had lost power, or the disk, when its process died.
            return false;
        }
        if (run.last == NOTHING ? kind == Kind.LEARN : !sees(run, step)) {
            return false;
        }
        if (run.counted == 0 && !run.proposed) {
            return true;
        }
        Server s = cluster.servers[Step.server(step)];
        return switch (kind) {
            case APPEND, ACK, RECEIVE -> true;
            case PROPOSE, NOOP -> run.counted == 0;
            case SUSPECT -> run.counted == 0 && s.leads();
            case CONFIRM, PIN, UNPIN, DRAIN, DRAIN_ENDS, MISS, PONG, PAUSE -> true;
            case CLOSE -> (run.counted & ~(1 << Step.other(step))) == 0;
            case CONNECT -> run.counted == 0;
            case ANSWER -> run.counted == 0 && (!run.proposed || s.leads());
            case CRASH, KILL, LOSE_DISK, STEP_DOWN, FORCE, MARK -> !run.proposed && onlyOwn(run, s);
            default -> false;
        };
    }

    private static boolean onlyOwn(Run run, Server s) {
        return s.leads() && run.counted == 1 << s.index;
    }

    /** Whether a step can see the effect of the run's last one, or belongs to it. */
    private boolean sees(Run run, int step) {
        Kind next = Step.kind(step);
        int server = Step.server(run.last);
        boolean own = Step.server(step) == server;
        boolean read = run.readable && next == Kind.RECEIVE && Step.other(step) == server;
        boolean copied = next == Kind.SOURCE && source(step) == server;
        return switch (Step.kind(run.last)) {
            // It changes the log's buffer and what its server knows. A crash forgets both, unless
            // it leaves a part.
            case APPEND ->
                    copied
                            || (own
                                    && switch (next) {
                                        case APPEND, ACK, ANSWER, LEAVE, FORCE, MARK -> true;
                                        case CRASH, KILL -> Step.argument(step) > 0;
                                        default -> false;
                                    });
            // It writes into the connection behind what is unread there.
            case ACK ->
                    read
                            || (own
                                    && switch (next) {
                                        case APPEND,
                                                CRASH,
                                                KILL,
                                                LOSE_DISK,
                                                ANSWER,
                                                LEAVE,
                                                FORCE,
                                                MARK ->
                                                true;
                                        default -> false;
                                    });
            case TRUNCATE ->
                    copied
                            || (own
                                    && (next == Kind.SYNC
                                            || next == Kind.CRASH
                                            || next == Kind.KILL
                                            || next == Kind.KILL_JOINING
                                            || next == Kind.LEAVE));
            case SYNC ->
                    read
                            || copied
                            || (own
                                    && (next == Kind.CRASH
                                            || next == Kind.KILL
                                            || next == Kind.LOSE_DISK
                                            || next == Kind.LEAVE));
            case UPTODATE -> read || copied || own;
            // The mode shows in the next proposal. A crash forgets it.
            case SUSPECT ->
                    own && (next == Kind.NOOP || next == Kind.PROPOSE || next == Kind.CONFIRM);
            case FORCE ->
                    own
                            && switch (next) {
                                case MARK, CRASH, KILL, APPEND, ACK, LEAVE -> true;
                                default -> false;
                            };
            case SOURCE -> own && next == Kind.HISTORY;
            case ANSWER ->
                    next == Kind.LEARN
                            && Step.server(step) == Step.other(run.last)
                            && Step.other(step) == server;
            case CRASH, KILL, LOSE_DISK -> own && next == Kind.RESTART;
            default -> throw new IllegalStateException("not quiet: " + Step.toString(run.last));
        };
    }

    private int source(int step) {
        return cluster.servers[Step.server(step)].recovery.source;
    }

    /** To be called before {@link ModelCluster#apply}. */
    public void before(int step) {
        Server s = cluster.servers[Step.server(step)];
        saidFast = s.markersSayFast();
        linkWasEmpty = s.link != null && !s.link.readable();
        committed = s.committed;
        acksRead = s.links[Step.other(step)].acksRead;
        noopOwed = s.noopOwed;
        manyFast = s.length - s.acked > 1 && onlyFast(s);
    }

    /**
     * To be called after {@link ModelCluster#apply}.
     *
     * @param length of the run without the step
     */
    public Next after(int length, int step) {
        Run was = runs[length];
        Run run = runs[length + 1];
        run.set(was);
        run.last = NOTHING;
        run.readable = false;
        Server s = cluster.servers[Step.server(step)];
        boolean visible = saidFast && !s.markersSayFast();
        // Any ack may be the one after which the leader asks for a seal (R23).
        boolean asks = s.noopOwed && !noopOwed;
        return switch (Step.kind(step)) {
            case PROPOSE, NOOP -> {
                run.proposed = true;
                yield Next.GO_ON;
            }
            case APPEND -> appended(was, run, s, step);
            case ACK -> {
                if (manyFast) {
                    // Fast entries that are acked together are as if they had been acked one by
                    // one.
                    yield Next.LEAVE_OUT;
                }
                if (s.leads()) {
                    yield counted(was, run, s, s, !acksAreQuiet || visible || asks);
                }
                if (!acksAreQuiet || visible) {
                    yield stateIfSeen(was);
                }
                if (s.appendedAs[s.length - 1] == Server.FAST) {
                    run.acked |= 1 << s.index;
                }
                yield quiet(run, step);
            }
            case RECEIVE -> {
                Server from = cluster.servers[Step.other(step)];
                Link link = s.links[from.index];
                yield link.open && link.acksRead == acksRead + 1
                        ? counted(was, run, s, from, asks)
                        : (was.counted & ~(1 << from.index)) == 0 ? Next.STATE : Next.LEAVE_OUT;
            }
            case TRUNCATE -> quiet(run, step);
            case SYNC, UPTODATE -> visible ? stateIfSeen(was) : quiet(run, step);
            case SUSPECT -> {
                run.proposed = false;
                yield quiet(run, step);
            }
            case FORCE -> {
                run.counted = 0;
                yield quiet(run, step);
            }
            case SOURCE -> quiet(run, step);
            case ANSWER -> {
                if (!cluster.servers[Step.other(step)].recovery.asksForAnswers()) {
                    yield Next.STATE;
                }
                run.clear();
                run.last = step;
                yield Next.STATE_OR_GO_ON;
            }
            case CRASH, KILL, LOSE_DISK -> {
                if (mayBeGivenUp(s)) {
                    yield Next.STATE;
                }
                run.clear();
                yield quiet(run, step);
            }
            default -> Next.STATE;
        };
    }

    private Next quiet(Run run, int step) {
        run.last = step;
        run.readable = linkWasEmpty;
        return Next.GO_ON;
    }

    /** For a step that sees nothing but its own server's log. */
    private static Next stateIfSeen(Run was) {
        return was.counted == 0 && !was.proposed ? Next.STATE : Next.LEAVE_OUT;
    }

    private static int rank(Server s) {
        return s.leads() ? 0 : s.index + 1;
    }

    private Next appended(Run was, Run run, Server s, int step) {
        if (rank(s) < was.highest) {
            return Next.LEAVE_OUT;
        }
        if (was.counted != 0 || was.proposed) {
            // It can only lead to a commit of the same leader's.
            run.highest = rank(s);
        }
        if (s.queueNext == s.queueLength) {
            run.proposed = false;
        }
        return quiet(run, step);
    }

    /** The leader has counted an ack of {@code from}, perhaps its own. */
    private Next counted(Run was, Run run, Server l, Server from, boolean visible) {
        if (rank(from) < was.highest) {
            return Next.LEAVE_OUT;
        }
        run.highest = rank(from);
        run.counted |= 1 << from.index;
        if (from != l && !visible && inVain(l, from, run)) {
            return Next.LEAVE_OUT;
        }
        if (l.committed == committed) {
            if (!visible) {
                return Next.GO_ON;
            }
            boolean seen = (was.counted & ~(1 << l.index)) == 0 && !was.proposed;
            return seen ? Next.STATE : Next.LEAVE_OUT;
        }
        if (was.proposed) {
            return Next.LEAVE_OUT;
        }
        for (Server s : cluster.servers) {
            if ((run.counted & 1 << s.index) != 0 && tooMuch(l, s)) {
                return Next.LEAVE_OUT;
            }
        }
        return Next.STATE;
    }

    /** Whether the leader has counted the ack of a fast entry that the run did not commit. */
    private static boolean tooMuch(Server l, Server s) {
        int counted = s == l ? l.acked : l.links[s.index].acksRead;
        return counted > l.committed && isFast(l, counted - 1);
    }

    /**
     * Whether the ack that was counted cannot help to commit in this run: it is one of a fast entry
     * that needs everybody's acks, a server earlier in the order has not acked it, and no later ack
     * waits behind it. Or the follower has acked more fast entries than were read; it can do that
     * later just as well.
     */
    private boolean inVain(Server l, Server from, Run run) {
        Link link = l.links[from.index];
        if ((run.acked & 1 << from.index) != 0 && link.acksRead < link.acksSent) {
            return true;
        }
        boolean last = link.acksRead == link.acksSent;
        if (!acksAreQuiet || !last || !isFast(l, link.acksRead - 1)) {
            return false;
        }
        if (l.acked < link.acksRead) {
            return true;
        }
        for (int j = 0; j < from.index; j++) {
            if (j != l.index && l.links[j].acksRead < link.acksRead) {
                return true;
            }
        }
        return false;
    }

    private static boolean isFast(Server l, int position) {
        return l.count.mode(Entry.zxid(l.queue[position])) == Mode.FAST;
    }

    private static boolean onlyFast(Server s) {
        for (int i = s.acked; i < s.length; i++) {
            if (s.appendedAs[i] != Server.FAST) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether a recovering server may wait in vain for this one: then it matters that it is down.
     */
    private boolean mayBeGivenUp(Server s) {
        for (Server r : cluster.servers) {
            if (r.recovery != null
                    && r.recovery.finish == null
                    && r.recovery.received[s.index] != null) {
                return true;
            }
        }
        return false;
    }
}
