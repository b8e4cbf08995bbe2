package io.saucr.services.journal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One journal for the partitions of a process, so that one fsync covers the turns of all (K19). It
 * lies in a folder of its own in addition to those of the partitions, each of which has its own
 * identity and bases. A record holds a turn and the tag of its partition; the position of a record
 * in the journal is what {@link Journal} calls a turn, so that recovery, cuts and what is forced
 * are decided there (K9).
 *
 * <p>A partition joins: the journal names it, forced, then its folder notes where its turns are,
 * forced, then turns come. It is released: its base holds all of its turns, the journal notes that
 * it has left, forced, then the folder notes that it has all. A crash between two of these leaves a
 * folder that the next start here puts right (K20).
 *
 * <p>A segment goes once the bases of all partitions cover it (K10). After a failed write or force
 * all of them hear that (K8). Threads: each partition appends by one of its own.
 */
public final class SharedJournal implements AutoCloseable {

    private static final byte TURN = 1;
    private static final byte JOINED = 2;
    private static final byte LEFT = 3;
    private static final int HEADER_BYTES = 1 + Long.BYTES + Long.BYTES;
    private static final int KEPT_BYTES = 1 << 20;
    private static final String SECTION = "partitions";

    private final Disk disk;
    private final ServiceFolder folder;
    private final JournalOptions options;
    private final SecureRandom random;
    private final Recovered recovered;
    private final Reserve reserve;
    private final Journal journal;

    /** Guards the order of records, and is held while one is written. */
    private final ReentrantLock appending = new ReentrantLock();

    private ByteBuffer record = ByteBuffer.allocate(1 << 16);

    /** One base at a time. */
    private final ReentrantLock basing = new ReentrantLock();

    /** Guards all below, and what partitions have; nobody holds it while the disk works. */
    private final Object lock = new Object();

    /** By tag: those whose turns are here. */
    private final Map<Long, Partition> joined = new TreeMap<>();

    /** Those that left, and whose folders may not know it yet. */
    private final Set<Long> left = new TreeSet<>();

    private final Deque<Appended> unforced = new ArrayDeque<>();
    private long position;
    private long forced;
    private long bytes;
    private long basedBytes;
    private IOException dead;

    /** Whether all partitions heard that it is dead. */
    private boolean told;

    /** A record that is not forced; of a partition's turn, or of none. */
    private record Appended(long position, Partition partition, long turn) {}

    private SharedJournal(
            Disk disk, ServiceFolder folder, JournalOptions options, SecureRandom random)
            throws IOException {
        this.disk = disk;
        this.folder = folder;
        this.options = options;
        this.random = random;
        recovered = folder.recover(options);
        recovered.sections((name, content) -> readBase(content));
        recovered.turns(this::read);
        reserve = folder.reserve(2L * options.segmentBytes());
        position = recovered.lastTurn();
        forced = position;
        journal =
                recovered.journal(
                        new JournalListener() {
                            @Override
                            public void forced(long upTo) {
                                SharedJournal.this.forced(upTo);
                            }

                            @Override
                            public void failed(IOException cause) {
                                SharedJournal.this.failed(cause);
                            }
                        });
    }

    /** The name of the folder of a service's journal. */
    public static String name(String service, int partitions) {
        return service + " in " + partitions + " partitions";
    }

    /** Whether a folder of that name has such a journal. */
    public static boolean isName(String name) {
        return name.matches(".+ in [0-9]{1,4} partitions");
    }

    /**
     * Opens the journal of some partitions, or makes it, and reads what survived (K9).
     *
     * @param name as {@link #name} says, the same as ever
     * @param folder of the journal, in addition to those of partitions
     * @throws RefusedFolderException where it must not be used, or a partition's folder is missing
     * @throws IOException where the disk fails
     */
    public static SharedJournal open(
            Disk disk, Path folder, String name, JournalOptions options, SecureRandom random)
            throws IOException {
        if (options.force() instanceof ForceMode.Os) {
            throw new IllegalArgumentException(
                    "partitions do not run with ForceMode.os(): after a power cut their folders"
                            + " could name turns that the journal lacks. Use always() or group(delay)");
        }
        ServiceFolder opened = ServiceFolder.open(disk, folder, name, random);
        boolean done = false;
        try {
            SharedJournal journal = new SharedJournal(disk, opened, options, random);
            done = true;
            return journal;
        } finally {
            if (!done) {
                opened.close();
            }
        }
    }

    private void readBase(InputStream content) throws IOException {
        DataInputStream in = new DataInputStream(content);
        for (int left = in.readInt(); left > 0; left--) {
            long tag = in.readLong();
            long folded = in.readLong();
            Partition of = new Partition(tag, in.readUTF(), folded);
            of.turnless = false;
            joined.put(tag, of);
        }
        for (int more = in.readInt(); more > 0; more--) {
            left.add(in.readLong());
        }
    }

    private void read(long at, ByteBuffer content) throws IOException {
        long size = content.remaining();
        byte kind = content.get();
        long tag = content.getLong();
        long turn = content.getLong();
        if (kind == JOINED) {
            byte[] name = new byte[content.remaining()];
            content.get(name);
            if (!left.contains(tag)) {
                joined.computeIfAbsent(tag, it -> new Partition(it, new String(name, UTF_8), turn));
            }
        } else if (kind == LEFT) {
            if (joined.remove(tag) != null) {
                left.add(tag);
            }
        } else if (kind == TURN) {
            // Those of a partition that left behind the base are of no use.
            Partition of = joined.get(tag);
            if (of != null && turn > of.folded) {
                byte[] delta = new byte[content.remaining()];
                content.get(delta);
                of.survived(turn, delta);
                of.needed.appended(turn, at, bytes);
            }
        } else {
            throw new RefusedFolderException(
                    folder.path(),
                    -1,
                    "its journal has a record of kind "
                            + kind
                            + ", which this release does not know. Start the release that wrote"
                            + " it");
        }
        bytes += size;
    }

    /** The partitions whose turns are here, by the names of their folders. */
    public List<String> partitions() {
        synchronized (lock) {
            return joined.values().stream().map(it -> it.name).toList();
        }
    }

    /** Opens the folder of a partition, as {@link ServiceFolder#open} does. */
    public ServiceFolder open(Path path, String name) throws IOException {
        return ServiceFolder.openSharing(disk, path, name, random);
    }

    /**
     * Takes the turns of a partition from now on, behind those that survived.
     *
     * @param of its folder, opened by {@link #open}
     * @throws RefusedFolderException where its turns are in another journal, or some are missing
     */
    public Partition join(ServiceFolder of) throws IOException {
        Base base = of.base();
        Identity.Shared where = of.shared().orElse(null);
        if (where != null && !where.journal().equals(folder.birth())) {
            throw new RefusedFolderException(
                    of.path(),
                    -1,
                    ("its newest turns are in the journal of generation %s, and %s is generation"
                                    + " %s. Put the folder back next to that journal, and release it there")
                            .formatted(where.journal(), folder.path(), folder.birth()));
        }
        Partition found = where == null ? null : joined(where.tag());
        if (found == null) {
            if (where != null && !isLeft(where.tag())) {
                throw new RefusedFolderException(
                        of.path(),
                        -1,
                        "the journal in "
                                + folder.path()
                                + " does not know it: one of both is an old copy. Put back the"
                                + " newest, with all folders next to it");
            }
            if (where != null) {
                settled(of, where.tag());
            }
            forgetTurnless(of);
            found = joinAnew(of, base);
        }
        found.goesOn(of, base);
        return found;
    }

    private Partition joined(long tag) {
        synchronized (lock) {
            return joined.get(tag);
        }
    }

    private boolean isLeft(long tag) {
        synchronized (lock) {
            return left.contains(tag);
        }
    }

    /** It has left: all of its turns are in its folder, which is to know it. */
    private void settled(ServiceFolder of, long tag) throws IOException {
        of.alone();
        synchronized (lock) {
            left.remove(tag);
        }
    }

    /** A crash came between the journal's note and the folder's, or its start was refused. */
    private void forgetTurnless(ServiceFolder of) throws IOException {
        List<Partition> same;
        synchronized (lock) {
            same = joined.values().stream().filter(it -> it.name.equals(of.name())).toList();
        }
        for (Partition each : same) {
            if (!each.turnless) {
                throw new RefusedFolderException(
                        of.path(),
                        -1,
                        ("the journal in %s has turns of %s, and this folder does not know it: it is"
                                        + " an old copy or another. Put back the newest, with all folders next to it")
                                .formatted(folder.path(), each.name));
            }
            await(note(LEFT, each.tag, 0, new byte[0]));
            synchronized (lock) {
                joined.remove(each.tag);
            }
        }
    }

    private Partition joinAnew(ServiceFolder of, Base base) throws IOException {
        Partition made = new Partition(random.nextLong(), of.name(), base.turn());
        await(note(JOINED, made.tag, base.turn(), made.name.getBytes(UTF_8)));
        of.share(new Identity.Shared(folder.birth(), made.tag));
        synchronized (lock) {
            joined.put(made.tag, made);
        }
        return made;
    }

    private long note(byte kind, long tag, long turn, byte[] content) {
        return append(null, kind, tag, turn, ByteBuffer.wrap(content));
    }

    /** Appends a record; says where it lies. */
    private long append(Partition of, byte kind, long tag, long turn, ByteBuffer content) {
        appending.lock();
        try {
            int size = HEADER_BYTES + content.remaining();
            if (record.capacity() < size) {
                record = ByteBuffer.allocate(size);
            }
            record.clear().put(kind).putLong(tag).putLong(turn).put(content.duplicate()).flip();
            long at;
            synchronized (lock) {
                at = ++position;
                bytes += size;
                unforced.add(new Appended(at, of, turn));
                if (of != null) {
                    of.appended(turn, at);
                }
            }
            journal.append(at, record);
            if (record.capacity() > KEPT_BYTES) {
                record = ByteBuffer.allocate(KEPT_BYTES);
            }
            return at;
        } finally {
            appending.unlock();
        }
    }

    /** Waits until a record is forced. */
    private void await(long at) throws IOException {
        synchronized (lock) {
            boolean interrupted = false;
            while (forced < at && !told) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (forced < at) {
                throw new IOException("the journal in " + folder.path() + " failed", dead);
            }
        }
    }

    /** Force thread. */
    private void forced(long upTo) {
        Map<Partition, Long> touched = new LinkedHashMap<>();
        synchronized (lock) {
            while (!unforced.isEmpty() && unforced.peekFirst().position() <= upTo) {
                Appended each = unforced.removeFirst();
                if (each.partition() != null) {
                    touched.put(each.partition(), each.turn());
                }
            }
        }
        touched.forEach((partition, turn) -> partition.listener.forced(turn));
        synchronized (lock) {
            forced = upTo;
            lock.notifyAll();
        }
    }

    private void failed(IOException cause) {
        List<Partition> all;
        synchronized (lock) {
            dead = cause;
            all = joined.values().stream().filter(it -> it.listener != null).toList();
        }
        all.forEach(it -> it.listener.failed(cause));
        synchronized (lock) {
            told = true;
            lock.notifyAll();
        }
    }

    /** Lets segments go that the bases of all partitions cover (K10). */
    private void tidy() throws IOException {
        if (!basing.tryLock()) {
            return; // The one that writes a base now, or the next one, does it.
        }
        try {
            long through;
            long upTo;
            synchronized (lock) {
                through = forced;
                upTo = bytes;
                for (Partition each : joined.values()) {
                    if (!each.needed.isNone() && each.needed.position() <= through) {
                        through = each.needed.position() - 1;
                        upTo = each.needed.bytes();
                    }
                }
                if (upTo - basedBytes < options.segmentBytes()
                        || through <= recovered.base().turn()) {
                    return;
                }
            }
            recovered.base().write(through, writer -> writeBase(writer.section(SECTION)));
            basedBytes = upTo;
            journal.folded(through);
        } finally {
            basing.unlock();
        }
    }

    private void writeBase(OutputStream section) throws IOException {
        DataOutputStream out = new DataOutputStream(section);
        synchronized (lock) {
            out.writeInt(joined.size());
            for (Partition each : joined.values()) {
                out.writeLong(each.tag);
                out.writeLong(each.folded);
                out.writeUTF(each.name);
            }
            out.writeInt(left.size());
            for (long each : left) {
                out.writeLong(each);
            }
        }
        out.flush();
    }

    /** How often the newest segment was forced since the start. Any thread. */
    public long forces() {
        return journal.forces();
    }

    /** Forces what was appended, and lets other processes open the folder. */
    @Override
    public void close() throws IOException {
        journal.close();
        folder.close();
    }

    /** The log of one partition. */
    public final class Partition implements TurnLog {

        private final long tag;
        private final String name;

        /** Whether no turn is known that was appended under this tag. */
        private boolean turnless = true;

        /** The turns that survived, until they are read. */
        private List<byte[]> tail = new ArrayList<>();

        private long firstOfTail;

        private ServiceFolder of;
        private Base base;
        private JournalListener listener;

        // Guarded by the journal's lock.
        private final OldestNeeded needed = new OldestNeeded();
        private long last;
        private long lastAt;
        private long folded;

        private Partition(long tag, String name, long folded) {
            this.tag = tag;
            this.name = name;
            this.folded = folded;
            last = folded;
        }

        private void survived(long turn, byte[] delta) throws RefusedFolderException {
            if (turn != last + 1) {
                throw missing(last + 1, turn - 1);
            }
            if (tail.isEmpty()) {
                firstOfTail = turn;
            }
            tail.add(delta);
            last = turn;
            turnless = false;
        }

        private RefusedFolderException missing(long from, long to) {
            return new RefusedFolderException(
                    folder.path(),
                    -1,
                    ("turns %s to %s of %s are missing, although they were on disk. Put back the"
                                    + " newest copy of its folder, with all folders next to it")
                            .formatted(from, to, name));
        }

        /** Its folder is opened, behind all that survived. */
        private void goesOn(ServiceFolder opened, Base found) throws IOException {
            if (of != null) {
                throw new RefusedFolderException(
                        opened.path(), -1, "it was open already. Start the process again");
            }
            if (found.turn() < folded) {
                throw missing(found.turn() + 1, folded);
            }
            if (found.turn() > last) {
                throw missing(last + 1, found.turn());
            }
            // The name of a base that the last process wrote may not be on disk: what it covers
            // stays until this process has written another, which comes with turns above it.
            of = opened;
            base = found;
            if (found.turn() > folded && found.turn() == last) {
                of.writeAgain(base);
                synchronized (lock) {
                    fold(found.turn());
                }
            }
        }

        private void appended(long turn, long at) {
            last = turn;
            lastAt = at;
            turnless = false;
            needed.appended(turn, at, bytes);
        }

        private void fold(long turn) {
            folded = Math.max(folded, turn);
            needed.folded(folded, last);
        }

        @Override
        public long lastTurn() {
            return last;
        }

        @Override
        public void sections(Base.SectionReader reader) throws IOException {
            of.sections(base, reader);
        }

        @Override
        public void turns(Recovered.TurnReader reader) throws IOException {
            for (long turn = Math.max(firstOfTail, base.turn() + 1);
                    turn < firstOfTail + tail.size();
                    turn++) {
                byte[] delta = tail.get((int) (turn - firstOfTail));
                reader.turn(turn, ByteBuffer.wrap(delta).asReadOnlyBuffer());
            }
        }

        @Override
        public void begin(JournalListener hears) {
            tail = List.of();
            IOException failure;
            synchronized (lock) {
                listener = hears;
                failure = dead;
            }
            if (failure != null) {
                hears.failed(failure);
            }
        }

        @Override
        public void append(long turn, ByteBuffer delta) {
            Journal.check(turn, last + 1, delta, Journal.LARGEST_DELTA_BYTES - HEADER_BYTES);
            SharedJournal.this.append(this, TURN, tag, turn, delta);
        }

        @Override
        public Base base() {
            return base;
        }

        @Override
        public void folded(long turn) throws IOException {
            synchronized (lock) {
                fold(turn);
            }
            tidy();
        }

        /**
         * Leaves the journal: its folder holds all of its turns once this returns, and may be
         * opened anywhere. Nothing is appended any more.
         *
         * @throws IllegalStateException where turns are above the base
         * @throws IOException where the disk fails: the next start here puts the folder right
         */
        public void release() throws IOException {
            if (base.turn() != last) {
                throw new IllegalStateException(
                        "the base of " + name + " is of turn " + base.turn() + ", not " + last);
            }
            leave();
        }

        /** A start that was refused leaves the journal where it had no turn there. */
        @Override
        public void withdraw() throws IOException {
            if (turnless) {
                leave();
            }
        }

        private void leave() throws IOException {
            SharedJournal.this.await(note(LEFT, tag, 0, new byte[0]));
            synchronized (lock) {
                joined.remove(tag);
                left.add(tag);
            }
            settled(of, tag);
        }

        @Override
        public Reserve reserve() {
            return reserve;
        }

        @Override
        public long lastFsyncMicros() {
            return journal.lastFsyncMicros();
        }

        @Override
        public long unforcedBytes() {
            return journal.unforcedBytes();
        }

        @Override
        public long bytesAboveBase() {
            synchronized (lock) {
                return needed.isNone() ? 0 : bytes - needed.bytes();
            }
        }

        @Override
        public void close() {
            try {
                SharedJournal.this.await(lastAt);
            } catch (IOException e) {
                // Its listener heard of that.
                return;
            }
        }
    }
}
