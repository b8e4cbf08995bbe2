package io.saucr.services.tests.crash;

import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.FsyncShim;
import io.saucr.services.tests.once.Fate;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Each way to crash, at a point where the process stands still, by SIGKILL or by a power cut. In
 * between client and peer are frozen, so that what a start has is what its disk kept. One world is
 * used for all: each row leaves it running and quiet. One thread.
 */
final class CrashRows {

    /** Where a process is when it crashes. */
    enum Row {
        HANDLER(1),
        APPENDED(1),
        FORCED(1),
        RELEASED(1),
        FOLDING(FOLDS.size()),
        RECOVERING(1),
        HALTED(1),
        NONCE(1),
        LATE(1),
        CLIENT(1),
        SEVERAL(1);

        private final int places;

        Row(int places) {
            this.places = places;
        }

        /** In how many runs a row is at each of its places once. */
        int places() {
            return places;
        }

        /** As it is typed. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How a process ends. */
    enum Crash {
        KILL,
        POWER;

        /** As it is typed. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final List<String> FOLDS =
            List.of(
                    "base-write",
                    "base-force",
                    "base-name",
                    "base-name-done",
                    "base-names-done",
                    "base-delete",
                    "journal-name",
                    "journal-name-done",
                    "journal-retire",
                    "journal-retire-done");

    /** Of the steps of a start, every so many-th; another one in each run. */
    private static final int STRIDE = 6;

    private static final int MOST_STEPS = 40;

    private final CrashWorld world;
    private final Map<Row, Tally> tallies = new EnumMap<>(Row.class);
    private long moves;
    private long crashes;
    private int folds;
    private int recoveries;

    /** What a row did so far. */
    record Tally(int runs, long crashes, long millis) {}

    /**
     * Rows in a world where nothing has moved yet.
     *
     * @param world in which all members run
     */
    CrashRows(CrashWorld world) throws Exception {
        this.world = world;
        settle(20);
    }

    /**
     * Runs a row once, at the next one of its places.
     *
     * @throws IllegalStateException if anything is not as it has to be
     */
    void run(Row row, Crash how) throws Exception {
        long begun = System.nanoTime();
        long before = crashes;
        switch (row) {
            case HANDLER -> inTheHandler(how);
            case APPENDED -> appendedUnforced(how);
            case FORCED -> forcedUnreleased(how);
            case RELEASED -> releasedUnacked(how);
            case FOLDING -> foldingAndCutting(how);
            case RECOVERING -> recovering(how);
            case HALTED -> failedForce(how);
            case NONCE -> nonceWithoutHead(how);
            case LATE -> lateOperation(how);
            case CLIENT -> crashUnderWay(how, world.client);
            case SEVERAL -> crashUnderWay(how, world.payer, world.payee, world.client);
        }
        List<String> violations = world.witness.violations();
        expect(violations.isEmpty(), row + ", " + how + ": " + violations);
        Tally so = tallies.getOrDefault(row, new Tally(0, 0, 0));
        tallies.put(
                row,
                new Tally(
                        so.runs() + 1,
                        so.crashes() + crashes - before,
                        so.millis() + (System.nanoTime() - begun) / 1_000_000));
    }

    /** What each row did that has run. */
    Map<Row, Tally> tallies() {
        return new EnumMap<>(tallies);
    }

    private static void expect(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    private static void expect(String what, long found, long least, long most) {
        expect(
                found >= least && found <= most,
                what + ": " + found + ", not " + (least == most ? "" : least + " to ") + most);
    }

    /** So many moves more, and all that follows from them. */
    private void settle(long more) throws Exception {
        move(more);
        world.client.ask("once 3", "asked");
        world.settle(moves);
    }

    private void crash(Crash how, Member... members) throws Exception {
        crashes++;
        if (how == Crash.POWER) {
            world.machines.powerCut(List.of(members));
        } else {
            for (Member member : members) {
                member.kill();
            }
        }
    }

    private static void freeze(Member... members) throws Exception {
        for (Member member : members) {
            member.freeze();
        }
    }

    private static void thaw(Member... members) throws Exception {
        for (Member member : members) {
            member.thaw();
        }
    }

    /**
     * A start of the payer on what its disk kept has so many moves, while all others are frozen.
     */
    private void recovers(long least, long most) throws Exception {
        Witness.Seen seen = world.witness.seen();
        world.start(world.payer);
        Map<String, Long> books = world.books(world.payer);
        world.witness.noOrphan(seen, Map.of(), books);
        expect("moves after the crash", books.getOrDefault("moved", 0L), least, most);
    }

    /** Nobody was told of the last move. */
    private void expectUnseen() {
        expect("moves that were answered", world.witness.seen().moved(), moves - 1, moves - 1);
    }

    private void move(long more) {
        moves += more;
        world.client.order("move " + moves);
    }

    /** The next move stops at this point. */
    private void moveUpTo(Member member, String point) {
        member.order("arm " + point + " 1");
        move(1);
        member.await("at " + point);
    }

    private void inTheHandler(Crash how) throws Exception {
        moveUpTo(world.payer, "handler");
        freeze(world.client, world.payee);
        expectUnseen();
        crash(how, world.payer);
        recovers(moves - 1, moves - 1);
        thaw(world.client, world.payee);
        settle(1);
    }

    private void appendedUnforced(Crash how) throws Exception {
        moveUpTo(world.payer, "journal-force");
        Map<String, Long> status = world.status(world.payer);
        expect(
                status.get("turn") > status.get("finalTurn"),
                "nothing waits for a force: " + status);
        freeze(world.client, world.payee);
        expectUnseen();
        crash(how, world.payer);
        if (how == Crash.KILL) {
            recovers(moves, moves);
        } else if (world.machines.name().equals("root")) {
            // The page cache writes back when it likes.
            recovers(moves - 1, moves);
        } else {
            recovers(moves - 1, moves - 1);
        }
        thaw(world.client, world.payee);
        settle(1);
    }

    private void forcedUnreleased(Crash how) throws Exception {
        moveUpTo(world.payer, "journal-force-done");
        freeze(world.client, world.payee);
        expectUnseen();
        crash(how, world.payer);
        recovers(moves, moves);
        thaw(world.client, world.payee);
        settle(1);
    }

    private void releasedUnacked(Crash how) throws Exception {
        // The sender dies; what it sends again meets a turn that is not final yet.
        moveUpTo(world.payee, "journal-force");
        crash(how, world.payer);
        world.start(world.payer);
        Deadline.await(
                Member.PATIENCE,
                5,
                () -> world.status(world.payee).get("duplicates") > 0,
                () -> "nothing was sent again");
        world.payee.order("go");
        settle(1);
        // The receiver dies, before anybody hears that it consumed.
        moveUpTo(world.payee, "journal-force-done");
        freeze(world.payer);
        crash(how, world.payee);
        world.start(world.payee);
        long kept = world.books(world.payee).getOrDefault("moved", 0L);
        expect("moves of the payee after its crash", kept, moves, moves);
        thaw(world.payer);
        settle(1);
    }

    private void foldingAndCutting(Crash how) throws Exception {
        String point = FOLDS.get(folds++ % FOLDS.size());
        world.payer.order("arm " + point + " 1");
        move(60);
        world.payer.await("at " + point);
        crash(how, world.payer);
        world.start(world.payer);
        settle(0);
    }

    /**
     * A start is ended at one of its first steps, the next one at a later one, until one is
     * through.
     */
    private void recovering(Crash how) throws Exception {
        moveUpTo(world.payer, "journal-force");
        freeze(world.client, world.payee);
        expectUnseen();
        crash(Crash.KILL, world.payer);
        for (int step = 1 + recoveries++ % STRIDE; step < MOST_STEPS; step += STRIDE) {
            world.launch(world.payer, Points.ANY, step);
            if (world.payer.await("").startsWith("started")) {
                break;
            }
            crash(how, world.payer);
        }
        if (world.payer.isAlive()) {
            crash(how, world.payer);
        }
        // A start that was cut off may have forced the turn, or not yet.
        recovers(moves - 1, moves);
        thaw(world.client, world.payee);
        settle(1);
    }

    private void failedForce(Crash how) throws Exception {
        FsyncShim disk = world.machines.shim(world.payer.id());
        disk.failForces(true);
        move(1);
        expect("exit status after a failed force", world.payer.awaitEnd(), 70, 70);
        crashes++;
        freeze(world.client, world.payee);
        expectUnseen();
        disk.failForces(false);
        recovers(moves, moves);
        // What the start found in the page cache alone is on disk now.
        crash(how, world.payer);
        recovers(moves, moves);
        thaw(world.client, world.payee);
        settle(1);
    }

    private void nonceWithoutHead(Crash how) throws Exception {
        crash(Crash.KILL, world.payer);
        long held = world.head();
        world.launch(world.payer, "identity-names-done", 1);
        world.payer.await("at identity-names-done");
        expect("the start that holds the head", world.head(), held, held);
        crash(how, world.payer);
        world.start(world.payer);
        expect("the start that holds the head", world.head(), held + 2, held + 2);
        settle(1);
    }

    /** On its way to the ensemble when its client dies, and there when the successor has served. */
    private void lateOperation(Crash how) throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch dead = new CountDownLatch(1);
        world.fates(
                request -> {
                    if (!request.contains(Ledger.WRITTEN) || !first.getAndSet(false)) {
                        return Fate.PASS;
                    }
                    held.countDown();
                    return Fate.of(Fate.Kind.HOLD).and(() -> uninterruptibly(dead));
                });
        long before = world.writes();
        move(10);
        expect(
                held.await(Member.PATIENCE.toSeconds(), TimeUnit.SECONDS),
                "nothing was written to the ensemble");
        crash(how, world.payer);
        dead.countDown();
        expect("writes before the successor serves", world.writes(), before, before);
        world.start(world.payer);
        settle(0);
        expect(world.line().held() > 0, "the late operation is not held any more");
        // It fails, as the marker that it names is no more.
        List<Integer> codes = world.line().release();
        expect(!codes.isEmpty() && !codes.contains(0), "the late operation is answered " + codes);
        settle(10);
    }

    private static void uninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void crashUnderWay(Crash how, Member... victims) throws Exception {
        long seen = world.witness.seen().moved();
        move(150);
        Deadline.await(
                Member.PATIENCE,
                1,
                () -> world.witness.seen().moved() >= seen + 50,
                () -> "nothing moves");
        crash(how, victims);
        for (Member victim : victims) {
            world.launch(victim);
        }
        for (Member victim : victims) {
            world.awaitStarted(victim);
        }
        settle(10);
    }
}
