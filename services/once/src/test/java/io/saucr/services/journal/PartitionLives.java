package io.saucr.services.journal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/**
 * The folders of some partitions and two processes between which they move, each process with a
 * journal that its partitions share, on one disk. A process joins partitions, appends turns, writes
 * bases, releases partitions, and dies of the disk or of nothing. After each it is known for each
 * partition what may and what must be read back (K4, K9, K10).
 */
final class PartitionLives {

    private static final int SEGMENT_BYTES = 4096;
    private static final SecureRandom NONCES = new SecureRandom();

    final SimulatedDisk disk;
    private final Random random;
    private final List<Side> sides = new ArrayList<>();
    private int life;
    boolean diedOfTheDisk;
    int moves;

    /** What one partition said, wherever it is. */
    private static final class Partition {

        final String name;
        final TreeMap<Long, String> turns = new TreeMap<>();
        long mustHave;
        long mayHave;

        Partition(String name) {
            this.name = name;
        }
    }

    /** A process's folder; a partition's is the same on both sides, as after a copy. */
    private record Side(Path journal, List<Partition> partitions) {}

    private static Path folder(Partition of) {
        return Path.of("/simulated", of.name);
    }

    PartitionLives(long seed, int partitions) {
        disk = new SimulatedDisk(seed);
        random = new Random(~seed);
        for (String side : List.of("left", "right")) {
            sides.add(new Side(Path.of("/simulated", side), new ArrayList<>()));
        }
        for (int number = 0; number < partitions; number++) {
            Partition made = new Partition("bank." + number);
            sides.get(0).partitions().add(made);
        }
    }

    /** A partition while its process runs. */
    private static final class Running implements JournalListener {

        final Partition of;
        ServiceFolder folder;
        SharedJournal.Partition log;
        int failures;

        Running(Partition of) {
            this.of = of;
        }

        @Override
        public synchronized void forced(long turn) {
            if (failures > 0) {
                throw new AssertionError("turn " + turn + " was told after a failure");
            }
            of.mustHave = Math.max(of.mustHave, turn);
            notifyAll();
        }

        @Override
        public synchronized void failed(IOException cause) {
            failures++;
            notifyAll();
        }

        synchronized boolean await(long turn) {
            try {
                while (of.mustHave < turn && failures == 0) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return failures == 0;
        }

        void base() throws IOException {
            long folded = of.mustHave;
            if (folded <= log.base().turn()) {
                return;
            }
            log.base()
                    .write(
                            folded,
                            writer -> {
                                for (long each = 1; each <= folded; each++) {
                                    writer.section("" + each)
                                            .write(of.turns.get(each).getBytes(UTF_8));
                                }
                            });
            log.folded(folded);
        }
    }

    /**
     * One process on one side, with all partitions that are there.
     *
     * @throws AssertionError where what is read back is not right
     */
    void live(int steps) {
        life++;
        diedOfTheDisk = false;
        Side side = sides.get(random.nextInt(sides.size()));
        if (side.partitions().isEmpty()) {
            side = sides.get(1 - sides.indexOf(side));
        }
        List<Running> running = new ArrayList<>();
        try (SharedJournal journal =
                SharedJournal.open(
                        disk,
                        side.journal(),
                        "bank in partitions",
                        new JournalOptions(ForceMode.always(), SEGMENT_BYTES),
                        NONCES)) {
            try {
                for (Partition each : side.partitions()) {
                    Running now = new Running(each);
                    now.folder = journal.open(folder(each), each.name);
                    running.add(now);
                    now.log = journal.join(now.folder);
                    check(now);
                    now.log.begin(now);
                }
                for (int step = 0; step < steps && !running.isEmpty(); step++) {
                    step(side, running);
                }
                for (Running each : running) {
                    each.log.close();
                    if (each.failures == 0 && each.of.mustHave != each.of.mayHave) {
                        throw new AssertionError(each.of.name + " was not told of all");
                    }
                }
            } finally {
                for (Running each : running) {
                    each.folder.close();
                }
            }
        } catch (RefusedFolderException e) {
            throw new AssertionError("life " + life + ": " + e.getMessage(), e);
        } catch (IOException | DeadJournalException e) {
            diedOfTheDisk = true;
        }
        int told = running.stream().mapToInt(it -> it.failures).max().orElse(0);
        if (told > 1) {
            throw new AssertionError("a failure was told " + told + " times");
        }
        diedOfTheDisk |= told > 0;
    }

    private void step(Side side, List<Running> running) throws IOException {
        Running one = running.get(random.nextInt(running.size()));
        int what = random.nextInt(24);
        if (what == 0 && one.await(one.of.mayHave)) {
            one.base();
            one.log.release();
            one.folder.close();
            running.remove(one);
            Side other = sides.get(1 - sides.indexOf(side));
            if (random.nextInt(3) > 0) {
                side.partitions().remove(one.of);
                other.partitions().add(one.of);
                moves++;
            }
        } else if (what <= 2) {
            one.base();
        } else {
            long turn = one.log.lastTurn() + 1;
            String said = one.of.name + " turn " + turn + " of life " + life + ", " + filler();
            one.of.turns.put(turn, said);
            one.of.mayHave = turn;
            one.log.append(turn, ByteBuffer.wrap(said.getBytes(UTF_8)));
            if (random.nextInt(3) == 0) {
                boolean unused = one.await(turn);
            }
        }
    }

    private String filler() {
        return "x".repeat(random.nextInt(10) == 0 ? random.nextInt(6000) : random.nextInt(300));
    }

    private void check(Running now) throws IOException {
        Partition of = now.of;
        List<String> read = new ArrayList<>();
        now.log.sections((name, content) -> read.add(text(content)));
        if (read.size() != now.log.base().turn()) {
            throw new AssertionError("the base of " + now.log.base().turn() + " has " + read);
        }
        now.log.turns(
                (turn, delta) -> {
                    if (turn != read.size() + 1) {
                        throw new AssertionError("turn " + turn + " is not the next");
                    }
                    read.add(UTF_8.decode(delta).toString());
                });
        if (read.size() != now.log.lastTurn()) {
            throw new AssertionError("read to " + read.size() + ", not " + now.log.lastTurn());
        }
        if (read.size() < of.mustHave || read.size() > of.mayHave) {
            throw new AssertionError(
                    "life "
                            + life
                            + ": "
                            + of.name
                            + " read turns up to "
                            + read.size()
                            + ", reported were those up to "
                            + of.mustHave
                            + ", appended those up to "
                            + of.mayHave);
        }
        for (int index = 0; index < read.size(); index++) {
            if (!read.get(index).equals(of.turns.get(index + 1L))) {
                throw new AssertionError("life " + life + " read " + read.get(index));
            }
        }
        of.turns.tailMap((long) read.size(), false).clear();
        of.mustHave = read.size();
        of.mayHave = read.size();
    }

    private static String text(InputStream content) throws IOException {
        return new String(content.readAllBytes(), UTF_8);
    }
}
