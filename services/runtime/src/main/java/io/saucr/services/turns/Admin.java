package io.saucr.services.turns;

import io.saucr.services.GroupStatus;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.core.CoreReport;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.once.TurnGuard;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Asks a life how it is, and gives it admin commands, between two turns. Any thread that runs no
 * turn.
 */
final class Admin {

    /** A turn may take long, but who looks on wants to know. */
    private static final long WAITED_SECONDS = 10;

    private final Guard guard;
    private final Front front;
    private final Life life;
    private final Turns turns;

    Admin(Guard guard, Front front, Life life) {
        this.guard = guard;
        this.front = front;
        this.life = life;
        turns = life.turns();
    }

    ServiceStatus status() {
        TurnGuard.refuse("status", "ask from outside of turns");
        CompletableFuture<ServiceStatus> status = new CompletableFuture<>();
        life.post(() -> status.complete(statusNow()));
        waitFor(status);
        return status.join();
    }

    /**
     * Runs something between two turns; waits until what it did is final.
     *
     * @throws IllegalArgumentException where it is not allowed
     * @throws ServiceException where the life was over before that
     */
    void command(String what, Consumer<Turns> command) {
        TurnGuard.refuse(what, "it is for people, from outside of turns");
        CompletableFuture<Long> done = new CompletableFuture<>();
        life.post(
                () -> {
                    try {
                        command.accept(turns);
                        done.complete(turns.core().newestTurn());
                    } catch (IllegalArgumentException e) {
                        done.completeExceptionally(e);
                    }
                });
        waitFor(done);
        long turn = done.join();
        CompletableFuture<Void> isFinal = new CompletableFuture<>();
        life.post(() -> turns.whenFinal(turn, () -> isFinal.complete(null)));
        waitFor(isFinal);
    }

    /** Ends turns where a snapshot holds all of them, else has one written; whether it ended. */
    boolean finish() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        life.post(() -> done.complete(life.endIfFolded()));
        waitFor(done);
        return done.join();
    }

    /** Waits until no turn runs that began before. */
    void awaitTurn() {
        CompletableFuture<Void> between = new CompletableFuture<>();
        life.post(() -> between.complete(null));
        waitFor(between);
    }

    private void waitFor(CompletableFuture<?> what) {
        try {
            Object unused =
                    CompletableFuture.anyOf(what, life.over())
                            .orTimeout(WAITED_SECONDS, TimeUnit.SECONDS)
                            .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new ServiceException(turns.name() + " does not answer: " + e.getCause(), e);
        }
    }

    private ServiceStatus statusNow() {
        ServiceCore core = turns.core();
        Incarnation self = turns.start().incarnation();
        long now = core.nowMillis();
        return new ServiceStatus(
                turns.name(),
                front.address().toString(),
                self.birth().toString(),
                self.number(),
                core.newestTurn(),
                core.finals().outside(),
                guard.room().bytesNotFinal(),
                guard.folding().bytesAboveBase(),
                guard.room().outbox().bytes(),
                guard.lastFsyncMicros(),
                core.duplicates(),
                core.report().timers(),
                core.report().openOutputs(),
                core.report().channels().stream().map(it -> channel(it, now)).toList(),
                core.report().parked().stream()
                        .map(
                                it ->
                                        new ServiceStatus.DeadLetter(
                                                it.id(),
                                                it.channel(),
                                                it.body().type(),
                                                it.body().bytes().length,
                                                it.reason()))
                        .toList(),
                core.report().stopped(),
                core.report().waitsFor(),
                unreachable(core),
                MemberStatus.NONE,
                GroupStatus.NONE);
    }

    private Map<String, String> unreachable(ServiceCore core) {
        Map<String, String> reasons = new TreeMap<>(front.unreachable());
        reasons.putAll(core.report().refusedBy());
        return reasons;
    }

    private static ServiceStatus.Channel channel(CoreReport.Channel channel, long now) {
        return new ServiceStatus.Channel(
                channel.peer(),
                channel.outside(),
                channel.birth().map(Object::toString).orElse(""),
                channel.linked(),
                channel.sent(),
                channel.unacked(),
                channel.inFiles(),
                channel.oldestMillis() == 0 ? 0 : Math.max(0, now - channel.oldestMillis()),
                channel.consumed(),
                channel.held());
    }
}
