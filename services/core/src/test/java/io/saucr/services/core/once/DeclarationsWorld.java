package io.saucr.services.core.once;

import io.saucr.services.core.once.Declarations.Action;
import io.saucr.services.core.once.Declarations.Reply;
import io.saucr.services.core.once.Declarations.Seen;
import io.saucr.services.core.once.Declarations.Standing;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A seeded run of declarations: requests arrive in any order, late or never, answers are lost,
 * sessions live on unseen or expire, a stranger takes the path when it is free, and a start has a
 * successor. The chain is as much of it as declarations see: the parent's version.
 *
 * <p>Fault budget: in the first part everything above may happen; in the second nothing does, old
 * sessions expire, and everything has to be as declared.
 */
final class DeclarationsWorld {

    /** What is left out of E7, each of which must be noticed. */
    enum Broken {
        NOTHING,
        /** The parent's version is no condition. */
        ANY_PARENT,
        /** Another session's ephemeral passes for one's own. */
        ANY_OWNER,
        /** Where an outcome is open, a look is enough. */
        ONLY_LOOKED,
        /** What is withdrawn is deleted in whatever session there is by then. */
        ANY_SESSION,
    }

    private static final String PATH = "/p";
    private static final long NOBODY = 0;
    private static final long STRANGER = 1;

    private final Random random;
    private final Broken broken;

    private int parentVersion;
    private long owner = NOBODY;
    private long lastSession = STRANGER;
    private final Set<Long> alive = new HashSet<>(Set.of(STRANGER));

    /** The number of the latest start that has replaced the marker. */
    private int holder;

    private Start current;
    private final List<Start> starts = new ArrayList<>();
    private final List<Sent> underWay = new ArrayList<>();

    final List<String> violations = new ArrayList<>();
    long helds;
    long withdrawals;

    private record Sent(Start start, Action action) {}

    private final class Start {
        final int number = starts.size() + 1;
        final Declarations declarations = new Declarations();
        final Deque<Action.Look> looks = new ArrayDeque<>();
        final Map<Long, Reply> answers = new TreeMap<>();
        final Set<Long> open = new HashSet<>();
        boolean wanted;
        boolean withdrawn;
        boolean replacing;
        boolean watching;
        long session;

        void act(List<Action> actions) {
            for (Action action : actions) {
                if (action instanceof Action.Look look) {
                    looks.add(look);
                } else if (action instanceof Action.Watch) {
                    watching = true;
                } else if (action instanceof Action.ReplaceMarker) {
                    replacing = true;
                } else if (action instanceof Action.Report report) {
                    withdrawn = report.standing() instanceof Standing.Withdrawn;
                    if (report.standing() instanceof Standing.Held) {
                        helds++;
                    } else if (withdrawn) {
                        withdrawals++;
                    }
                } else if (action instanceof Action.Create create) {
                    open.add(create.request());
                    underWay.add(new Sent(this, action));
                } else if (action instanceof Action.Delete delete) {
                    open.add(delete.request());
                    underWay.add(new Sent(this, action));
                }
            }
        }

        void toggle() {
            if (wanted) {
                wanted = false;
                act(declarations.withdraw(PATH));
            } else {
                wanted = true;
                withdrawn = false;
                act(declarations.declare(PATH));
            }
        }

        void newSession() {
            session = ++lastSession;
            alive.add(session);
            watching = false;
            act(declarations.session(session));
        }

        void look() {
            Action.Look look = looks.poll();
            if (look != null) {
                Seen seen = Seen.ANOTHERS;
                if (owner == NOBODY) {
                    seen = Seen.NOTHING;
                } else if (owner == look.session() || broken == Broken.ANY_OWNER) {
                    seen = Seen.OWN;
                }
                act(declarations.seen(look.session(), look.path(), seen));
            }
        }

        void replace() {
            if (number < holder) {
                return;
            }
            act(declarations.parent(OptionalInt.empty()));
            holder = number;
            parentVersion++;
            replacing = false;
            act(declarations.parent(OptionalInt.of(parentVersion)));
        }

        /** What was handled is answered, or its answer is lost. */
        void answer(boolean lost) {
            for (Sent sent : underWay) {
                long request = request(sent.action);
                if (lost && sent.start == this && open.contains(request)) {
                    answers.put(request, new Reply.Unknown());
                }
            }
            Map<Long, Reply> now = new TreeMap<>(answers);
            answers.clear();
            now.forEach(
                    (request, reply) -> {
                        if (open.remove(request)) {
                            act(
                                    declarations.answered(
                                            request, heard(lost ? new Reply.Unknown() : reply)));
                        }
                    });
        }

        private Reply heard(Reply reply) {
            return broken == Broken.ONLY_LOOKED && reply instanceof Reply.Unknown
                    ? new Reply.PathMoved()
                    : reply;
        }

        void changed() {
            if (watching) {
                watching = false;
                act(declarations.changed(session, PATH));
            }
        }
    }

    DeclarationsWorld(long seed, Broken broken) {
        this.random = new Random(seed);
        this.broken = broken;
    }

    private static long request(Action action) {
        return action instanceof Action.Create create
                ? create.request()
                : ((Action.Delete) action).request();
    }

    private void own(long session) {
        owner = session;
        starts.forEach(Start::changed);
    }

    private void arrive() {
        if (underWay.isEmpty()) {
            return;
        }
        Sent sent = underWay.remove(random.nextInt(underWay.size()));
        sent.start.answers.put(request(sent.action), apply(sent.start, sent.action));
    }

    private Reply apply(Start start, Action action) {
        if (action instanceof Action.Create create) {
            if (!alive.contains(create.session())) {
                return new Reply.Unknown();
            } else if (isOld(create.parentVersion())) {
                return new Reply.ParentMoved();
            } else if (owner != NOBODY) {
                return new Reply.PathMoved();
            }
            if (start.withdrawn) {
                violations.add("created behind the withdrawal");
            }
            if (start.number < holder) {
                violations.add("created by an earlier start");
            }
            own(create.session());
        } else if (action instanceof Action.Delete delete) {
            if (!alive.contains(delete.session()) && broken != Broken.ANY_SESSION) {
                return new Reply.Unknown();
            } else if (isOld(delete.parentVersion())) {
                return new Reply.ParentMoved();
            } else if (owner == NOBODY) {
                return new Reply.PathMoved();
            }
            if (owner != delete.session()) {
                violations.add("deleted what is session " + owner + "'s");
            }
            own(NOBODY);
        }
        return new Reply.Done();
    }

    private boolean isOld(int version) {
        return version != parentVersion && broken != Broken.ANY_PARENT;
    }

    private void start() {
        current = new Start();
        starts.add(current);
        current.newSession();
        current.replace();
    }

    private void expire(boolean all) {
        for (long session : List.copyOf(alive)) {
            boolean isInUse = session == STRANGER || session == current.session;
            if (isInUse || (!all && random.nextInt(3) > 0)) {
                continue;
            }
            alive.remove(session);
            if (owner == session) {
                own(NOBODY);
            }
        }
    }

    void run(int steps) {
        start();
        for (int i = 0; i < steps; i++) {
            Start start =
                    random.nextInt(3) > 0 ? current : starts.get(random.nextInt(starts.size()));
            switch (random.nextInt(16)) {
                case 0, 1 -> start.toggle();
                case 2, 3, 4 -> start.look();
                case 5, 6, 7 -> arrive();
                case 8, 9 -> start.answer(false);
                case 10 -> start.answer(true);
                case 11 -> {
                    if (start.replacing || random.nextInt(4) == 0) {
                        start.replace();
                    }
                }
                case 12 -> start.newSession();
                case 13 -> expire(false);
                case 14 -> {
                    if (owner == NOBODY) {
                        own(STRANGER);
                    } else if (owner == STRANGER) {
                        own(NOBODY);
                    }
                }
                default -> {
                    if (starts.size() < 3 && random.nextInt(4) == 0) {
                        start();
                    }
                }
            }
        }
        quiet();
    }

    private void quiet() {
        if (owner == STRANGER) {
            own(NOBODY);
        }
        expire(true);
        for (int i = 0; i < 100; i++) {
            arrive();
            current.look();
            current.answer(false);
            if (current.replacing) {
                current.replace();
            }
        }
        if ((owner == current.session) != current.wanted) {
            violations.add(
                    "at rest the owner is "
                            + owner
                            + ", the session "
                            + current.session
                            + ", declared: "
                            + current.wanted);
        }
    }
}
