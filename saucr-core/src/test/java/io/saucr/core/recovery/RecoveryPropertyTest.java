package io.saucr.core.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.Quorums;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * R15 to R19, R23: messages on the wire, and whole recoveries over a channel that loses and
 * repeats.
 */
class RecoveryPropertyTest {

    @Property(tries = 500)
    void messagesRoundTrip(@ForAll("messages") RecoveryMessage message) {
        ByteBuffer packet = RecoveryWire.encode(message);
        assertThat(RecoveryWire.isRecoveryMessage(packet)).isTrue();
        assertThat(RecoveryWire.decode(packet)).isEqualTo(message);
        // To a server without SAUCR: longer than its shortest notification, an unknown state, no
        // configuration.
        assertThat(packet.remaining()).isGreaterThanOrEqualTo(40);
        assertThat(packet.getInt(0)).isNotIn(0, 1, 2, 3);
        assertThat(packet.getInt(36)).isZero();
    }

    @Property(tries = 1000)
    void damagedMessagesAreRejectedOrMeanWhatTheySay(
            @ForAll("messages") RecoveryMessage message,
            @ForAll @IntRange(min = 0, max = 10_000) int at,
            @ForAll byte value) {
        byte[] whole = RecoveryWire.encode(message).array();
        int position = at % whole.length;
        assertThatThrownBy(() -> RecoveryWire.decode(ByteBuffer.wrap(whole, 0, position)))
                .isInstanceOf(IllegalArgumentException.class);
        byte[] changed = whole.clone();
        changed[position] = value;
        RecoveryMessage read;
        try {
            read = RecoveryWire.decode(ByteBuffer.wrap(changed));
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        }
        assertThat(RecoveryWire.encode(read).array()).isEqualTo(changed);
    }

    /**
     * One leader per epoch, each with a prefix of an earlier leader's log: ZAB's logs, as far as
     * recovery looks.
     */
    private static List<List<Long>> histories(Random random) {
        List<List<Long>> leaders = new ArrayList<>();
        leaders.add(List.of());
        for (int epoch = 1; epoch <= 4; epoch++) {
            List<Long> base = leaders.get(random.nextInt(leaders.size()));
            List<Long> history = new ArrayList<>(base.subList(0, random.nextInt(base.size() + 1)));
            int entries = random.nextInt(6);
            for (int counter = 1; counter <= entries; counter++) {
                history.add(Zxid.of(epoch, counter));
            }
            leaders.add(history);
        }
        return leaders;
    }

    private static List<Long> prefix(Random random, List<Long> history) {
        return history.subList(0, random.nextInt(history.size() + 1));
    }

    private static Bytes transaction(long zxid, int maxLength) {
        byte[] content = new byte[1 + (int) (zxid * 31 % maxLength)];
        content[0] = (byte) zxid;
        return Bytes.wrap(content);
    }

    private static EpochEnds epochEnds(List<Long> log) {
        EpochEnds epochEnds = EpochEnds.startingAt(Zxid.NONE);
        for (long zxid : log) {
            epochEnds = epochEnds.append(zxid);
        }
        return epochEnds;
    }

    /** A log in memory that may have lost its beginning to a snapshot. */
    private record MemoryLog(List<Long> zxids, int purged, int maxLength)
            implements ReadableHistory {
        @Override
        public EpochEnds epochEnds() {
            EpochEnds epochEnds =
                    EpochEnds.startingAt(purged == 0 ? Zxid.NONE : zxids.get(purged - 1));
            for (long zxid : zxids.subList(purged, zxids.size())) {
                epochEnds = epochEnds.append(zxid);
            }
            return epochEnds;
        }

        @Override
        public Iterator<Entry> after(long after) {
            return zxids.stream()
                    .filter(zxid -> zxid > after)
                    .map(zxid -> new Entry(zxid, transaction(zxid, maxLength)))
                    .iterator();
        }

        @Override
        public Optional<Snapshot> newestSnapshot() {
            return Optional.of(new Snapshot(epochEnds().base(), Compression.NONE, 100));
        }

        @Override
        public Optional<Snapshot> snapshot(long zxid) {
            return newestSnapshot().filter(snapshot -> snapshot.zxid() == zxid);
        }

        @Override
        public Bytes read(Snapshot snapshot, long offset, int length) {
            return Bytes.wrap(new byte[length]);
        }
    }

    @Property(tries = 400)
    void commonPrefixOfEpochEndsIsTheCommonPrefixOfLogs(@ForAll long seed) {
        Random random = new Random(seed);
        List<List<Long>> histories = histories(random);
        List<Long> mine = prefix(random, histories.get(random.nextInt(5)));
        List<Long> theirs = prefix(random, histories.get(random.nextInt(5)));
        int shared = 0;
        while (shared < Math.min(mine.size(), theirs.size())
                && mine.get(shared).equals(theirs.get(shared))) {
            shared++;
        }
        // Epoch ends are exact when both logs have an entry of the newest epoch they share; an
        // older
        // branch point is
        // exact too, since every epoch below it is complete in both.
        long expected = shared == 0 ? EpochEnds.NO_COMMON_PREFIX : mine.get(shared - 1);
        long found = epochEnds(mine).commonPrefix(epochEnds(theirs));
        if (found == Zxid.NONE) {
            assertThat(shared).isZero();
        } else {
            assertThat(found).isEqualTo(expected);
        }
        for (long zxid : mine) {
            assertThat(epochEnds(mine).contains(zxid)).isTrue();
            assertThat(epochEnds(theirs).contains(zxid)).isEqualTo(theirs.contains(zxid));
            assertThat(epochEnds(mine).truncate(zxid))
                    .isEqualTo(epochEnds(mine.subList(0, mine.indexOf(zxid) + 1)));
            EpochEnds left = epochEnds(mine).startingFrom(zxid);
            assertThat(left.base())
                    .isEqualTo(mine.indexOf(zxid) == 0 ? 0 : mine.get(mine.indexOf(zxid) - 1));
            assertThat(left.last()).isEqualTo(epochEnds(mine).last());
            assertThat(left).isEqualTo(EpochEnds.of(left.base(), left.ends()));
            assertThat(left.contains(zxid)).isTrue();
        }
    }

    /**
     * A server recovers from some of four others over a channel that loses, repeats and reorders,
     * with sources that die. Its own view is all of them, or some (R23); so are theirs, and some
     * have a version that does not know views and drops the question for them. Whatever happens on
     * the way, in the end enough have answered, and its log is a source's prefix that reaches L' or
     * the source's end, or its own.
     */
    @Property(tries = 300)
    void recoversOverALossyChannel(
            @ForAll long seed, @ForAll @IntRange(min = 5, max = 200) int payload) {
        Random random = new Random(seed);
        List<List<Long>> histories = histories(random);
        long me = 5;
        long nonce = random.nextLong();
        int maxLength = 60;
        int ownEpoch = random.nextInt(5);
        List<Long> own = new ArrayList<>(prefix(random, histories.get(ownEpoch)));
        List<Long> original = List.copyOf(own);
        Configuration configuration = new Configuration(1, List.of(1L, 2L, 3L, 4L, 5L));
        MemoryLog[] logs = new MemoryLog[5];
        LleAnswer[] answers = new LleAnswer[5];
        RecoverySource[] sources = new RecoverySource[5];
        boolean[] knowsViews = new boolean[5];
        View view = ownView(random, me);
        for (int sid = 1; sid <= 4; sid++) {
            int epoch = random.nextInt(5);
            List<Long> log = prefix(random, histories.get(epoch));
            int purged = random.nextInt(3) == 0 ? random.nextInt(log.size() + 1) : 0;
            logs[sid] = new MemoryLog(log, purged, maxLength);
            LleMap map = LleMap.empty().with(me, Zxid.of(random.nextInt(5), random.nextInt(6)));
            answers[sid] =
                    new LleAnswer(
                            nonce,
                            sid,
                            epoch,
                            logs[sid].epochEnds().last(),
                            map,
                            configuration,
                            Optional.empty(),
                            random.nextBoolean() ? view.seal() : Zxid.of(1, random.nextInt(4)));
            knowsViews[sid] = random.nextInt(4) > 0;
            sources[sid] = new RecoverySource(sid, payload);
        }
        Markers markers = new Markers(Zxid.of(9, 1), 0, LleMap.empty(), view);
        RecoveryProcedure recovery =
                new RecoveryProcedure(
                        me,
                        nonce,
                        new RecoveryProcedure.OnDisk(
                                ownEpoch, epochEnds(own), markers, configuration, Optional.empty()),
                        new RecoveryProcedure.Patience(10, 100),
                        maxLength);
        List<RecoveryMessage> wire = new ArrayList<>();
        List<Long> staged = new ArrayList<>();
        Set<Long> toldView = new HashSet<>();
        RecoveryProcedure.Finish finish = null;
        long now = 0;
        List<RecoveryProcedure.Decision> decisions = recovery.start(now);
        int deadSource = 0;
        for (int step = 0; step < 20_000 && finish == null; step++) {
            for (RecoveryProcedure.Decision decision : decisions) {
                if (decision instanceof RecoveryProcedure.Send send) {
                    int to = (int) send.to();
                    RecoveryMessage request =
                            RecoveryWire.decode(RecoveryWire.encode(send.message()));
                    boolean dropped =
                            request instanceof LleQuery query
                                    && query.withView()
                                    && !knowsViews[to];
                    if (random.nextInt(4) > 0 && to != deadSource && !dropped) {
                        wire.add(reply(request, answers[to], sources[to], logs[to]));
                    }
                } else if (decision instanceof RecoveryProcedure.Truncate truncate) {
                    own.removeIf(zxid -> zxid > truncate.zxid());
                } else if (decision instanceof RecoveryProcedure.StageSnapshot stage) {
                    staged.clear();
                    for (MemoryLog log : List.of(logs[1], logs[2], logs[3], logs[4])) {
                        if (log.epochEnds().base() == stage.zxid() && log.purged > 0) {
                            staged.clear();
                            staged.addAll(log.zxids.subList(0, log.purged));
                        }
                    }
                } else if (decision instanceof RecoveryProcedure.DiscardStaged) {
                    staged.clear();
                } else if (decision instanceof RecoveryProcedure.Append append) {
                    for (Entry entry : append.entries()) {
                        assertThat(entry.transaction())
                                .isEqualTo(transaction(entry.zxid(), maxLength));
                        (append.staged() ? staged : own).add(entry.zxid());
                    }
                } else if (decision instanceof RecoveryProcedure.Finish done) {
                    finish = done;
                }
            }
            if (random.nextInt(200) == 0) {
                deadSource = random.nextInt(5);
            }
            if (!wire.isEmpty() && random.nextBoolean()) {
                RecoveryMessage message = wire.get(random.nextInt(wire.size()));
                if (random.nextInt(4) > 0) {
                    wire.remove(message);
                }
                if (message instanceof LleAnswer lle && lle.ownView() != LleAnswer.NOT_ASKED) {
                    toldView.add(lle.sender());
                }
                decisions = recovery.received(message.sender(), message, now);
            } else {
                now += 3;
                decisions = recovery.tick(now);
            }
        }
        assertThat(finish).as("recovered; now " + recovery.status()).isNotNull();
        List<Long> result = finish.staged() ? staged : own;
        assertThat(epochEnds(result).last()).isEqualTo(finish.lastLogged());
        assertThat(finish.fastSwitch()).isLessThanOrEqualTo(finish.latestOnDisk());
        assertThat(finish.currentEpoch()).isGreaterThanOrEqualTo(Zxid.epoch(finish.lastLogged()));
        assertThat(finish.currentEpoch()).isGreaterThanOrEqualTo(ownEpoch);
        boolean prefixOfSomeSource = result.equals(original);
        for (int sid = 1; sid <= 4; sid++) {
            List<Long> theirs = logs[sid].zxids;
            prefixOfSomeSource |=
                    theirs.size() >= result.size()
                            && theirs.subList(0, result.size()).equals(result);
        }
        assertThat(prefixOfSomeSource).as("" + result).isTrue();
        RecoveryProcedure.Status status = recovery.status();
        long through = Zxid.NONE;
        boolean newer = false;
        for (long sid : status.answered()) {
            LleAnswer answer = answers[(int) sid];
            assertThat(finish.lleMap().get(me)).isGreaterThanOrEqualTo(answer.lleMap().get(me));
            through = Math.max(through, answer.lleMap().get(me));
            newer |= toldView.contains(sid) && answer.ownView() > view.seal();
        }
        List<Long> members = view.isFirst() ? configuration.voters() : view.members();
        long heard = members.stream().filter(sid -> status.answered().contains(sid)).count();
        assertThat(newer || heard >= Quorums.viewQuorum(members.size(), 5))
                .as(status + ", newer view " + newer)
                .isTrue();
        // Its own log was behind: it has all that a source has up to L', or further if it had that
        // before.
        if (status.through() > Zxid.NONE) {
            assertThat(status.through()).isGreaterThanOrEqualTo(through);
            long end = Math.max(status.through(), finish.lastLogged());
            boolean complete = false;
            for (int sid = 1; sid <= 4; sid++) {
                List<Long> theirs = new ArrayList<>(logs[sid].zxids);
                theirs.removeIf(zxid -> zxid > end);
                complete |= theirs.equals(result);
            }
            assertThat(complete).as(result + " of " + status).isTrue();
        }
    }

    /** All voters, or a bare majority at least, with this server among them or not. */
    private static View ownView(Random random, long me) {
        if (random.nextInt(3) == 0) {
            return View.FIRST;
        }
        List<Long> members = new ArrayList<>(List.of(1L, 2L, 3L, 4L, me));
        Collections.shuffle(members, random);
        return new View(
                Zxid.of(1, 1 + random.nextInt(3)), 5, members.subList(0, 3 + random.nextInt(3)));
    }

    /** The zxid of an epoch's beginning is no entry that a source could send. */
    @Example
    void recoversThroughTheBeginningOfAnEpoch() {
        recoversOverALossyChannel(-2616862317L, 5);
    }

    private static RecoveryMessage reply(
            RecoveryMessage request, LleAnswer lle, RecoverySource source, ReadableHistory log) {
        RecoveryMessage reply;
        if (request instanceof LleQuery query) {
            reply = query.withView() ? lle : withoutView(lle);
        } else if (request instanceof EpochEndsRequest r) {
            reply = source.answer(r, log);
        } else if (request instanceof EntriesRequest r) {
            reply = source.answer(r, log);
        } else if (request instanceof SnapshotRequest r) {
            reply = source.answer(r, log);
        } else {
            throw new AssertionError(request);
        }
        return RecoveryWire.decode(RecoveryWire.encode(reply));
    }

    private static LleAnswer withoutView(LleAnswer answer) {
        return new LleAnswer(
                answer.nonce(),
                answer.sender(),
                answer.currentEpoch(),
                answer.lastLogged(),
                answer.lleMap(),
                answer.committed(),
                answer.pending(),
                LleAnswer.NOT_ASKED);
    }

    /** R23: a version without views reads the old forms, byte for byte, and no others. */
    @Example
    void onlyViewsHaveTheNewTypes() {
        Configuration configuration = new Configuration(1, List.of(1L, 2L, 3L));
        LleAnswer answer =
                new LleAnswer(
                        7,
                        2,
                        3,
                        Zxid.of(3, 4),
                        LleMap.empty().with(1, 5),
                        configuration,
                        Optional.empty(),
                        Zxid.of(3, 1));
        ByteBuffer plain = RecoveryWire.encode(withoutView(answer));
        ByteBuffer withView = RecoveryWire.encode(answer);
        int type = 5;
        assertThat(RecoveryWire.encode(new LleQuery(7, 1, false)).get(type)).isEqualTo((byte) 1);
        assertThat(plain.get(type)).isEqualTo((byte) 2);
        assertThat(RecoveryWire.encode(new LleQuery(7, 1, true)).get(type)).isEqualTo((byte) 14);
        assertThat(withView.get(type)).isEqualTo((byte) 15);
        // The view comes last; what is before it is the old form.
        assertThat(withView.getLong(withView.limit() - Long.BYTES)).isEqualTo(Zxid.of(3, 1));
        withView.put(type, (byte) 2).limit(withView.limit() - Long.BYTES);
        assertThat(withView).isEqualTo(plain);
        assertThat(RecoveryWire.decode(withView)).isEqualTo(withoutView(answer));
    }

    @Provide
    Arbitrary<RecoveryMessage> messages() {
        return Arbitraries.longs().map(RecoveryPropertyTest::message);
    }

    private static RecoveryMessage message(long seed) {
        Random random = new Random(seed);
        long nonce = random.nextLong();
        long sender = random.nextInt(256);
        long id = random.nextInt();
        Bytes bytes = Bytes.wrap(new byte[random.nextInt(50)]);
        long zxid = Zxid.of(random.nextInt(4), random.nextInt(9));
        Configuration configuration =
                new Configuration(random.nextInt(), List.of(1L, 2L, (long) random.nextInt(9)));
        switch (random.nextInt(10)) {
            case 0:
                return new LleQuery(nonce, sender, random.nextBoolean());
            case 1:
                return new LleAnswer(
                        nonce,
                        sender,
                        random.nextInt(9),
                        zxid,
                        LleMap.empty().with(1, zxid).with(2, 7),
                        configuration,
                        random.nextBoolean() ? Optional.of(configuration) : Optional.empty(),
                        random.nextBoolean()
                                ? LleAnswer.NOT_ASKED
                                : random.nextBoolean() ? Zxid.NONE : zxid);
            case 2:
                return new EpochEndsRequest(nonce, sender, id);
            case 3:
                return new EpochEndsAnswer(
                        nonce, sender, id, epochEnds(histories(random).get(random.nextInt(5))));
            case 4:
                return new EntriesRequest(nonce, sender, id, zxid, zxid + 5, random.nextInt(9));
            case 5:
                return new EntriesAnswer(
                        nonce,
                        sender,
                        id,
                        List.of(new Entry(zxid, bytes), new Entry(zxid + 1, bytes)),
                        true);
            case 6:
                return new EntryPart(nonce, sender, id, zxid, 100, random.nextInt(50), bytes);
            case 7:
                return new SnapshotRequest(
                        nonce, sender, id, SnapshotRequest.NEWEST, random.nextInt(99));
            case 8:
                return new SnapshotPart(
                        nonce,
                        sender,
                        id,
                        zxid,
                        Compression.GZIP,
                        zxid + 1,
                        1000,
                        random.nextInt(900),
                        bytes);
            default:
                return new Unavailable(
                        nonce, sender, id, random.nextBoolean() ? Reason.GONE : Reason.DIVERGED);
        }
    }
}
