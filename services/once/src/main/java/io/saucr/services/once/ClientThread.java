package io.saucr.services.once;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.once.Answer;
import io.saucr.services.core.once.MarkerChain;
import io.saucr.services.core.once.Reading;
import io.saucr.services.core.once.Step;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.once.OnceRecords.Accepted;
import io.saucr.services.once.OnceRecords.Decided;
import io.saucr.services.once.OnceRecords.Declared;
import io.saucr.services.once.OnceRecords.Entry;
import io.saucr.services.once.OnceRecords.MarkerMade;
import io.saucr.services.once.OnceRecords.Withdrawn;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a {@link OnceClient}, which decides and talks to the ensemble: it takes what
 * callers enqueue, writes it to the log, lets the chain of markers send it, and completes the
 * futures. Callers use {@link #enqueue}, {@link #takesOne}, {@link #isCurrent} and {@link #close};
 * all else runs on the thread.
 */
final class ClientThread {

    private static final Logger LOG = LoggerFactory.getLogger(OnceClient.class);

    /** So many events at most are handled before what they accepted is sent. */
    private static final int EVENTS_TOGETHER = 256;

    private final OnceClient.Builder settings;
    private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>();
    private final Thread thread;

    /** Of the thread. */
    private final OnceRecords records;

    private final Map<Long, CompletableFuture<Outcome>> futures = new HashMap<>();
    private final Map<String, Long> openKeys = new HashMap<>();
    private final Map<Long, List<OpResult>> results = new HashMap<>();
    private final Ensemble ensemble;
    private final Ephemerals ephemerals;
    private final MarkerChain chain;

    /** Where records are written; null where they last as long as this process. */
    private final OnceLog log;

    /** For how many more operations there is room. */
    private final Semaphore room;

    private long appended;

    /** What waits until a record is forced, in the order of the records. */
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    private record Waiting(long record, Runnable then) {}

    /** Without a log: what follows the event that runs. */
    private final Deque<Runnable> next = new ArrayDeque<>();

    /** The newest operation that is forced, and the one of which the chain knows so. */
    private long forcedUpTo;

    private long toldForced;

    /** The thread that waits for the ensemble. */
    private final ExecutorService looks;

    /** Whether the ensemble may know of this start. */
    private boolean written;

    /** Written by the thread; read under the lock by the threads that submit. */
    private final Object lock = new Object();

    private String stopped;

    ClientThread(OnceClient.Builder settings) throws IOException {
        this.settings = settings;
        SecureRandom random = new SecureRandom();
        List<Incarnation> known;
        if (settings.log != null) {
            log = settings.log;
        } else if (settings.folder != null) {
            log = FolderLog.open(settings.folder, settings.name, random);
        } else {
            log = null;
        }
        if (log == null) {
            records = new OnceRecords();
            known =
                    List.of(
                            new Incarnation(
                                    new Birth(random.nextLong(), random.nextLong()),
                                    1,
                                    random.nextLong()));
        } else {
            records = log.records();
            known = log.starts();
        }
        chain =
                new MarkerChain(
                        settings.name,
                        new MarkerChain.Past(
                                known,
                                records.markerMade,
                                records.highestDecided,
                                records.lastNumber,
                                settings.instead),
                        settings.limits);
        ensemble =
                new Ensemble(
                        settings.connect,
                        settings.chroot,
                        settings.name,
                        settings.sessionTimeout,
                        settings.credentials,
                        settings.acls,
                        () -> events.add(() -> {}));
        ephemerals =
                new Ephemerals(
                        ensemble, events::add, () -> act(chain.disturbed()), settings.onEphemeral);
        // More may have been left by an earlier start, which had another limit.
        room = new Semaphore(settings.openOperations - records.open.size());
        looks = oneThread(settings.name, "looks");
        thread = new Thread(this::run, "once client " + settings.name);
        thread.setDaemon(true);
    }

    /** Continues with what earlier starts left, and starts. */
    void begin() {
        for (Accepted each : records.open.values()) {
            futures.put(each.number(), new CompletableFuture<>());
            if (!each.key().isEmpty()) {
                openKeys.put(each.key(), each.number());
            }
        }
        if (log != null) {
            appended =
                    log.begin(
                            new JournalListener() {
                                @Override
                                public void forced(long record) {
                                    events.add(() -> afterForce(record));
                                }

                                @Override
                                public void failed(IOException cause) {
                                    events.add(() -> stop(log + " failed: " + cause));
                                }
                            });
        }
        events.add(
                () -> {
                    for (Ephemeral each : records.ephemerals.values()) {
                        // A caller that declares it again gets the outcome.
                        ephemerals.declare(each, new CompletableFuture<>());
                    }
                    long last = 0;
                    for (Accepted each : List.copyOf(records.open.values())) {
                        act(
                                chain.submitted(
                                        each.number(),
                                        isSequential(each),
                                        each.operation().bytes()));
                        last = each.number();
                    }
                    if (last > 0) {
                        forcedUpTo = last;
                        tellForced();
                    }
                    act(chain.start());
                });
        thread.start();
    }

    private static boolean isSequential(Accepted accepted) {
        return accepted.operation().sequentialPath() != null;
    }

    // Called by any thread.

    /** Whether one more operation may be open; it is counted then. */
    boolean takesOne() {
        return room.tryAcquire();
    }

    /** Whether the caller is this thread. */
    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Runs an event on the thread; where it has stopped, the future fails. */
    void enqueue(Runnable event, CompletableFuture<?> future) {
        synchronized (lock) {
            if (stopped == null) {
                events.add(new Question(event, future));
                return;
            }
        }
        future.completeExceptionally(new StoppedException(stopped));
    }

    /** Stops once what was enqueued before has run; does not wait for that. */
    void close() {
        synchronized (lock) {
            if (stopped == null) {
                events.add(() -> end("the client was closed", false));
            }
        }
    }

    /** Waits until it has ended. */
    void join() throws InterruptedException {
        thread.join();
    }

    // What follows runs on the thread.

    /** The futures of all operations that are open, by number. */
    Map<Long, CompletableFuture<Outcome>> open() {
        return new TreeMap<>(futures);
    }

    private void run() {
        try {
            while (!isStopped()) {
                Runnable event = events.take();
                for (int count = 1; event != null && !isStopped(); count++) {
                    event.run();
                    afterEvent();
                    event = count < EVENTS_TOGETHER ? events.poll() : null;
                }
                if (!isStopped()) {
                    tellForced();
                    if (log != null) {
                        // One force for all that these events wrote.
                        log.force();
                    }
                    ephemerals.keep(chain.parentVersion());
                }
            }
        } catch (InterruptedException e) {
            end("the client was interrupted", false);
        } catch (DeadJournalException e) {
            stop(log + " failed: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("once client {}: a defect", settings.name, e);
            stop("a defect: " + e);
        } finally {
            ensemble.interrupt();
            looks.shutdownNow();
            awaitEnd(looks);
            ensemble.close();
            if (log != null) {
                log.close(written);
            }
        }
    }

    /** What needs no force follows at once, but not within what led to it. */
    private void afterEvent() {
        for (Runnable then = next.poll(); then != null && !isStopped(); then = next.poll()) {
            then.run();
        }
    }

    /** Lets the chain send what was accepted since, so that it goes together (E2). */
    private void tellForced() {
        if (forcedUpTo > toldForced) {
            toldForced = forcedUpTo;
            act(chain.forced(forcedUpTo));
            afterEvent();
        }
    }

    /** A thread that works for a client, named after it. */
    static ExecutorService oneThread(String client, String what) {
        return Executors.newSingleThreadExecutor(
                work -> {
                    Thread working = new Thread(work, "once client " + client + ", " + what);
                    working.setDaemon(true);
                    return working;
                });
    }

    /**
     * However long it takes: what still runs would write into a folder that another start has
     * opened.
     */
    static void awaitEnd(ExecutorService threads) {
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = threads.awaitTermination(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isStopped() {
        synchronized (lock) {
            return stopped != null;
        }
    }

    void accept(String key, Operation operation, CompletableFuture<Outcome> future) {
        if (!key.isEmpty()) {
            Decided decided = records.remembered.get(key);
            if (decided != null) {
                room.release();
                complete(future, operation, decided, List.of());
                return;
            }
            Long number = openKeys.get(key);
            if (number != null) {
                room.release();
                CompletableFuture<Outcome> unused =
                        futures.get(number)
                                .whenComplete(
                                        (outcome, failure) -> {
                                            if (failure == null) {
                                                future.complete(outcome);
                                            } else {
                                                future.completeExceptionally(failure);
                                            }
                                        });
                return;
            }
        }
        Accepted accepted = new Accepted(records.lastNumber + 1, key, operation);
        records.take(accepted);
        futures.put(accepted.number(), future);
        if (!key.isEmpty()) {
            openKeys.put(key, accepted.number());
        }
        long number = accepted.number();
        append(accepted, () -> forcedUpTo = number);
        act(chain.submitted(number, isSequential(accepted), operation.bytes()));
    }

    void accept(Ephemeral ephemeral, CompletableFuture<Void> held) {
        ephemerals.expect(held);
        records.take(ephemeral);
        append(new Declared(ephemeral), () -> ephemerals.declare(ephemeral, held));
    }

    void acceptWithdrawal(String path, CompletableFuture<Void> gone) {
        if (records.ephemerals.remove(path) == null) {
            gone.completeExceptionally(
                    new IllegalArgumentException(path + " is not declared, so not withdrawn"));
            return;
        }
        ephemerals.expect(gone);
        append(new Withdrawn(path), () -> ephemerals.withdraw(path, gone));
    }

    /** Writes a record; what follows it runs once it is forced. */
    private void append(Entry record, Runnable then) {
        if (log == null) {
            next.add(then);
            return;
        }
        appended++;
        waiting.add(new Waiting(appended, then));
        log.write(appended, record);
    }

    private void afterForce(long record) {
        while (!waiting.isEmpty() && waiting.peek().record() <= record && !isStopped()) {
            waiting.remove().then().run();
        }
        if (!isStopped()) {
            log.forced(record, appended, records);
        }
    }

    private void act(List<Step> steps) {
        for (Step step : steps) {
            if (!isStopped()) {
                act(step);
            }
        }
    }

    private void act(Step step) {
        if (step instanceof Step.Send send) {
            send(send);
        } else if (step instanceof Step.Report report) {
            report(report);
        } else if (step instanceof Step.Stop stop) {
            stop(stop.reason());
        } else {
            look(step);
        }
    }

    /** Waits for the ensemble on the other thread, so that operations are accepted meanwhile. */
    private void look(Step step) {
        String sequentialPath =
                step instanceof Step.Find find
                        ? records.open.get(find.number()).operation().sequentialPath()
                        : null;
        written |= step instanceof Step.Replace;
        looks.execute(
                () -> {
                    Runnable then = looked(step, sequentialPath);
                    String refusal = ensemble.refusal();
                    if (refusal != null) {
                        events.add(() -> stop(refusal));
                    } else if (!ensemble.isInterrupted()) {
                        events.add(then);
                    }
                });
    }

    /** On the thread of looks; what it returns runs on the client's. */
    private Runnable looked(Step step, String sequentialPath) {
        if (step instanceof Step.Replace replace) {
            ensemble.replace(replace);
            return () -> {};
        } else if (step instanceof Step.MakeParent) {
            ensemble.makeParent();
            return () -> act(List.of(new Step.Read()));
        } else if (step instanceof Step.Find find) {
            Optional<Optional<String>> name = ensemble.find(sequentialPath, find.czxid());
            return () -> act(chain.found(find.number(), name.orElseThrow().orElse(null)));
        }
        Optional<Reading> reading = ensemble.read();
        return () -> read(reading.orElseThrow());
    }

    private void read(Reading reading) {
        if (!records.markerMade && reading.markers().stream().anyMatch(this::isOwn)) {
            // Nothing is sent before the folder knows that there is a marker to be missed (E9).
            records.markerMade = true;
            append(new MarkerMade(), () -> act(chain.read(reading)));
        } else {
            act(chain.read(reading));
        }
    }

    private boolean isOwn(Reading.Marker marker) {
        return !settings.instead.contains(marker.content().holder().birth());
    }

    private void send(Step.Send send) {
        List<Op> operations = new ArrayList<>();
        for (long number = send.first(); number <= send.last(); number++) {
            operations.addAll(records.open.get(number).operation().parts());
        }
        ensemble.send(send, operations, answer -> events.add(() -> answered(send, answer)));
    }

    private void answered(Step.Send send, Ensemble.MultiAnswer answer) {
        if (answer.refusal() != null) {
            stop(answer.refusal());
            return;
        }
        Answer toChain = answer.answer();
        if (toChain instanceof Answer.Done) {
            results.put(send.request(), answer.results());
        } else if (toChain instanceof Answer.Refused refused) {
            toChain = new Answer.Refused(operationOf(send, refused.index()), refused.code());
        }
        act(chain.answered(send.request(), toChain));
        results.remove(send.request());
    }

    /** Which operation of a request a part belongs to; parts are counted without the marker. */
    private int operationOf(Step.Send send, int part) {
        int left = part;
        for (long number = send.first(); number <= send.last(); number++) {
            int parts = records.open.get(number).operation().parts().size();
            if (left < parts) {
                return (int) (number - send.first());
            }
            left -= parts;
        }
        throw new IllegalStateException("part " + part + " of " + send);
    }

    private void report(Step.Report report) {
        long number = report.number();
        Operation operation = records.open.get(number).operation();
        int code = 0;
        String created = "";
        List<OpResult> own = List.of();
        Step.Outcome outcome = report.outcome();
        if (outcome instanceof Step.Outcome.Refused refused) {
            code = refused.code();
        } else if (outcome instanceof Step.Outcome.Created made) {
            created = made.name();
        } else if (outcome instanceof Step.Outcome.Done done) {
            own = resultsOf(done, number);
            created = createdPath(own, operation);
        }
        Decided decided = new Decided(number, code, created);
        String key = records.open.get(number).key();
        records.take(decided);
        openKeys.remove(key);
        // A caller that submits from its callback has room.
        room.release();
        complete(futures.remove(number), operation, decided, own);
        append(decided, () -> act(chain.confirmed(number)));
    }

    private List<OpResult> resultsOf(Step.Outcome.Done done, long number) {
        List<OpResult> all = results.get(done.request());
        // Reported in order: the results of the operations before this one have been taken off.
        int parts = records.open.get(number).operation().parts().size();
        List<OpResult> own = List.copyOf(all.subList(0, parts));
        results.put(done.request(), all.subList(parts, all.size()));
        return own;
    }

    private String createdPath(List<OpResult> own, Operation operation) {
        if (operation.sequentialPath() == null) {
            return "";
        }
        for (int i = 0; i < own.size(); i++) {
            if (operation.parts().get(i).getPath().equals(operation.sequentialPath())
                    && own.get(i) instanceof OpResult.CreateResult result) {
                return ensemble.withoutChroot(result.getPath(), operation.sequentialPath());
            }
        }
        throw new IllegalStateException("no name among the results of " + operation);
    }

    private void complete(
            CompletableFuture<Outcome> future,
            Operation operation,
            Decided decided,
            List<OpResult> own) {
        if (decided.code() == MarkerChain.GAVE_UP) {
            future.completeExceptionally(
                    new GaveUpException(
                            operation
                                    + " was given up after "
                                    + settings.limits.attempts()
                                    + " connections in a row that broke while it alone was under way: it is larger than"
                                    + " the servers take (jute.maxbuffer), or the network was broken so often. It"
                                    + " has not happened, and never will"));
            return;
        }
        future.complete(
                new Outcome(
                        decided.number(),
                        decided.code() == 0
                                ? Optional.empty()
                                : Optional.of(KeeperException.Code.get(decided.code())),
                        decided.created().isEmpty()
                                ? Optional.empty()
                                : Optional.of(decided.created()),
                        own));
    }

    private void stop(String reason) {
        end(reason, true);
    }

    private void end(String reason, boolean tell) {
        synchronized (lock) {
            if (stopped != null) {
                return;
            }
            stopped = reason;
        }
        StoppedException failure = new StoppedException(reason);
        for (CompletableFuture<Outcome> future : List.copyOf(futures.values())) {
            future.completeExceptionally(failure);
        }
        ephemerals.end(failure);
        // Callers that asked before the stop and have no answer yet.
        for (Runnable event = events.poll(); event != null; event = events.poll()) {
            if (event instanceof Question question) {
                question.future().completeExceptionally(failure);
            }
        }
        if (tell) {
            settings.onStop.accept(reason);
        }
    }

    /** What somebody waits for. */
    private record Question(Runnable event, CompletableFuture<?> future) implements Runnable {
        @Override
        public void run() {
            event.run();
        }
    }
}
