package io.saucr.services.once;

import io.saucr.services.core.once.Declarations;
import io.saucr.services.core.once.Declarations.Action;
import io.saucr.services.core.once.Declarations.Reply;
import io.saucr.services.core.once.Declarations.Seen;
import io.saucr.services.core.once.Declarations.Standing;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what {@link Declarations} asks for, in the client's session, and tells the one that declared
 * (E7). A declaration comes here once it is forced. One with other data is a withdrawal, and then a
 * new one. Used by the client's thread alone.
 */
final class Ephemerals {

    private static final Logger LOG = LoggerFactory.getLogger(Ephemerals.class);

    private static final long RETRY_MILLIS = 100;

    /** One path. */
    private static final class Kept {
        /** What it is created with. */
        Ephemeral now;

        /** What it is to be, or null where it was withdrawn. */
        Ephemeral wanted;

        boolean withdrawing;
        Standing standing = new Standing.Missing();
        Watch looked;
        Watch watched;
        final List<CompletableFuture<Void>> holds = new ArrayList<>();
        final List<CompletableFuture<Void>> withdrawals = new ArrayList<>();
    }

    /** One look, which sees also that the path changes afterwards. */
    private static final class Watch {
        final long session;
        final String path;
        boolean fired;

        Watch(long session, String path) {
            this.session = session;
            this.path = path;
        }
    }

    private final Ensemble ensemble;
    private final Consumer<Runnable> events;
    private final Runnable replaceMarker;
    private final BiConsumer<String, Standing> listener;

    private final Declarations declarations = new Declarations();
    private final Map<String, Kept> all = new HashMap<>();

    /** What somebody waits for, also before it is forced. */
    private final Set<CompletableFuture<Void>> open = new HashSet<>();

    private final Deque<Action> actions = new ArrayDeque<>();
    private boolean acting;

    private long session;
    private OptionalInt parentVersion = OptionalInt.empty();

    /**
     * Keeps nothing yet.
     *
     * @param ensemble whose session counts
     * @param events runs what it is given on the client's thread, later; called by any thread
     * @param replaceMarker calls the chain's {@code disturbed}
     * @param listener told of each change
     */
    Ephemerals(
            Ensemble ensemble,
            Consumer<Runnable> events,
            Runnable replaceMarker,
            BiConsumer<String, Standing> listener) {
        this.ensemble = ensemble;
        this.events = events;
        this.replaceMarker = replaceMarker;
        this.listener = listener;
    }

    /** Somebody waits; failed by {@link #end} where nothing else completes it. */
    void expect(CompletableFuture<Void> future) {
        open.add(future);
    }

    private void complete(List<CompletableFuture<Void>> futures, Exception failure) {
        List<CompletableFuture<Void>> now = List.copyOf(futures);
        futures.clear();
        for (CompletableFuture<Void> future : now) {
            open.remove(future);
            if (failure == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(failure);
            }
        }
    }

    /** The client ends. */
    void end(Exception failure) {
        for (CompletableFuture<Void> future : List.copyOf(open)) {
            future.completeExceptionally(failure);
        }
        open.clear();
    }

    /** An ephemeral is declared, and forced. */
    void declare(Ephemeral ephemeral, CompletableFuture<Void> held) {
        Kept kept = all.computeIfAbsent(ephemeral.path(), path -> new Kept());
        kept.wanted = ephemeral;
        kept.holds.add(held);
        if (kept.withdrawing) {
            return;
        }
        if (kept.now == null || kept.now.equals(ephemeral)) {
            create(kept);
        } else {
            kept.withdrawing = true;
            act(declarations.withdraw(ephemeral.path()));
        }
    }

    private void create(Kept kept) {
        kept.now = kept.wanted;
        if (kept.standing instanceof Standing.Held) {
            complete(kept.holds, null);
        } else {
            act(declarations.declare(kept.now.path()));
        }
    }

    /** An ephemeral is withdrawn, and that is forced. */
    void withdraw(String path, CompletableFuture<Void> gone) {
        Kept kept = all.get(path);
        kept.wanted = null;
        kept.withdrawals.add(gone);
        complete(kept.holds, new IllegalStateException(path + " was withdrawn"));
        if (!kept.withdrawing) {
            kept.withdrawing = true;
            act(declarations.withdraw(path));
        }
    }

    /**
     * Tells what the chain's marker and the session are by now; called after each event.
     *
     * @param now the version of the client's parent
     */
    void keep(OptionalInt now) {
        if (ensemble.sessionNumber() != session) {
            session = ensemble.sessionNumber();
            act(declarations.session(session));
        }
        if (!now.equals(parentVersion)) {
            parentVersion = now;
            act(declarations.parent(now));
        }
        if (!all.isEmpty() && now.isPresent() && ensemble.isSessionLost()) {
            // The chain opens the next session, when nothing is under way in this one.
            replaceMarker.run();
        }
    }

    private void act(List<Action> more) {
        actions.addAll(more);
        if (acting) {
            return;
        }
        acting = true;
        while (!actions.isEmpty()) {
            act(actions.remove());
        }
        acting = false;
    }

    private void act(Action action) {
        if (action instanceof Action.Look look) {
            look(new Watch(look.session(), look.path()));
        } else if (action instanceof Action.Create create) {
            send(
                    create.request(),
                    create.session(),
                    create.parentVersion(),
                    all.get(create.path()).now.create());
        } else if (action instanceof Action.Delete delete) {
            send(
                    delete.request(),
                    delete.session(),
                    delete.parentVersion(),
                    Op.delete(delete.path(), -1));
        } else if (action instanceof Action.Watch watch) {
            watch(all.get(watch.path()));
        } else if (action instanceof Action.ReplaceMarker) {
            replaceMarker.run();
        } else if (action instanceof Action.Report report) {
            told(report.path(), report.standing());
        }
    }

    private void send(long request, long inSession, int version, Op operation) {
        ensemble.sendBeside(
                inSession,
                version,
                operation,
                reply -> events.accept(() -> answered(request, reply)));
    }

    private void answered(long request, Reply reply) {
        act(declarations.answered(request, reply));
    }

    private void look(Watch watch) {
        all.get(watch.path).looked = watch;
        ensemble.look(
                watch.session,
                watch.path,
                () -> events.accept(() -> changed(watch)),
                seen -> events.accept(() -> seen(watch, seen)));
    }

    private boolean isNewest(Watch watch) {
        Kept kept = all.get(watch.path);
        return kept != null && kept.looked == watch;
    }

    private void seen(Watch watch, Optional<Seen> seen) {
        if (!isNewest(watch)) {
            return;
        }
        if (seen.isPresent()) {
            act(declarations.seen(watch.session, watch.path, seen.get()));
        } else if (watch.session == session) {
            // The next session looks on its own, and comes after a look of this one.
            CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS)
                    .execute(() -> events.accept(() -> again(watch)));
        }
    }

    private void again(Watch watch) {
        if (isNewest(watch) && watch.session == session) {
            look(new Watch(watch.session, watch.path));
        }
    }

    private void watch(Kept kept) {
        kept.watched = kept.looked;
        if (kept.watched.fired) {
            changed(kept.watched);
        }
    }

    private void changed(Watch watch) {
        watch.fired = true;
        Kept kept = all.get(watch.path);
        if (kept != null && kept.watched == watch) {
            kept.watched = null;
            act(declarations.changed(watch.session, watch.path));
        }
    }

    private void told(String path, Standing standing) {
        Kept kept = all.get(path);
        kept.standing = standing;
        if (standing instanceof Standing.Held) {
            complete(kept.holds, null);
        } else if (standing instanceof Standing.Refused refused) {
            KeeperException failure =
                    KeeperException.create(KeeperException.Code.get(refused.code()), path);
            complete(kept.withdrawals, failure);
            complete(kept.holds, failure);
        } else if (standing instanceof Standing.Withdrawn) {
            kept.withdrawing = false;
            kept.now = null;
            complete(kept.withdrawals, null);
            if (kept.wanted == null) {
                all.remove(path);
            } else {
                create(kept);
            }
        }
        try {
            listener.accept(path, standing);
        } catch (RuntimeException e) {
            LOG.warn("who listens for ephemerals threw at {}", path, e);
        }
    }
}
