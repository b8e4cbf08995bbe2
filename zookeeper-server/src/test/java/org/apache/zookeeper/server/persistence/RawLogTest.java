package org.apache.zookeeper.server.persistence;

import static org.apache.zookeeper.server.persistence.Transactions.join;
import static org.apache.zookeeper.server.persistence.Transactions.zxids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Zxid;
import io.saucr.core.recovery.EpochEnds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.RawLog.Scan;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever a power cut leaves of a log (H1, H2), the scan ends with the last entry that is sound
 * and has everything before it, and cutting there leaves a log that is sound.
 */
class RawLogTest {
    private static final int HEADER = 16;
    private static final int FRAME = 13;

    @TempDir Path logs;

    /** Ends of the entries of each file, in bytes, and the zxid that each belongs to. */
    private final Map<String, TreeMap<Integer, Long>> ends = new TreeMap<>();

    private final Map<String, byte[]> sound = new TreeMap<>();

    private static final List<Long> ALL =
            join(zxids(1, 1, 4), zxids(1, 5, 7), zxids(2, 1, 2), zxids(4, 1, 3));

    /** Three files; an epoch begins within the second, and one with the third. */
    @BeforeEach
    void write() throws IOException {
        file(0, zxids(1, 1, 4));
        file(Zxid.of(1, 4), join(zxids(1, 5, 7), zxids(2, 1, 2)));
        file(Zxid.of(2, 2), zxids(4, 1, 3));
    }

    private void file(long last, List<Long> zxids) throws IOException {
        Transactions.writeFile(logs, last, zxids);
        String name = Util.makeLogName(zxids.get(0));
        byte[] content = Files.readAllBytes(logs.resolve(name));
        TreeMap<Integer, Long> offsets = new TreeMap<>();
        int offset = HEADER;
        for (long zxid : zxids) {
            offset += FRAME + ByteBuffer.wrap(content).getInt(offset + Long.BYTES);
            offsets.put(offset, zxid);
        }
        assertThat(offset).isEqualTo(content.length);
        ends.put(name, offsets);
        sound.put(name, content);
    }

    /** R25: the padding stays a hole, or every death of a process would cost its whole size. */
    @Test
    void pagesAreRewrittenInPlaceAndTakeNoSpace() throws Exception {
        Path file = logs.resolve(Util.makeLogName(zxids(4, 1, 1).get(0)));
        long padded = 64 << 20;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), padded - 1);
        }
        byte[] before = Files.readAllBytes(file);
        new RawLog(logs, logs).rewriteAfter(0);
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
        String blocks = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Long.parseLong(blocks.trim()) * 512).isLessThan(1 << 20);
    }

    private void restore() throws IOException {
        try (Stream<Path> files = Files.list(logs)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        for (Map.Entry<String, byte[]> file : sound.entrySet()) {
            Files.write(logs.resolve(file.getKey()), file.getValue());
        }
    }

    private Scan scan() throws IOException {
        return new RawLog(logs, logs).scan(0);
    }

    /** The last zxid before a byte of a file, 0 if there is none. */
    private long lastBefore(String name, int offset) {
        Map.Entry<Integer, Long> before = ends.get(name).floorEntry(offset);
        if (before != null) {
            return before.getValue();
        }
        int first = ALL.indexOf(ends.get(name).firstEntry().getValue());
        return first == 0 ? 0 : ALL.get(first - 1);
    }

    private List<Long> through(long last) {
        return ALL.subList(0, ALL.indexOf(last) + 1);
    }

    /** The scan ends there; after the cut the log is sound and ends there. */
    private void assertEndsWith(long last, String what) throws IOException {
        Scan scan = scan();
        assertThat(scan.epochEnds().last()).as(what).isEqualTo(last);
        RawLog history = new RawLog(logs, logs);
        history.cut(scan.damage());
        Scan again = scan();
        assertThat(again.damage()).as(what).isNull();
        assertThat(again.epochEnds()).as(what).isEqualTo(scan.epochEnds());
        assertThat(Transactions.read(logs, logs, 0)).as(what).isEqualTo(through(last));
        assertThat(scan.epochEnds()).as(what).isEqualTo(epochEndsOf(through(last)));
    }

    private static EpochEnds epochEndsOf(List<Long> zxids) {
        EpochEnds epochEnds = EpochEnds.startingAt(0);
        for (long zxid : zxids) {
            epochEnds = epochEnds.append(zxid);
        }
        return epochEnds;
    }

    @Test
    void aSoundLogIsReadToItsEnd() throws IOException {
        Scan scan = scan();
        assertThat(scan.damage()).isNull();
        assertThat(scan.epochEnds()).isEqualTo(epochEndsOf(ALL));
        assertThat(scan.epochEnds().ends())
                .containsExactly(0, Zxid.of(1, 7), Zxid.of(2, 2), Zxid.of(4, 3));
    }

    /** The kernel lets nobody read the first page of a process, whatever the rights. */
    @Test
    void aFileThatCannotBeReadIsNamed() throws IOException {
        Path file =
                Files.createSymbolicLink(
                        logs.resolve(Util.makeLogName(Zxid.of(9, 1))), Path.of("/proc/self/mem"));
        assertThatThrownBy(this::scan)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("The log file " + file + " cannot be read: ");
    }

    @Test
    void aFileCutAtAnyByteEndsWithTheLastWholeEntry() throws IOException {
        for (String name : sound.keySet()) {
            byte[] whole = sound.get(name);
            for (int length = 0; length < whole.length; length++) {
                restore();
                Files.write(logs.resolve(name), Arrays.copyOf(whole, length));
                String what = name + " cut at " + length;
                boolean betweenEntries = length == HEADER || ends.get(name).containsKey(length);
                boolean lastFile = name.equals(Util.makeLogName(Zxid.of(4, 1)));
                long expected = lastBefore(name, length);
                assertThat(scan().damage() == null).as(what).isEqualTo(betweenEntries && lastFile);
                assertEndsWith(expected, what);
            }
        }
    }

    @Test
    void aWrongByteAnywhereEndsTheLogBeforeIt() throws IOException {
        for (String name : sound.keySet()) {
            byte[] whole = sound.get(name);
            for (int at = 0; at < whole.length; at++) {
                restore();
                byte[] damaged = whole.clone();
                damaged[at] ^= 0x11;
                Files.write(logs.resolve(name), damaged);
                assertThat(scan().damage()).as("%s byte %d", name, at).isNotNull();
                assertEndsWith(lastBefore(name, at), name + " wrong at byte " + at);
            }
        }
    }

    @Test
    void zerosFromAnyByteOnEndTheLogThere() throws IOException {
        String name = Util.makeLogName(Zxid.of(4, 1));
        byte[] whole = sound.get(name);
        for (int at = HEADER; at <= whole.length; at++) {
            restore();
            Files.write(logs.resolve(name), Arrays.copyOf(Arrays.copyOf(whole, at), 4096));
            boolean betweenEntries = at == HEADER || ends.get(name).containsKey(at);
            String what = name + " zero from " + at;
            if (betweenEntries) {
                assertThat(scan().damage()).as(what).isNull();
            }
            assertEndsWith(lastBefore(name, at), what);
        }
    }

    @Test
    void aHoleOfZerosBeforeMoreDataIsDamageAndNoEnd() throws IOException {
        for (String name : sound.keySet()) {
            int start = HEADER;
            for (int end : ends.get(name).keySet()) {
                if (end == sound.get(name).length) {
                    continue;
                }
                restore();
                byte[] damaged = sound.get(name).clone();
                Arrays.fill(damaged, start, end, (byte) 0);
                Files.write(logs.resolve(name), damaged);
                assertThat(scan().damage().what()).contains("hole of zeros");
                assertThat(scan().damage().offset()).isEqualTo(start);
                assertEndsWith(lastBefore(name, start), name + " hole at " + start);
                start = end;
            }
        }
    }

    @Test
    void farBehindItsEndOnlyAFileIsLookedAtThatAPowerCutMayHaveDamaged() throws IOException {
        String name = Util.makeLogName(Zxid.of(1, 5));
        byte[] whole = sound.get(name);
        byte[] filled = Arrays.copyOf(whole, 4 << 20);
        filled[3 << 20] = 1;
        Files.write(logs.resolve(name), filled);
        assertThat(new RawLog(logs, logs).scan(Zxid.of(1, 7)).damage().offset())
                .isEqualTo(whole.length);
        Scan forced = new RawLog(logs, logs).scan(Zxid.of(4, 1));
        assertThat(forced.damage()).isNull();
        assertThat(forced.epochEnds()).isEqualTo(epochEndsOf(ALL));
        filled[whole.length + 100_000] = 1;
        Files.write(logs.resolve(name), filled);
        assertThat(new RawLog(logs, logs).scan(Zxid.of(4, 1)).damage().offset())
                .isEqualTo(whole.length);
    }

    @Test
    void r26AMissingFileEndsTheLogBeforeIt() throws IOException {
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 1))));
        assertThat(scan().damage().what()).contains("a log file is missing");
        assertEndsWith(0, "the first file is missing");
    }

    /** Only the file that begins the next epoch can tell that there was one before it. */
    @Test
    void r26AMissingFileIsNoticedThatEndedWithItsEpoch() throws IOException {
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 5))));
        assertThat(scan().damage().what())
                .isEqualTo(
                        "the file comes after 0x200000002, and what is before it ends at"
                                + " 0x100000004: a log file is missing");
        assertEndsWith(Zxid.of(1, 4), "the second file is missing");
    }

    /** Apache's server does not say what was before a file. */
    @Test
    void aMissingFileBeforeOneOfApachesIsNoticedOnlyWithinAnEpoch() throws IOException {
        Transactions.writeFile(logs, zxids(4, 1, 3));
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 5))));
        assertThat(scan().damage()).isNull();
        Transactions.writeFile(logs, join(zxids(1, 5, 7), zxids(2, 1, 2)));
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 1))));
        assertThat(scan().damage().what()).contains("does not follow");
    }

    /** A snapshot that was taken when an epoch began names no entry that could be missed. */
    @Test
    void theBeginningOfAnEpochIsNoEntryBeforeAFile() throws IOException {
        Transactions.writeFile(logs, Zxid.of(4, 0), zxids(4, 1, 3));
        assertThat(scan().damage()).isNull();
        assertThat(scan().epochEnds()).isEqualTo(epochEndsOf(ALL));
    }

    @Test
    void aLogOfAnotherKindIsNotRead() throws IOException {
        String name = Util.makeLogName(Zxid.of(1, 5));
        for (int at : new int[] {0, 3, 4, 7}) {
            restore();
            byte[] damaged = sound.get(name).clone();
            damaged[at]++;
            Files.write(logs.resolve(name), damaged);
            assertThat(scan().damage().what()).contains("header");
            assertEndsWith(Zxid.of(1, 4), "header byte " + at);
            assertThat(logs.resolve(name)).doesNotExist();
        }
    }

    @Test
    void anAbsurdLengthIsNotBelieved() throws IOException {
        String name = Util.makeLogName(Zxid.of(4, 1));
        for (int length : new int[] {-1, Integer.MIN_VALUE, 1, Integer.MAX_VALUE, 200_000_000}) {
            restore();
            byte[] damaged = sound.get(name).clone();
            ByteBuffer.wrap(damaged).putInt(HEADER + Long.BYTES, length);
            Files.write(logs.resolve(name), damaged);
            assertEndsWith(Zxid.of(2, 2), "length " + length);
        }
    }

    @Test
    void filesWithOtherNamesAreNotTheLogs() throws IOException {
        List<String> strangers =
                List.of(
                        "log.bak",
                        "log.100000001.gz",
                        "log.",
                        "log.300000001~",
                        "log.xyz.1",
                        "saucr.fastSwitch",
                        "saucr.latestOnDisk.tmp",
                        "currentEpoch",
                        "snapshot.zz",
                        "LOG.1");
        for (String stranger : strangers) {
            Files.writeString(logs.resolve(stranger), "no log at all, but long enough for one");
        }
        assertThat(scan().epochEnds()).isEqualTo(epochEndsOf(ALL));
        assertThat(scan().damage()).isNull();
        new RawLog(logs, logs).truncateAfter(Zxid.of(1, 2));
        assertThat(Transactions.read(logs, logs, 0)).isEqualTo(zxids(1, 1, 2));
        for (String stranger : strangers) {
            assertThat(logs.resolve(stranger)).exists();
        }
    }

    @Test
    void truncationKeepsExactlyThePrefix() throws IOException {
        for (int kept = 0; kept <= ALL.size(); kept++) {
            restore();
            long last = kept == 0 ? 0 : ALL.get(kept - 1);
            new RawLog(logs, logs).truncateAfter(last);
            assertThat(Transactions.read(logs, logs, 0)).isEqualTo(ALL.subList(0, kept));
            assertThat(scan().damage()).isNull();
            assertThat(scan().epochEnds().last()).isEqualTo(last);
        }
    }

    @Test
    void readingBeginsRightAfterAnyEntry() throws IOException {
        for (int first = 0; first <= ALL.size(); first++) {
            long after = first == 0 ? 0 : ALL.get(first - 1);
            assertThat(Transactions.read(logs, logs, after))
                    .isEqualTo(ALL.subList(first, ALL.size()));
        }
    }

    @Test
    void nothingIsReadAcrossAGap() throws IOException {
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 5))));
        Transactions.writeFile(logs, zxids(1, 6, 9));
        try (RawLog.Reader reader = new RawLog(logs, logs).read(Zxid.of(1, 2))) {
            List<Long> read = new ArrayList<>();
            for (RawLog.Entry entry = reader.next(); entry != null; entry = reader.next()) {
                read.add(entry.zxid());
            }
            assertThat(read).isEqualTo(zxids(1, 3, 4));
            assertThat(reader.damage().what()).contains("does not follow");
        }
    }

    @Test
    void theNewestUsableSnapshotIsTheBase() throws IOException {
        snapshot(Zxid.of(1, 3));
        snapshot(Zxid.of(2, 1));
        Files.writeString(logs.resolve(Util.makeSnapshotName(Zxid.of(2, 2))), "torn");
        RawLog history = new RawLog(logs, logs);
        assertThat(history.snapshotZxid()).isEqualTo(Zxid.of(2, 1));
        Scan scan = history.scan(0);
        assertThat(scan.damage()).isNull();
        assertThat(scan.epochEnds().base()).isEqualTo(Zxid.of(2, 1));
        assertThat(scan.epochEnds().ends()).containsExactly(Zxid.of(2, 2), Zxid.of(4, 3));

        // What the snapshot holds need not be in the log any more.
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 1))));
        assertThat(new RawLog(logs, logs).scan(0)).isEqualTo(scan);
        Files.delete(logs.resolve(Util.makeLogName(Zxid.of(1, 5))));
        Scan gap = new RawLog(logs, logs).scan(0);
        assertThat(gap.epochEnds().last()).isEqualTo(Zxid.of(2, 1));
        assertThat(gap.damage().what()).contains("a log file is missing");
    }

    private void snapshot(long zxid) throws IOException {
        DataTree tree = new DataTree();
        tree.lastProcessedZxid = zxid;
        new FileSnap(logs.toFile())
                .serialize(
                        tree,
                        new ConcurrentHashMap<>(),
                        logs.resolve(Util.makeSnapshotName(zxid)).toFile(),
                        true);
    }
}
