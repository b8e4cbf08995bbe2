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
import java.util.concurrent.CountDownLatch;

/**
 * One folder through many processes, each of which appends turns, writes bases and dies of the disk
 * or of nothing. After each it is known what may and what must be read back: every turn that was
 * reported, in the words of the process that appended it, without a gap, and nothing that was cut
 * off once (K9).
 */
final class Lives {

    static final Path FOLDER = Path.of("/simulated/bank");

    private static final int SEGMENT_BYTES = 4096;
    private static final SecureRandom NONCES = new SecureRandom();

    final SimulatedDisk disk;
    private final Random random;
    private final ForceMode force;

    /** What the turns said, as far as they were read back or appended in this life. */
    private final TreeMap<Long, String> turns = new TreeMap<>();

    private long mustHave;
    private long mayHave;
    private int life;

    /** What the last process saw. */
    boolean diedOfTheDisk;

    Lives(long seed, ForceMode force) {
        this.disk = new SimulatedDisk(seed);
        this.random = new Random(~seed);
        this.force = force;
    }

    /** The newest turn that was reported as forced. */
    long mustHave() {
        return mustHave;
    }

    /**
     * One process: opens, recovers, appends some turns and halts.
     *
     * @throws AssertionError where what is read back is not right
     */
    void live(int appends) {
        life++;
        diedOfTheDisk = false;
        Heard heard = new Heard();
        try (ServiceFolder folder = ServiceFolder.open(disk, FOLDER, "bank", NONCES)) {
            Recovered recovered = folder.recover(new JournalOptions(force, SEGMENT_BYTES));
            check(recovered);
            Journal journal = recovered.journal(heard);
            try {
                append(journal, recovered.base(), heard, appends);
            } finally {
                journal.close();
            }
        } catch (RefusedFolderException e) {
            throw new AssertionError("life " + life + ": " + e.getMessage(), e);
        } catch (IOException | DeadJournalException e) {
            diedOfTheDisk = true;
        }
        if (heard.failures > 1) {
            throw new AssertionError("a failure was told " + heard.failures + " times");
        }
        if (!diedOfTheDisk && heard.failures == 0 && mustHave != mayHave) {
            throw new AssertionError("turns up to " + mayHave + " were never told of");
        }
        diedOfTheDisk |= heard.failures > 0;
    }

    private void append(Journal journal, Base base, Heard heard, int appends) throws IOException {
        for (int count = 0; count < appends; count++) {
            long turn = journal.appended() + 1;
            String said = "turn " + turn + " of life " + life + ", " + filler();
            // What fails here may be on disk all the same.
            turns.put(turn, said);
            mayHave = turn;
            journal.append(turn, ByteBuffer.wrap(said.getBytes(UTF_8)));
            if (random.nextInt(3) == 0 && !heard.await(turn)) {
                return;
            }
            if (random.nextInt(12) == 0 && journal.forced() > base.turn()) {
                long folded = journal.forced();
                base.write(
                        folded,
                        writer -> {
                            for (long each = 1; each <= folded; each++) {
                                writer.section("" + each).write(turns.get(each).getBytes(UTF_8));
                            }
                        });
                journal.folded(folded);
            }
        }
    }

    private String filler() {
        return "x".repeat(random.nextInt(10) == 0 ? random.nextInt(6000) : random.nextInt(300));
    }

    private void check(Recovered recovered) throws IOException {
        List<String> read = new ArrayList<>();
        recovered.sections(
                (name, content) -> {
                    if (!name.equals("" + (read.size() + 1))) {
                        throw new AssertionError("section " + name + " is not the next");
                    }
                    read.add(text(content));
                });
        if (read.size() != recovered.baseTurn()) {
            throw new AssertionError("the base of turn " + recovered.baseTurn() + " has " + read);
        }
        recovered.turns(
                (turn, delta) -> {
                    if (turn != read.size() + 1) {
                        throw new AssertionError("turn " + turn + " is not the next");
                    }
                    read.add(UTF_8.decode(delta).toString());
                });
        if (read.size() != recovered.lastTurn()) {
            throw new AssertionError("read to " + read.size() + ", not " + recovered.lastTurn());
        }
        if (read.size() < mustHave || read.size() > mayHave) {
            throw new AssertionError(
                    "life "
                            + life
                            + " read turns up to "
                            + read.size()
                            + ", reported were those up to "
                            + mustHave
                            + ", appended those up to "
                            + mayHave);
        }
        for (int index = 0; index < read.size(); index++) {
            if (!read.get(index).equals(turns.get(index + 1L))) {
                throw new AssertionError(
                        "life "
                                + life
                                + " read \""
                                + read.get(index)
                                + "\", not \""
                                + turns.get(index + 1L)
                                + "\"");
            }
        }
        turns.tailMap((long) read.size(), false).clear();
        // It goes out of the folder now: what was read back must stay.
        mustHave = read.size();
        mayHave = read.size();
    }

    /** A power cut loses what only the operating system had: nothing is promised of that. */
    void powerFails() {
        disk.powerFails();
        if (force instanceof ForceMode.Os) {
            mustHave = 0;
        }
    }

    private static String text(InputStream content) throws IOException {
        return new String(content.readAllBytes(), UTF_8);
    }

    /** Hears of the journal, and lets the turn thread wait for that. */
    private final class Heard implements JournalListener {

        private int failures;
        private long forced;
        private final CountDownLatch failed = new CountDownLatch(1);

        @Override
        public synchronized void forced(long turn) {
            if (turn <= forced || failures > 0) {
                throw new AssertionError("turn " + turn + " was told after " + forced);
            }
            forced = turn;
            mustHave = Math.max(mustHave, turn);
            notifyAll();
        }

        @Override
        public synchronized void failed(IOException cause) {
            failures++;
            failed.countDown();
            notifyAll();
        }

        synchronized boolean await(long turn) {
            try {
                while (forced < turn && failures == 0) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return failures == 0;
        }
    }
}
