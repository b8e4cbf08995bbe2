package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One member's folder through many processes, each of which appends, forces, drops, writes bases,
 * and dies of the disk or of nothing. After each it is known what must be there, and that nothing
 * but the chain may be (C2, C4, C14, C16).
 */
final class MemberLives {

    static final Path FOLDER = Path.of("/simulated/member");

    private static final SecureRandom NAMES = new SecureRandom();
    private static final int LOG_BYTES = 3000;

    final SimulatedDisk disk;
    private final Random random;
    private final Chain chain = new Chain();

    /** What must be there, and what may be: numbers of the chain. */
    private long mustHave;

    private boolean made;
    private String member = "";
    private int life;

    /** What the last process saw. */
    boolean diedOfTheDisk;

    int drops;
    int bases;
    int received;

    MemberLives(long seed) {
        disk = new SimulatedDisk(seed);
        random = new Random(~seed);
    }

    /**
     * One process.
     *
     * @throws AssertionError where what it finds is not right
     */
    void live(int steps) {
        life++;
        diedOfTheDisk = false;
        try (MemberFolder folder =
                MemberFolder.open(disk, FOLDER, Chain.SERVICE, NAMES, LOG_BYTES)) {
            check(folder);
            // It may go to others now: what was read must stay, whatever failed before.
            mustHave = folder.last().number();
            folder.birth(Chain.BIRTH);
            made = true;
            for (int step = 0; step < steps; step++) {
                step(folder);
            }
            check(folder);
        } catch (RefusedFolderException | MissingSegmentException | RefusedSegmentException e) {
            throw new AssertionError("life " + life + ": " + e.getMessage(), e);
        } catch (IOException | DeadJournalException e) {
            diedOfTheDisk = true;
        }
    }

    private void step(MemberFolder folder) throws IOException {
        switch (random.nextInt(16)) {
            case 15 -> receive(folder);
            case 0 -> drop(folder);
            case 1 -> base(folder);
            case 2 -> {
                check(folder);
                chain.takeover();
            }
            case 3, 4, 5 -> {
                folder.force();
                mustHave = folder.last().number();
            }
            default -> {
                int bytes = random.nextInt(8) == 0 ? 2500 : random.nextInt(400);
                // The head names what is forced, a while later.
                long named = mustHave == 0 ? 0 : random.nextLong(mustHave + 1);
                folder.append(chain.next(bytes, named));
            }
        }
    }

    private void drop(MemberFolder folder) throws IOException {
        long low = folder.known();
        if (low == folder.last().number()) {
            return;
        }
        long number = low + random.nextLong(folder.last().number() - low);
        // Where this fails, those above may be there or not.
        mustHave = Math.min(mustHave, number);
        folder.dropAfter(number);
        if (folder.last().number() != number) {
            throw new AssertionError("dropped to " + folder.last() + ", not " + number);
        }
        chain.cutAfter(number);
        mustHave = number;
        drops++;
    }

    private void base(MemberFolder folder) throws IOException {
        // The head may have named what others forced, and this member has not yet.
        long number = folder.last().number() - random.nextInt(3);
        if (number <= folder.newestBase().number()) {
            return;
        }
        SegmentId at = chain.id(number);
        folder.base(at, chain.epochs(), writer -> writeState(writer, number));
        mustHave = Math.max(mustHave, number);
        bases++;
    }

    /** A member that was ahead sends its base. */
    private void receive(MemberFolder folder) throws IOException {
        try (MemberFolder ahead =
                MemberFolder.open(new SimulatedDisk(1), FOLDER, Chain.SERVICE, NAMES, LOG_BYTES)) {
            ahead.birth(Chain.BIRTH);
            int behind = 1 + random.nextInt(4);
            for (int left = behind; left > 0; left--) {
                chain.next(random.nextInt(400), 0);
            }
            for (long number = 1; number <= chain.size(); number++) {
                ahead.append(chain.get(number));
            }
            ahead.base(chain.last(), chain.epochs(), writer -> writeState(writer, chain.size()));
            try (ShippedBase base = ahead.ship().orElseThrow();
                    BaseReceipt receipt =
                            folder.receive(base.at().number(), base.length(), base.digest())) {
                for (ByteBuffer part = base.next(700); part.hasRemaining(); part = base.next(700)) {
                    receipt.part(part);
                }
                same(chain.last(), receipt.finish());
            }
        }
        same(chain.last(), folder.last());
        same(chain.last(), folder.newestBase());
        mustHave = chain.size();
        received++;
    }

    private void writeState(Base.Writer writer, long number) throws IOException {
        OutputStream section = writer.section("digests");
        for (long each = 1; each <= number; each++) {
            section.write(chain.id(each).digest().getBytes(UTF_8));
        }
    }

    private void check(MemberFolder folder) throws IOException {
        if (made && !member.isEmpty() && !folder.member().equals(member)) {
            throw new AssertionError("another member: " + folder.member());
        }
        member = made ? folder.member() : "";
        long last = folder.last().number();
        if (last < mustHave || last > chain.size()) {
            throw new AssertionError(
                    "life "
                            + life
                            + " found segments up to "
                            + last
                            + ", forced were those up to "
                            + mustHave
                            + ", appended those up to "
                            + chain.size());
        }
        for (long number = folder.oldest(); number <= last; number++) {
            same(chain.id(number), folder.at(number).orElseThrow());
            same(chain.id(number), folder.read(number).id());
        }
        same(chain.id(last), folder.last());
        long base = folder.newestBase().number();
        checkRestored(folder, last);
        checkRestored(folder, base + random.nextLong(last - base + 1));
        try {
            folder.restore(new SegmentId(1, last + 1, "f".repeat(64)));
            throw new AssertionError("it restored what it does not have");
        } catch (RefusedFolderException e) {
            if (!e.getMessage().contains("" + (last + 1))) {
                throw new AssertionError("what is missing is not named: " + e.getMessage(), e);
            }
        }
        if (!folder.damages().isEmpty()) {
            throw new AssertionError("damage after a crash: " + folder.damages());
        }
        chain.cutAfter(last);
    }

    private void checkRestored(MemberFolder folder, long upTo) throws IOException {
        Restored restored = folder.restore(chain.id(upTo));
        List<String> read = new ArrayList<>();
        restored.sections(
                (name, content) -> {
                    for (byte[] each = content.readNBytes(64);
                            each.length > 0;
                            each = content.readNBytes(64)) {
                        read.add(new String(each, UTF_8));
                    }
                });
        if (read.size() != restored.base().number()) {
            throw new AssertionError("the base of " + restored.base() + " has " + read);
        }
        restored.segments(segment -> read.add(segment.id().digest()));
        if (read.size() != upTo) {
            throw new AssertionError("restored up to " + read.size() + ", not " + upTo);
        }
        for (int index = 0; index < read.size(); index++) {
            if (!read.get(index).equals(chain.id(index + 1L).digest())) {
                throw new AssertionError("segment " + (index + 1) + " is not that of the chain");
            }
        }
    }

    private void same(SegmentId expected, SegmentId is) {
        if (!expected.equals(is)) {
            throw new AssertionError("life " + life + " found " + is + ", not " + expected);
        }
    }

    /** The power goes: what was not forced may be lost. */
    void powerFails() {
        disk.powerFails();
    }
}
