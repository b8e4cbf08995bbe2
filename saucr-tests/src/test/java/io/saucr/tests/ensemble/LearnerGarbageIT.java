package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting.Disk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.quorum.QuorumPacket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Garbage on a connection between a leader and a follower that has synchronised, in both
 * directions, while clients write: notices of restarts, heartbeats and their answers, acks of
 * entries that were never proposed, tags (R1, R9, R20). At worst that connection ends. Then the
 * follower returns, fast mode too, and nothing that was acknowledged is missing.
 */
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LearnerGarbageIT {
    private static final int RESTART_NOTICE = -0x53415543;
    private static final int STILL_FOLLOWING = RESTART_NOTICE - 1;
    private static final int PACKETS = 1_000_000;
    private static final int BATCH = 1_000;
    private static final int BATCHES_BEFORE_A_REAL_SERVER_IS_NAMED = 200;
    private static final int MOST_LOG_BYTES = 8 << 20;

    private static SaucrEnsemble ensemble;
    private static LearnerCable cable;
    private static int leader;
    private static int follower;
    private static int other;

    private final Random random = new Random(23);

    @BeforeAll
    static void aCableBetweenTheLeaderAndAFollower() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("learner-garbage", 3)
                                .set("saucr.heartbeatInterval", "200ms")
                                .set("saucr.missedHeartbeatsBeforeElection", "100")
                                .set("syncLimit", "40")
                                // A follower that returns is sent packets, not a snapshot.
                                .set("commitLogCount", "100000")
                                .disk(Disk.SHIM_WITH_JOURNAL));
        leader = ensemble.awaitFast();
        follower = ensemble.followers().get(0);
        other = ensemble.followers().get(1);
        int port = ensemble.server(leader).address().quorumPort();
        cable = new LearnerCable(port);
        ensemble.kill(follower);
        ensemble.shim(follower).detours(Map.of(port, cable.port()));
        ensemble.restart(follower);
        ensemble.awaitServing();
        ensemble.awaitFast();
    }

    @AfterAll
    static void stop() throws IOException {
        ensemble.close();
        cable.close();
    }

    private interface Action {
        void run(AckedWrites writes) throws Exception;
    }

    /** Sends garbage while clients write; then all must be as before. */
    private static void doesNoHarm(String name, Action garbage) throws Exception {
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader, other), name, 4)) {
            writes.awaitMore(50);
            garbage.run(writes);
            writes.awaitMore(50);
            ensemble.awaitServing();
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            writes.awaitMore(50);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
        for (int id : ensemble.all()) {
            assertThat(Files.size(ensemble.server(id).logFile())).isLessThan(MOST_LOG_BYTES);
            assertThat(Files.readString(ensemble.server(id).logFile()))
                    .doesNotContain("OutOfMemoryError");
        }
    }

    /** Waits for a follower to be connected, if none is, and sends. */
    private static void toLeader(byte[] packets) {
        SaucrEnsemble.await("a connection to the leader", () -> sent(true, packets));
    }

    private static void toFollower(byte[] packets) {
        SaucrEnsemble.await("a connection to the follower", () -> sent(false, packets));
    }

    private static boolean sent(boolean toLeader, byte[] packets) {
        try {
            if (toLeader) {
                cable.sendToLeader(packets);
            } else {
                cable.sendToFollower(packets);
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static byte[] notice(long sid, int nonce) {
        byte[] notice = new byte[Long.BYTES + 2 * Integer.BYTES];
        ByteBuffer.wrap(notice).putLong(sid).putInt(nonce).putInt(RESTART_NOTICE);
        return notice;
    }

    private static byte[] request(byte[] data) throws IOException {
        return LearnerCable.bytes(new QuorumPacket(LearnerCable.REQUEST, -1, data, null));
    }

    private long stranger() {
        long sid = random.nextInt(4) == 0 ? random.nextInt(300) : random.nextLong();
        return sid > 0 && sid <= 3 ? -sid : sid;
    }

    private byte[] noise(int most) {
        byte[] noise = new byte[random.nextInt(most)];
        random.nextBytes(noise);
        return noise;
    }

    @Tag("long")
    @Test
    @Order(1)
    void r20AMillionNoticesOfStrangersAndSomeOfEachOfUs() throws Exception {
        doesNoHarm(
                "/notices",
                writes -> {
                    int[] real = {follower, other, leader};
                    int named = 0;
                    for (int batch = 0; batch < PACKETS / BATCH; batch++) {
                        ByteArrayOutputStream packets = new ByteArrayOutputStream();
                        for (int i = 0; i < BATCH; i++) {
                            packets.write(request(notice(stranger(), random.nextInt())));
                        }
                        toLeader(packets.toByteArray());
                        if (batch % BATCHES_BEFORE_A_REAL_SERVER_IS_NAMED == 7) {
                            int sid = real[named++ % real.length];
                            LocalTime before = SaucrEnsemble.now();
                            toLeader(request(notice(sid, random.nextInt())));
                            String closed = "Server " + sid + " has restarted";
                            SaucrEnsemble.await(
                                    "the notice",
                                    () ->
                                            sid == leader
                                                    || !ensemble.log(leader, before, closed)
                                                            .isEmpty());
                            ensemble.awaitServing();
                            ensemble.awaitFast();
                        }
                    }
                    assertThat(named).isGreaterThan(real.length);
                });
    }

    @Test
    @Order(2)
    void acksOfEntriesThatNobodyProposed() throws Exception {
        doesNoHarm(
                "/acks",
                writes -> {
                    long future = 1L << 40;
                    for (int batch = 0; batch < PACKETS / BATCH / 10; batch++) {
                        ByteArrayOutputStream packets = new ByteArrayOutputStream();
                        for (int i = 0; i < BATCH; i++) {
                            long zxid =
                                    switch (random.nextInt(3)) {
                                        case 0 -> -1 - (random.nextLong() >>> 1);
                                        case 1 -> Long.MAX_VALUE - random.nextInt(1000);
                                        default -> future + random.nextInt();
                                    };
                            packets.write(
                                    LearnerCable.bytes(
                                            new QuorumPacket(LearnerCable.ACK, zxid, null, null)));
                        }
                        toLeader(packets.toByteArray());
                    }
                });
    }

    @Test
    @Order(3)
    void damagedNoticesAndAnswersToHeartbeats() throws Exception {
        List<byte[]> packets = new ArrayList<>();
        byte[] notice = notice(other, 7);
        for (int length : new int[] {0, 15}) {
            byte[] cut = new byte[length];
            System.arraycopy(notice, 0, cut, 0, length);
            packets.add(request(cut));
        }
        packets.add(request(null));
        packets.add(LearnerCable.bytes(new QuorumPacket(LearnerCable.PING, -1, null, null)));
        packets.add(LearnerCable.bytes(new QuorumPacket(LearnerCable.PING, -1, new byte[7], null)));
        byte[] wildLength =
                LearnerCable.bytes(new QuorumPacket(LearnerCable.PING, -1, notice, null));
        ByteBuffer.wrap(wildLength).putInt(Integer.BYTES + Long.BYTES, Integer.MAX_VALUE);
        packets.add(wildLength);
        doesNoHarm(
                "/damaged",
                writes -> {
                    for (byte[] packet : packets) {
                        LocalTime before = SaucrEnsemble.now();
                        toLeader(packet);
                        SaucrEnsemble.await(
                                "the end of the connection",
                                () -> !ensemble.log(leader, before, "GOODBYE").isEmpty());
                        ensemble.awaitFast();
                    }
                });
    }

    @Test
    @Order(4)
    void r9WildHeartbeats() throws Exception {
        doesNoHarm(
                "/heartbeats",
                writes -> {
                    LocalTime before = SaucrEnsemble.now();
                    for (int batch = 0; batch < PACKETS / BATCH / 10; batch++) {
                        ByteArrayOutputStream packets = new ByteArrayOutputStream();
                        for (int i = 0; i < BATCH; i++) {
                            packets.write(heartbeat());
                        }
                        toFollower(packets.toByteArray());
                    }
                    writes.awaitMore(50);
                    assertThat(ensemble.log(follower, before, "New election")).isEmpty();
                });
    }

    private byte[] heartbeat() throws IOException {
        String text = new String(noise(60), StandardCharsets.ISO_8859_1);
        List<Id> info =
                switch (random.nextInt(5)) {
                    case 0 -> null;
                    case 1 -> List.of();
                    case 2 -> List.of(new Id("saucr", text));
                    case 3 -> List.of(new Id(text, text), new Id("saucr", "1;F;1;"));
                    default -> List.of(new Id(null, null));
                };
        return LearnerCable.bytes(
                new QuorumPacket(LearnerCable.PING, random.nextLong(), noise(40), info));
    }

    @Test
    @Order(5)
    void r1TagsThatAreNone() throws Exception {
        String tooMany =
                "1;S;1,2,3;"
                        + LongStream.range(1000, 1300)
                                .mapToObj(sid -> sid + "=1")
                                .collect(Collectors.joining(","));
        doesNoHarm(
                "/tags",
                writes -> {
                    for (String text :
                            List.of(
                                    "2;S;1,2,3;",
                                    "1;S;3,2,1;",
                                    tooMany,
                                    new String(noise(60), StandardCharsets.ISO_8859_1))) {
                        LocalTime before = SaucrEnsemble.now();
                        cable.mark(List.of(new Id("saucr", text)));
                        SaucrEnsemble.await(
                                "a follower that leaves a leader who says " + text,
                                () -> !ensemble.log(follower, before, "New election").isEmpty());
                        ensemble.awaitFast();
                    }
                });
    }

    /** A well-formed tag that is wrong: it names servers and entries that do not exist. */
    @Tag("long")
    @Test
    @Order(6)
    void r8WhatAWildTagTeachesOutlivesCrashesAndDoesNoHarm() throws Exception {
        doesNoHarm(
                "/taught",
                writes -> {
                    String wild = "1;F;1,2,3,77;99=7fffffffffffffff";
                    cable.mark(List.of(new Id("saucr", wild)));
                    SaucrEnsemble.await("a proposal", () -> !cable.marking());
                    writes.awaitMore(50);
                    ensemble.terminate(follower);
                    assertThat(ensemble.markers(follower).lleMap().get(99))
                            .isEqualTo(Long.MAX_VALUE);
                    ensemble.restart(follower);
                    ensemble.awaitServing();
                    ensemble.awaitFast();
                    writes.awaitMore(50);
                    LocalTime before = ensemble.losePowerInFastMode(follower);
                    ensemble.restart(follower);
                    ensemble.awaitServing();
                    assertThat(ensemble.log(follower, before, "Recovered through")).isNotEmpty();
                });
    }

    @Test
    @Order(7)
    void r22AnswersToQuestionsThatNobodyAsked() throws Exception {
        doesNoHarm(
                "/answers",
                writes -> {
                    try (Client client = ensemble.connect(other)) {
                        for (int batch = 0; batch < PACKETS / BATCH / 10; batch++) {
                            ByteArrayOutputStream packets = new ByteArrayOutputStream();
                            for (int i = 0; i < BATCH; i++) {
                                byte[] answer = new byte[Long.BYTES + 2 * Integer.BYTES];
                                ByteBuffer.wrap(answer)
                                        .putLong(random.nextLong())
                                        .putInt(random.nextInt())
                                        .putInt(STILL_FOLLOWING);
                                packets.write(request(answer));
                            }
                            toLeader(packets.toByteArray());
                            client.sync("/");
                        }
                    }
                });
    }

    @Test
    @Order(8)
    void r20R22NoClientCanSpeakForAServer() throws Exception {
        for (int id : ensemble.all()) {
            int port = ensemble.server(id).address().clientPort();
            for (int type : new int[] {RESTART_NOTICE, STILL_FOLLOWING}) {
                try (RawSession session = RawSession.ask(port, 10_000)) {
                    assertThat(session.awaitSession()).isNotZero();
                    session.request(type);
                    assertThat(session.awaitAnswer()).isEqualTo(Code.UNIMPLEMENTED.intValue());
                }
            }
        }
        assertThat(ensemble.awaitFast()).isEqualTo(leader);
    }
}
