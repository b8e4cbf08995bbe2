package io.saucr.services.speculative;

import io.saucr.services.Address;
import io.saucr.services.GroupStatus;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.core.speculation.Vertex;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.Reserve;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import io.saucr.services.wire.NetOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Keeps the turns of a group's member (D1 to D16): joins them to versions, which its own disk and
 * then the group make final, tells members of them before, and undoes after a failure what depended
 * on a loss.
 *
 * <p>A decision of the group ends the life. Its open version is sealed, so that each version is
 * kept or dropped as a whole; once the passage is on disk all that is kept is final (D10), and the
 * next life begins behind it from memory. A start waits for a decision in {@link #recover}.
 *
 * <p>The service holds its own head before {@link #recover} (K14).
 */
final class MemberGuard
        implements Guard, Guard.Folding, Guard.Room, Guard.Speculation, GroupMember.Turns {

    /** So many versions at most are not final, before no input is taken (D14). */
    static final int MOST_NOT_FINAL = 256;

    /**
     * So many versions are sealed before the log notes which of them are final: a start lists so
     * many at most, and those that are not final.
     */
    static final int NOTED_AFTER = 256;

    /** A version of so many bytes is sealed at once. */
    private static final long SEALED_AT_BYTES = 1 << 20;

    /** What a change takes besides the bytes of its body, about. */
    private static final int BYTES_OF_A_CHANGE = 64;

    /**
     * How the service is a member.
     *
     * @param group where its group is in the ensemble
     * @param listens where members reach this process
     * @param net of the links of the group
     * @param every so long at least lies between two seals, if nothing demands one before
     * @param off whether messages between members wait until they are final
     * @param lag members hear nothing early while a version waits so long to be final (D16)
     * @param calm so long after a start that was a failure members hear nothing early (D16)
     */
    record Options(
            ServicePath group,
            Address listens,
            NetOptions net,
            GroupMember.Timing timing,
            Duration every,
            boolean off,
            Duration lag,
            Duration calm) {}

    /** Where a version ends that is sealed; the state is that behind its last turn. */
    private record End(long version, StateSnapshot state, long bytes, long sealedNanos) {}

    private final ServiceFolder folder;
    private final JournalOptions journal;
    private final Options options;
    private final OutboxFiles outbox;
    private final Reserve reserve;
    private final ScheduledExecutorService seals;
    private final UndoneLog undoneLog;

    private VersionLog log;
    private GroupMember member;

    // All guarded by this.

    /** Null before the index of the member is known. */
    private Versions versions;

    private int index = -1;

    /** The index of each member that was not given up. */
    private final Map<String, Integer> members = new HashMap<>();

    /** By index, of all. */
    private List<String> names = List.of();

    private boolean logBegun;

    /** Whether a decision, or the head, let this start run. */
    private boolean runs;

    private Start start;
    private History history = new History();

    /** Of the life that runs; null between two. */
    private Listener listener;

    /** The world in which the life began. */
    private long world;

    /** Whether the life is over as its group decided something. */
    private boolean undoing;

    private String decision = "";

    /** Why the first turn that it undoes is undone. */
    private String cause = "";

    private Ending failure;

    /** Ends of versions by their last turns: the newest final one and all behind it. */
    private final TreeMap<Long, End> ends = new TreeMap<>();

    private long finalTurn;
    private long newestTurn;
    private StateSnapshot newestState;
    private List<Delta> open = new ArrayList<>();
    private Changes.Joiner openChanges = new Changes.Joiner();
    private long openBytes;

    /** Of turns that are not final, those of {@link #open} included. */
    private long bytesNotFinal;

    /** By sender, of which version a message is that no turn has taken yet (D2). */
    private final Map<String, TreeMap<Long, Vertex>> heard = new HashMap<>();

    private int unsynced;
    private boolean sealIsDue;
    private boolean sealIsPlanned;
    private long sealedNanos;

    /** How many versions were sealed since the log noted which are final, and what it noted. */
    private int unnoted;

    private long noted;
    private boolean led;
    private long calmUntilNanos;
    private boolean leaving;
    private boolean hasLeft;
    private long rollbacks;
    private long undoneTurns;
    private long dropped;

    private MemberGuard(
            ServiceFolder folder, JournalOptions journal, Options options, UndoneLog undoneLog) {
        this.undoneLog = undoneLog;
        this.folder = folder;
        this.journal = journal;
        this.options = options;
        outbox = folder.outbox(journal.segmentBytes());
        reserve = folder.reserve(2L * journal.segmentBytes());
        ScheduledThreadPoolExecutor thread =
                new ScheduledThreadPoolExecutor(
                        1,
                        task -> {
                            Thread made = new Thread(task, "seals of " + folder.name());
                            made.setDaemon(true);
                            return made;
                        });
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        seals = thread;
        sealedNanos = System.nanoTime() - options.every().toNanos();
    }

    /**
     * Opens or makes the folder of a member, locked, and begins an incarnation in it (K14).
     *
     * @throws IOException where the folder must not be used, or the disk fails; says what to do
     */
    static MemberGuard open(
            Disk disk,
            Path path,
            String name,
            JournalOptions journal,
            Options options,
            SecureRandom random)
            throws IOException {
        String group = options.group().path();
        return new MemberGuard(
                ServiceFolder.openMember(disk, path, name, group, random),
                journal,
                options,
                new UndoneLog(disk, path));
    }

    // ---- the start, as its owner needs it before the head is taken

    List<Incarnation> incarnations() {
        return folder.incarnations();
    }

    /** The highest start that is known to have held the head; 0 for none (K14). */
    long confirmed() {
        return folder.confirmed();
    }

    /** The head that this birth may replace (K11). */
    Optional<Incarnation> replaces() {
        return folder.replaces();
    }

    @Override
    public Traits traits() {
        List<Birth> formers = folder.formers();
        return Traits.of(formers.isEmpty() ? folder.birth() : formers.get(0));
    }

    @Override
    public Start recover(Recovery into) throws IOException {
        if (start == null) {
            return begins(join(into), newestTurn);
        }
        Memory memory;
        List<Delta> undone;
        String why;
        long of;
        synchronized (this) {
            newestTurn = ends.lastKey();
            newestState = ends.lastEntry().getValue().state();
            undone = history.above(newestTurn);
            memory = history.drop(newestTurn, newestState);
            heard.clear();
            undoing = false;
            undoneTurns += undone.size();
            why = cause;
            of = versions.world();
        }
        if (!undone.isEmpty()) {
            undoneLog.note(Instant.now(), of, why, undone);
        }
        into.memory(memory);
        return begins(start, memory.turn());
    }

    private synchronized Start begins(Start as, long turn) {
        start = new Start(as.incarnations(), as.formers(), as.markers(), turn);
        return start;
    }

    /** Joins the group, and reads what it lets survive. */
    private Start join(Recovery into) throws IOException {
        folder.confirm();
        String group = options.group().path();
        boolean known =
                folder.membership().filter(it -> it.in() && it.group().equals(group)).isPresent();
        log = VersionLog.open(folder, group, journal);
        member =
                GroupMember.begin(
                        options.group(),
                        folder.name(),
                        folder.incarnation(),
                        known,
                        log.newest(),
                        options.listens(),
                        options.net(),
                        options.timing(),
                        this);
        await(() -> index >= 0);
        log.begin(new Synced());
        synchronized (this) {
            logBegun = true;
        }
        member.synced();
        await(() -> runs && versions.hasPassed());
        Recovery noting = history.noting(into);
        log.sections(outbox.beside(noting));
        outbox.cut();
        log.turns(noting);
        history.isRead(into);
        synchronized (this) {
            newestTurn = log.lastTurn();
            newestState = into.soFar().state();
            finalTurn = newestTurn;
            ends.put(newestTurn, new End(versions.newest(), newestState, 0, System.nanoTime()));
        }
        Set<Birth> markers = folder.marker().map(Set::of).orElse(Set.of());
        return new Start(folder.incarnations(), folder.formers(), markers, newestTurn);
    }

    private synchronized void await(BooleanSupplier condition) throws IOException {
        while (!condition.getAsBoolean()) {
            if (failure != null) {
                throw new IOException(failure.reason(), failure.cause());
            }
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException(
                        folder.name() + " was interrupted while it waited for its group");
            }
        }
    }

    @Override
    public void confirm() {
        // It was noted before the group heard of this start.
    }

    @Override
    public void withdraw() throws IOException {
        folder.withdraw();
    }

    @Override
    public void begin(Listener hears) {
        Ending why;
        synchronized (this) {
            listener = hears;
            world = versions.world();
            why = failure;
        }
        if (why != null) {
            hears.over(why);
        }
    }

    /** Nothing may leave any more. */
    private void fail(Ending why) {
        Listener hears;
        synchronized (this) {
            failure = failure == null ? why : failure;
            hears = listener;
            notifyAll();
        }
        if (hears != null) {
            hears.over(why);
        }
    }

    /** The head of the service is another start's. */
    void deposed(String reason) {
        fail(new Ending.Deposed(reason));
    }

    // ---- turns

    @Override
    public void done(Done turn) {
        Finals now;
        Listener hears;
        synchronized (this) {
            if (undoing) {
                return;
            }
            if (leaving) {
                throw new IllegalStateException(
                        folder.name() + " leaves its group, and takes none");
            }
            Optional<Vertex> of = takenBy(turn.delta());
            if (of.isPresent()) {
                if (versions.taking(of.get()) == Versions.Taking.AFTER_A_SEAL) {
                    seal();
                }
                versions = versions.took(of.get());
            }
            versions = versions.turn();
            add(turn);
            sealIfDue();
            now = finals();
            hears = listener;
        }
        hears.moved(now);
    }

    /** Of which version the message is that a turn took (D2); a turn takes one input (K1). */
    private Optional<Vertex> takenBy(Delta turn) {
        for (Change change : turn.changes()) {
            if (change instanceof Change.Consumed it && heard.containsKey(it.peer())) {
                TreeMap<Long, Vertex> waiting = heard.get(it.peer());
                Vertex of = waiting.get(it.last().number());
                waiting.headMap(it.last().number(), true).clear();
                if (of != null) {
                    return Optional.of(of);
                }
            }
        }
        return Optional.empty();
    }

    private void add(Done turn) {
        open.add(turn.delta());
        long before = openBytes;
        openBytes += openChanges.add(turn.changes()) + bytes(turn.delta());
        bytesNotFinal += openBytes - before;
        history.done(turn.delta());
        newestTurn = turn.turn();
        newestState = turn.state().get();
    }

    private static long bytes(Delta turn) {
        long bytes = 0;
        for (Change change : turn.changes()) {
            bytes += BYTES_OF_A_CHANGE;
            if (change instanceof Change.Sent it) {
                bytes += it.body().bytes().length;
            } else if (change instanceof Change.OutputMade it) {
                bytes += it.body().bytes().length;
            }
        }
        return bytes;
    }

    // ---- seals

    private void sealIfDue() {
        long now = System.nanoTime();
        long wait = options.every().toNanos() - (now - sealedNanos);
        if (openBytes >= SEALED_AT_BYTES) {
            seal();
        } else if (wait <= 0) {
            sealOnceIdle();
        } else if (!sealIsPlanned) {
            sealIsPlanned = true;
            try {
                Future<?> unused = seals.schedule(this::planned, wait, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // It ends.
                sealIsPlanned = false;
            }
        }
    }

    private void planned() {
        try {
            synchronized (this) {
                sealIsPlanned = false;
                sealOnceIdle();
            }
        } catch (RuntimeException | Error e) {
            fail(failed(e));
        }
    }

    private static Ending failed(Throwable e) {
        return e instanceof DeadJournalException dead
                ? Ending.failed(dead.getCause())
                : new Ending.Failed("a version could not be sealed; report this", e);
    }

    private void sealOnceIdle() {
        if (unsynced > 0) {
            sealIsDue = true;
        } else {
            seal();
        }
    }

    /** Seals the open version, where it has turns. */
    private void seal() {
        sealIsDue = false;
        if (open.isEmpty()) {
            return;
        }
        Sealed sealed = versions.seal();
        byte[] turns = DeltaFormat.bytes(Delta.join(open), openChanges.joined());
        note();
        unsynced++;
        log.seal(sealed, newestTurn, turns);
        versions = versions.sealed();
        sealedNanos = System.nanoTime();
        ends.put(newestTurn, new End(sealed.version(), newestState, openBytes, sealedNanos));
        open = new ArrayList<>();
        openChanges = new Changes.Joiner();
        openBytes = 0;
    }

    /** Notes what the group has announced as final, where that is due. */
    private void note() {
        unnoted++;
        Optional<Bounded> due = unnoted < NOTED_AFTER ? Optional.empty() : versions.toNote(noted);
        if (due.isPresent()) {
            unsynced++;
            log.note(due.get());
            noted = due.get().version();
            unnoted = 0;
        }
    }

    /** Hears of the log; its thread. */
    private final class Synced implements VersionLog.Listener {

        @Override
        public void synced(VersionRecord record) {
            try {
                isSynced(record);
            } catch (RuntimeException | Error e) {
                fail(MemberGuard.failed(e));
            }
        }

        @Override
        public void failed(IOException cause) {
            fail(Ending.failed(cause));
        }
    }

    private void isSynced(VersionRecord record) {
        Finals now;
        Listener hears;
        Ending over = null;
        synchronized (this) {
            unsynced--;
            boolean passes = !versions.hasPassed();
            versions = versions.forced(record);
            if (sealIsDue && unsynced == 0 && !undoing) {
                seal();
            }
            now = finals();
            hears = listener;
            if (passes && versions.hasPassed()) {
                over = isPassed();
            }
            notifyAll();
        }
        member.synced();
        if (hears != null) {
            hears.moved(now);
            if (over != null) {
                hears.over(over);
            }
        }
    }

    /** All that is left is final. */
    private Ending isPassed() {
        if (leaving) {
            member.leave(versions.newest());
        }
        if (!undoing || listener == null) {
            return null;
        }
        long before = newestTurn;
        long kept = lastTurn(versions.newest());
        rollbacks += kept < before ? 1 : 0;
        ends.tailMap(kept, false).clear();
        finalTurn = kept;
        bytesNotFinal = 0;
        listener = null;
        return new Ending.Undone(kept, decision);
    }

    /** Where the newest version ends that is not above that one. */
    private long lastTurn(long version) {
        long last = ends.firstKey();
        for (Map.Entry<Long, End> each : ends.entrySet()) {
            if (each.getValue().version() <= version) {
                last = each.getKey();
            }
        }
        return last;
    }

    // ---- what is final

    /** How far turns can be told now. */
    private Finals finals() {
        long newest = versions.finalVersion();
        while (true) {
            Map.Entry<Long, End> next = ends.higherEntry(finalTurn);
            if (next == null || next.getValue().version() > newest) {
                break;
            }
            finalTurn = next.getKey();
            bytesNotFinal -= next.getValue().bytes();
        }
        if (!ends.isEmpty()) {
            ends.headMap(finalTurn, false).clear();
        }
        return new Finals(finalTurn, speculates() ? newestTurn : finalTurn, 0);
    }

    /** Whether members hear what is not final (D16). */
    private boolean speculates() {
        return waits().isEmpty();
    }

    /** Why members hear nothing that is not final, for people; empty text where they do (D16). */
    private String waits() {
        if (options.off()) {
            return "it is off";
        }
        if (!led) {
            return "no coordinator hears this member";
        }
        if (undoing) {
            return "the group has decided, and the next life begins";
        }
        long now = System.nanoTime();
        if (now - calmUntilNanos < 0) {
            return "this member has started after a failure";
        }
        return lagNanos(now) < options.lag().toNanos() ? "" : "versions wait to be final";
    }

    /** How long the oldest version that is not final has waited since it was sealed. */
    private long lagNanos(long now) {
        Map.Entry<Long, End> oldest = ends.higherEntry(finalTurn);
        return oldest == null ? 0 : now - oldest.getValue().sealedNanos();
    }

    private void moved() {
        Finals now;
        Listener hears;
        synchronized (this) {
            now = finals();
            hears = listener;
        }
        if (hears != null) {
            hears.moved(now);
        }
    }

    // ---- what the group says, on its thread

    @Override
    public synchronized void isMember(int at) {
        index = at;
        versions = log.versions(at);
        notifyAll();
    }

    @Override
    public synchronized void members(List<GroupHead.Member> all) {
        names = all.stream().map(GroupHead.Member::name).toList();
        members.clear();
        for (int each = 0; each < all.size(); each++) {
            if (!all.get(each).isGone()) {
                members.put(names.get(each), each);
            }
        }
    }

    @Override
    public synchronized Optional<Listing> listing() {
        return logBegun && versions.hasPassed()
                ? Optional.of(versions.listing())
                : Optional.empty();
    }

    @Override
    public void decided(Decision by) {
        synchronized (this) {
            if (!runs) {
                calmUntilNanos = System.nanoTime() + options.calm().toNanos();
            }
            pass(by);
        }
    }

    @Override
    public void admitted(Decision by) {
        synchronized (this) {
            if (by.world() > versions.world()) {
                pass(by);
            }
            runs = true;
            notifyAll();
        }
    }

    /** D10. */
    private void pass(Decision by) {
        if (!undoing) {
            seal();
        }
        Versions before = versions;
        versions = versions.pass(by);
        String why = cause(before, by);
        // A second decision may drop nothing more.
        cause = why.isEmpty() ? cause : why;
        // Between two lives nothing runs that could end.
        undoing |= listener != null;
        runs = true;
        decision = "world " + by.world() + " of the group has begun";
        unsynced++;
        log.pass(versions.passage());
    }

    /** Why the first version is dropped that a decision does not keep; for people. */
    private String cause(Versions before, Decision by) {
        Optional<Sealed> lost = before.after(versions.newest());
        if (lost.isEmpty()) {
            return "";
        }
        VersionVector on = lost.get().dependencies();
        VersionVector lacking = on.beyond(by.cuts());
        for (int each = 0; each < lacking.members(); each++) {
            if (lacking.at(each) > 0) {
                return "version "
                        + lost.get().version()
                        + " depended on version "
                        + lacking.at(each)
                        + " of "
                        + nameOf(each)
                        + ", which has kept its versions up to "
                        + by.cuts().at(each);
            }
        }
        return "this member missed a decision, and version "
                + lost.get().version()
                + " depended on other members";
    }

    private String nameOf(int member) {
        return member < names.size() ? names.get(member) : "member " + member;
    }

    @Override
    public void bounded(long of, VersionVector boundary) {
        synchronized (this) {
            versions = versions.bounded(of, boundary);
        }
        moved();
    }

    @Override
    public synchronized void left() {
        hasLeft = true;
        notifyAll();
    }

    @Override
    public void led(boolean now) {
        synchronized (this) {
            led = now;
        }
        moved();
    }

    @Override
    public void refused(String reason) {
        fail(new Ending.Failed(reason, null));
    }

    // ---- messages between members

    @Override
    public Optional<Speculation> speculation() {
        return Optional.of(this);
    }

    @Override
    public synchronized boolean isMember(String service) {
        return members.containsKey(service) && !service.equals(folder.name());
    }

    @Override
    public synchronized Frame tagged(long turn, Frame.Msg message) {
        Map.Entry<Long, End> end = ends.ceilingEntry(turn);
        long version = end == null ? versions.open() : end.getValue().version();
        if (turn <= finalTurn) {
            version = 0;
        }
        // A life that is over says so in its own world, where all pass to the next one.
        return new Frame.Tagged(new Vertex(index, world, version), message);
    }

    @Override
    public synchronized Taking heard(String from, Frame.Tagged message) {
        Vertex of = message.of();
        Integer sender = members.get(from);
        if (sender == null || sender != of.member() || sender == index) {
            return Taking.REFUSED;
        }
        return switch (versions.taking(of)) {
            case REFUSED -> Taking.REFUSED;
            case SENT_AGAIN -> {
                dropped++;
                yield Taking.DROPPED;
            }
            case NOW, AFTER_A_SEAL -> {
                heard.computeIfAbsent(from, it -> new TreeMap<>())
                        .put(message.message().number(), of);
                yield Taking.TAKEN;
            }
        };
    }

    // ---- the end

    /**
     * Leaves the group: waits until all is on disk, all of it is final, and the head notes that.
     * Turns have ended.
     *
     * @return whether that came about in time; else the group waits for the next start
     */
    boolean leave(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        synchronized (this) {
            if (failure != null || !runs) {
                return false;
            }
            leaving = true;
            if (!undoing) {
                seal();
            }
            while (unsynced > 0 && failure == null && until - System.nanoTime() > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, until - System.nanoTime());
            }
            if (unsynced > 0 || failure != null) {
                return false;
            }
            member.leave(versions.newest());
            while (!hasLeft && failure == null && until - System.nanoTime() > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, until - System.nanoTime());
            }
            return hasLeft;
        }
    }

    @Override
    public void close() throws IOException {
        seals.shutdown();
        if (member != null) {
            member.close();
        }
        try {
            if (log != null) {
                log.close();
            }
            outbox.close();
        } finally {
            folder.close();
        }
    }

    // ---- snapshots and room

    @Override
    public Folding folding() {
        return this;
    }

    @Override
    public long bytesAboveBase() {
        return log.bytesAboveBase();
    }

    @Override
    public synchronized void due(Memory of) {
        if (!undoing) {
            // A snapshot is of the end of a version.
            seal();
        }
        history.due(of);
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
            throws IOException {
        try {
            outbox.force(files);
        } catch (IOException e) {
            throw new DeadJournalException(e);
        }
        log.fold(turn, OutboxFiles.with(files, sections));
        synchronized (this) {
            history.folded(turn);
        }
    }

    @Override
    public Room room() {
        return this;
    }

    @Override
    public boolean isThere() throws IOException {
        return reserve.hasRoom();
    }

    @Override
    public boolean isScarce() throws IOException {
        return reserve.isScarce();
    }

    @Override
    public synchronized long bytesNotFinal() {
        boolean full = undoing || ends.size() > MOST_NOT_FINAL;
        return full ? Long.MAX_VALUE : bytesNotFinal;
    }

    @Override
    public long lastFsyncMicros() {
        return log.lastFsyncMicros();
    }

    @Override
    public OutboxFiles outbox() {
        return outbox;
    }

    // ---- questions

    /** How it is in its group. Any thread. */
    GroupStatus status() {
        GroupHead head = member.head();
        synchronized (this) {
            long newest = versions.newest();
            long isFinal = versions.finalVersion();
            return new GroupStatus(
                    options.group().path(),
                    head.members().stream()
                            .filter(it -> !it.isGone())
                            .map(GroupHead.Member::name)
                            .toList(),
                    head.members().get(head.leader()).name(),
                    member.coordinates(),
                    head.epoch(),
                    versions.world(),
                    newest,
                    isFinal,
                    ends.tailMap(finalTurn, false).size(),
                    TimeUnit.NANOSECONDS.toMillis(lagNanos(System.nanoTime())),
                    waits(),
                    rollbacks,
                    undoneTurns,
                    dropped);
        }
    }

    /** How often turns of this process were undone. */
    synchronized long rollbacks() {
        return rollbacks;
    }

    /** Whether this process coordinates its group. */
    boolean coordinates() {
        return member.coordinates();
    }

    /** Whether members hear now what is not final. */
    synchronized boolean isSpeculating() {
        return speculates();
    }

    /** How many decisions of the group this member has passed, and the first world. */
    synchronized long world() {
        return versions.world();
    }
}
