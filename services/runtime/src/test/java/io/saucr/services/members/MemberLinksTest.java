package io.saucr.services.members;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.net.Awaited;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Members that talk over real sockets. */
class MemberLinksTest {

    private final Transport transport = new Transport(1);
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closing : open) {
            closing.close();
        }
        transport.close();
    }

    private Member member(MemberFrame.Hello self) throws IOException {
        return member(self, NetOptions.plain());
    }

    private Member member(MemberFrame.Hello self, NetOptions options) throws IOException {
        Member member = new Member(transport, options, self);
        open.add(member);
        return member;
    }

    private Member member(int number) throws IOException {
        return member(Member.hello("bank", number));
    }

    private static NetOptions options(
            long unsentBytes, long untakenBytes, Duration helloTimeout, Duration silence) {
        NetOptions o = NetOptions.plain();
        return new NetOptions(
                64 << 10,
                unsentBytes,
                untakenBytes,
                2,
                2,
                o.connectTimeout(),
                helloTimeout,
                silence,
                o.backoffMin(),
                o.backoffMax(),
                Optional.empty());
    }

    private static MemberFrame.Segment segment(int bytes, long seed) {
        byte[] body = new byte[bytes];
        new Random(seed).nextBytes(body);
        return new MemberFrame.Segment(ByteBuffer.wrap(body));
    }

    private static MemberFrame.Segment largest() {
        return new MemberFrame.Segment(ByteBuffer.allocate(MemberFrame.SEGMENT_BYTES));
    }

    @Test
    void bothHearOfEachOtherAndAllFramesArriveInOrder() throws IOException {
        Member one = member(1);
        Member two = member(2);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        MemberLink there = one.await(Member.Up.class).link();
        assertThat(up.hello()).isEqualTo(one.self);
        assertThat(up.dialled()).isTrue();
        assertThat(there.hello()).isEqualTo(two.self);
        assertThat(there.dialled()).isFalse();
        assertThat(there.id()).isNotEqualTo(up.id());
        SegmentId id = new SegmentId(3, 4, "ab".repeat(32));
        List<MemberFrame> frames =
                List.of(
                        new MemberFrame.Follow(SegmentId.NONE, 0),
                        new MemberFrame.Follow(id, 2),
                        segment(1, 1),
                        segment(300_000, 2),
                        new MemberFrame.Base(4, 1L << 40, "cd".repeat(32)),
                        new MemberFrame.BasePart(segment(64 << 10, 3).bytes()),
                        new MemberFrame.BaseEnd(),
                        new MemberFrame.Committed(id),
                        new MemberFrame.Written(5),
                        new MemberFrame.Stored(5),
                        new MemberFrame.Fetch(6, 6),
                        new MemberFrame.Missing(6, "gone ∞"),
                        new MemberFrame.NeedsBase(7),
                        segment(64 << 10, 4));
        for (MemberLink link : List.of(up, there)) {
            frames.forEach(link::send);
        }
        for (Member member : List.of(one, two)) {
            Awaited.until("all frames", () -> member.frames().size() == frames.size());
            assertThat(member.frames()).isEqualTo(frames);
            assertThat(member.told.get(0)).isInstanceOf(Member.Up.class);
        }
        Awaited.until("nothing unsent", () -> up.unsentBytes() == 0);
        Awaited.until("heartbeats", () -> up.lastHeartbeat().isPresent());
        up.close("two is tired");
        assertThat(one.await(Member.Down.class).reason())
                .startsWith("member " + two.id() + " at 127.0.0.1:")
                .endsWith("ended the link: two is tired");
        assertThat(two.await(Member.Down.class).reason()).isEqualTo("two is tired");
        // It was dialled, so there is another.
        one.await(Member.Up.class, u -> u.link() != there);
        two.links.leave(one.id());
        one.await(Member.Down.class, d -> d.link() != there);
        Awaited.until("nothing is left", () -> two.links.held() == 0);
    }

    @Test
    void whatTheLinkSendsItselfIsRefused() throws IOException {
        Member one = member(1);
        Member two = member(2);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        assertThatThrownBy(() -> up.send(new MemberFrame.Heartbeat(1, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the link itself sends Heartbeat");
        assertThatThrownBy(() -> up.send(two.self)).isInstanceOf(IllegalArgumentException.class);
        up.send(new MemberFrame.Sorry("enough"));
        assertThat(one.await(Member.Down.class).reason()).endsWith("ended the link: enough");
    }

    @Test
    void membersThatDoNotBelongTogetherSayWhy() throws IOException {
        Member one = member(1);
        Address address = one.listen();
        record Wrong(MemberFrame.Hello other, String reason) {}
        Birth other = new Birth(9, 9);
        for (Wrong wrong :
                List.of(
                        new Wrong(
                                Member.hello("shop", 2),
                                "is a member of service bank, and this one is of shop: correct"
                                        + " the address"),
                        new Wrong(
                                new MemberFrame.Hello(
                                        "bank", Optional.of(other), Member.id(2), 2, 1),
                                "member "
                                        + one.id()
                                        + " at "
                                        + address
                                        + " belongs to generation "
                                        + Member.BIRTH
                                        + " of service bank, and this one to generation "
                                        + other),
                        new Wrong(
                                new MemberFrame.Hello(
                                        "bank", Optional.of(Member.BIRTH), one.id(), 7, 1),
                                "another process says that it is member "
                                        + one.id()
                                        + ", as this one does: its folder is a copy"),
                        new Wrong(
                                new MemberFrame.Hello(
                                        "bank", Optional.of(Member.BIRTH), Member.id(2), 2, 7),
                                "it speaks format 1, this side format 7: run the same release"))) {
            Member two = member(wrong.other());
            two.links.dial(one.id(), address);
            assertThat(two.trouble(one.id(), r -> !r.contains("ended the link")))
                    .contains(wrong.reason());
            assertThat(two.told).isEmpty();
            two.links.leave(one.id());
        }
        one.links.dial(Member.id(3), address);
        assertThat(one.trouble(Member.id(3), r -> !r.contains("ended the link")))
                .isEqualTo("at " + address + " is this member itself: correct the address");
        one.links.leave(Member.id(3));
        Member two = member(2);
        two.links.dial(Member.id(3), address);
        assertThat(two.trouble(Member.id(3)))
                .isEqualTo(
                        "member 0000000000000003 was wanted at "
                                + address
                                + ", and member 0000000000000001 answers there");
        assertThat(one.told).isEmpty();
    }

    /** What the accepting side says to one whom it refuses. */
    @Test
    void whoIsRefusedIsToldWhy() throws Exception {
        Member one = member(1);
        Address address = one.listen();
        MemberCodec codec = new MemberCodec(1);
        Plain plain = new Plain(address, codec);
        open.add(plain);
        plain.send(Member.hello("shop", 2));
        assertThat(plain.read()).isEqualTo(one.self);
        assertThat(((MemberFrame.Sorry) plain.read()).reason())
                .endsWith(
                        "is a member of service shop, and this one is of bank: correct the address");
        Plain silent = new Plain(address, codec);
        open.add(silent);
        silent.send(new MemberFrame.Written(1));
        assertThat(silent.read()).isEqualTo(one.self);
        assertThat(((MemberFrame.Sorry) silent.read()).reason())
                .endsWith("sent Written before it said who it is");
        Plain twice = new Plain(address, codec);
        open.add(twice);
        twice.send(Member.hello("bank", 2));
        twice.send(Member.hello("bank", 2));
        assertThat(one.await(Member.Down.class).reason()).endsWith("says again who it is");
    }

    @Test
    void aBirthThatBecomesKnownIsSaidAndEndsLinksWithOthers() throws IOException {
        Member one = member(1);
        Address address = one.listen();
        Member two = member(new MemberFrame.Hello("bank", Optional.empty(), Member.id(2), 2, 1));
        two.links.dial(one.id(), address);
        two.await(Member.Up.class);
        assertThat(one.await(Member.Up.class).link().hello().birth()).isEmpty();
        Birth other = new Birth(9, 9);
        two.links.birth(other);
        assertThat(two.await(Member.Down.class).reason()).contains("belongs to generation");
        assertThat(one.await(Member.Down.class).reason()).contains("belongs to generation");
        two.trouble(one.id(), r -> r.contains("and this one to generation " + other));
        two.links.birth(other);
        assertThatThrownBy(() -> two.links.birth(Member.BIRTH))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("this member belongs to generation " + other);
    }

    /** Heartbeats go between the pieces of a segment, not behind it. */
    @Test
    void heartbeatsArriveWhileALargeSegmentDoes() throws IOException {
        Member one = member(1);
        Member two = member(2);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        MemberLink there = one.await(Member.Up.class).link();
        MemberFrame.Segment large = segment(100 << 20, 5);
        int sent = 0;
        long newest = 0;
        int during = 0;
        // As many segments as it takes until five have arrived in the midst of one.
        while (during < 5) {
            sent++;
            up.send(large);
            while (one.frames().size() < sent) {
                long beat = there.lastHeartbeat().map(MemberFrame.Heartbeat::state).orElse(0L);
                if (beat != newest && up.unsentBytes() > 0) {
                    newest = beat;
                    during++;
                }
                Thread.onSpinWait();
            }
        }
        assertThat(one.frames()).allMatch(large::equals);
    }

    /** The silence that its own full hands cause is not the other member's. */
    @Test
    void whileTheListenerTakesNothingNothingIsReadAndSilenceSaysNothing() throws Exception {
        NetOptions options =
                options(256 << 20, 4 << 10, Duration.ofSeconds(10), Duration.ofMillis(100));
        Member one = member(Member.hello("bank", 1), options);
        Member two = member(Member.hello("bank", 2), options);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        MemberLink there = one.await(Member.Up.class).link();
        CountDownLatch hold = new CountDownLatch(1);
        one.turns.execute(() -> awaitQuietly(hold));
        MemberFrame.Segment segment = segment(1 << 20, 6);
        for (int i = 0; i < 64; i++) {
            up.send(segment);
        }
        Awaited.until("it stops to read", () -> isNow(there));
        long stuck = up.unsentBytes();
        assertThat(stuck).isGreaterThan(1 << 20);
        // Longer than the silence for which a member is given up, by what the other one says.
        long beats = up.lastHeartbeat().map(MemberFrame.Heartbeat::state).orElse(0L);
        Awaited.until("beats", () -> up.lastHeartbeat().get().state() > beats + 5);
        assertThat(one.frames()).isEmpty();
        hold.countDown();
        Awaited.until("all", () -> one.frames().size() == 64);
        two.await(Member.Writable.class);
        assertThat(one.told).noneMatch(Member.Down.class::isInstance);
    }

    /** As a base whose disk is slow: all of it would wait in memory. */
    @Test
    void whileMuchIsHeldNothingIsRead() throws Exception {
        NetOptions options =
                options(256 << 20, 4 << 20, Duration.ofSeconds(10), Duration.ofMillis(100));
        Member one = member(Member.hello("bank", 1), options);
        Member two = member(Member.hello("bank", 2), options);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        MemberLink there = one.await(Member.Up.class).link();
        there.hold(5 << 20);
        MemberFrame.Segment segment = segment(1 << 20, 6);
        for (int i = 0; i < 64; i++) {
            up.send(segment);
        }
        Awaited.until("it stops to read", () -> isNow(there));
        assertThat(up.unsentBytes()).isGreaterThan(1 << 20);
        there.release(5 << 20);
        Awaited.until("all", () -> one.frames().size() == 64);
        assertThat(one.told).noneMatch(Member.Down.class::isInstance);
    }

    private static boolean isNow(MemberLink link) {
        long before = System.nanoTime();
        return link.lastHeardNanos() - before >= 0;
    }

    private static void awaitQuietly(CountDownLatch hold) {
        try {
            hold.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whoTakesTooLittleIsGivenUp() throws Exception {
        NetOptions options =
                options(128 << 10, 4 << 10, Duration.ofSeconds(10), Duration.ofSeconds(10));
        Member one = member(Member.hello("bank", 1));
        Member two = member(Member.hello("bank", 2), options);
        Address address = one.listen();
        two.links.dial(one.id(), address);
        MemberLink up = two.await(Member.Up.class).link();
        CountDownLatch hold = new CountDownLatch(1);
        one.turns.execute(() -> awaitQuietly(hold));
        // Any size is taken while little waits.
        MemberFrame.Segment large = largest();
        up.send(large);
        up.send(new MemberFrame.Written(1));
        assertThat(two.await(Member.Down.class).reason())
                .startsWith("member " + one.id() + " at " + address + " takes too little: ")
                .endsWith(" bytes wait for the network, and unsentBytes is 131072");
        two.links.leave(one.id());
        hold.countDown();
        one.await(Member.Down.class);
        assertThat(one.frames()).isEmpty();
    }

    @Test
    void aFloodOfSmallFramesArrivesOrEndsTheLink() throws Exception {
        Member one = member(1);
        Member two = member(2);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        long count = 20_000;
        for (long i = 1; i <= count; i++) {
            up.send(new MemberFrame.Stored(i));
        }
        Awaited.until("all", () -> one.frames().contains(new MemberFrame.Stored(count)));
        assertThat(one.frames())
                .isEqualTo(
                        LongStream.rangeClosed(1, count)
                                .mapToObj(MemberFrame.Stored::new)
                                .toList());
    }

    /** A segment of which a part came is none. */
    @Test
    void aLinkThatIsCutInASegmentDeliversNothingOfIt() throws Exception {
        Member one = member(1);
        MemberCodec codec = new MemberCodec(1);
        Plain plain = new Plain(one.listen(), codec);
        open.add(plain);
        plain.send(Member.hello("bank", 2));
        plain.send(new MemberFrame.Written(1));
        plain.sendPieces(segment(1 << 20, 8), 10);
        // What the other end said is not read: to close may take back what it has not read itself.
        Awaited.until("the first one", () -> !one.frames().isEmpty());
        plain.socket.close();
        assertThat(one.await(Member.Down.class).reason())
                .contains("member " + Member.id(2) + " at 127.0.0.1:");
        assertThat(one.frames()).containsExactly(new MemberFrame.Written(1));
    }

    @Test
    void badBytesEndTheLinkAndTheOtherIsToldWhatCame() throws Exception {
        Member one = member(1);
        Address address = one.listen();
        MemberCodec codec = new MemberCodec(1);
        Plain plain = new Plain(address, codec);
        open.add(plain);
        plain.send(Member.hello("bank", 2));
        plain.sendPieces(segment(1 << 20, 9), 1);
        plain.send(new MemberFrame.Written(1));
        assertThat(one.await(Member.Down.class).reason())
                .endsWith(
                        "sent what is no frame: Written after 65536 of the 1048576 bytes of a"
                                + " segment");
        Plain http = new Plain(address, null);
        open.add(http);
        http.out.write("GET / HTTP/1.1\r\n\r\n".getBytes(UTF_8));
        assertThat(new String(http.rest(), UTF_8)).contains("it speaks HTTP");
    }

    @Test
    void whoMovesIsFollowed() throws IOException {
        Member two = member(2);
        Member one = member(1);
        Address first = one.listen();
        Address second = one.listen();
        two.links.dial(one.id(), first);
        MemberLink up = two.await(Member.Up.class).link();
        two.links.dial(one.id(), first);
        two.links.dial(one.id(), second);
        assertThat(two.await(Member.Down.class).link()).isSameAs(up);
        assertThat(two.await(Member.Up.class, u -> u.link() != up).link().remote())
                .isEqualTo(second.toString());
        // Nobody is there at first; the back-off does not outlast the address.
        two.links.dial(one.id(), new Address("127.0.0.1", closedPort()));
        two.trouble(one.id());
        two.links.dial(one.id(), first);
        two.await(
                Member.Up.class, u -> u.link() != up && u.link().remote().equals(first.toString()));
        assertThatThrownBy(() -> two.links.dial(one.id(), new Address("127.0.0.1", 0)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> two.links.dial("one", first))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a member is 16 hexadecimal digits in lower case, not \"one\"");
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void whoAcceptsAndSaysNothingIsGivenUp() throws IOException {
        NetOptions options =
                options(128 << 10, 4 << 10, Duration.ofMillis(100), Duration.ofMillis(200));
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Member two = member(Member.hello("bank", 2), options);
            Address address = new Address("127.0.0.1", silent.getLocalPort());
            two.links.dial(Member.id(1), address);
            assertThat(two.trouble(Member.id(1)))
                    .isEqualTo(
                            "member "
                                    + Member.id(1)
                                    + " at "
                                    + address
                                    + " did not say who it is within 100 ms; is that a member's"
                                    + " port, and does it use TLS as this side does?");
            assertThat(two.told).isEmpty();
            // And who is accepted and says nothing, before its hello or after it.
            Address own = two.listen();
            Plain mute = new Plain(own, null);
            open.add(mute);
            assertThat(new String(mute.rest(), UTF_8))
                    .contains("did not say who it is within 100 ms");
            Plain known = new Plain(own, new MemberCodec(1));
            open.add(known);
            known.send(Member.hello("bank", 3));
            assertThat(two.await(Member.Down.class).reason())
                    .startsWith("nothing was heard from member " + Member.id(3))
                    .endsWith("for 200 ms");
        }
    }

    @Test
    void strangersAndMembersAreBounded() throws Exception {
        Member one =
                member(
                        Member.hello("bank", 1),
                        options(
                                128 << 10,
                                4 << 10,
                                Duration.ofSeconds(10),
                                Duration.ofSeconds(10)));
        Address address = one.listen();
        List<Plain> strangers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Plain plain = new Plain(address, new MemberCodec(1));
            open.add(plain);
            strangers.add(plain);
            // It is known before the next one comes.
            assertThat(plain.read()).isEqualTo(one.self);
        }
        assertThat(((MemberFrame.Sorry) strangers.get(0).read()).reason())
                .isEqualTo(
                        "more than 2 connections have not identified themselves (the setting"
                                + " `strangers`)");
        strangers.get(1).send(Member.hello("bank", 2));
        strangers.get(2).send(Member.hello("bank", 3));
        Awaited.until(
                "two", () -> one.told.stream().filter(Member.Up.class::isInstance).count() == 2);
        Plain third = new Plain(address, new MemberCodec(1));
        open.add(third);
        third.send(Member.hello("bank", 4));
        assertThat(third.read()).isEqualTo(one.self);
        assertThat(((MemberFrame.Sorry) third.read()).reason())
                .endsWith("has its 2 connections already (connections)");
    }

    @Test
    void closingWhileSegmentsAreSentIsTold() throws Exception {
        Member one = member(1);
        Member two = member(2);
        Address address = one.listen();
        two.links.dial(one.id(), address);
        MemberLink up = two.await(Member.Up.class).link();
        CountDownLatch hold = new CountDownLatch(1);
        one.turns.execute(() -> awaitQuietly(hold));
        up.send(largest());
        hold.countDown();
        two.links.close();
        assertThat(two.await(Member.Down.class).reason()).contains("0002 of bank");
        assertThat(one.await(Member.Down.class).link().hello()).isEqualTo(two.self);
        assertThat(two.links.held()).isZero();
        two.links.dial(one.id(), address);
        assertThatThrownBy(two::listen)
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith("has ended and listens no more");
        assertThat(two.links.unreachable()).isEmpty();
        // What ended says nothing more.
        up.send(new MemberFrame.Written(1));
        assertThat(one.frames()).noneMatch(MemberFrame.Written.class::isInstance);
    }

    @Test
    void withoutAListenerLinksEnd() throws Exception {
        Member one = member(1);
        Member two = member(2);
        two.links.dial(one.id(), one.listen());
        two.await(Member.Up.class);
        one.await(Member.Up.class);
        one.turns.shutdownNow();
        two.await(Member.Down.class);
    }

    @Test
    void aHeartbeatThatFailsEndsTheLink() throws Exception {
        Member one = member(1);
        Member two = member(2);
        MemberLinks failing =
                MemberLinks.open(
                        transport,
                        NetOptions.plain(),
                        Member.hello("bank", 3),
                        two,
                        two.turns,
                        () -> {
                            throw new IllegalStateException("no heart");
                        });
        open.add(failing);
        failing.dial(one.id(), one.listen());
        assertThat(two.await(Member.Down.class).reason())
                .endsWith("failed on this side: java.lang.IllegalStateException: no heart");
        one.await(Member.Down.class);
        assertThat(two.told.get(0)).isInstanceOf(Member.Up.class);
    }

    /** A gap would pass for what was sent: nothing comes behind it. */
    @Test
    void aListenerThatFailsOnAFrameEndsTheLink() throws Exception {
        Member one = member(1);
        Member two = member(2);
        MemberListener failing =
                new MemberListener() {
                    @Override
                    public void up(MemberLink link) {
                        two.up(link);
                    }

                    @Override
                    public void frame(MemberLink link, MemberFrame frame) {
                        two.frame(link, frame);
                        if (frame.equals(new MemberFrame.Written(2))) {
                            throw new IllegalStateException("no room");
                        }
                    }

                    @Override
                    public void down(MemberLink link, String reason) {
                        two.down(link, reason);
                    }
                };
        List<RuntimeException> thrown = new CopyOnWriteArrayList<>();
        MemberLinks links =
                MemberLinks.open(
                        transport,
                        NetOptions.plain(),
                        Member.hello("bank", 3),
                        failing,
                        call ->
                                two.turns.execute(
                                        () -> {
                                            try {
                                                call.run();
                                            } catch (RuntimeException e) {
                                                thrown.add(e);
                                            }
                                        }),
                        () -> new MemberFrame.Heartbeat(0, 0));
        open.add(links);
        links.dial(one.id(), one.listen());
        MemberLink there = one.await(Member.Up.class).link();
        for (int i = 1; i <= 200; i++) {
            there.send(new MemberFrame.Written(i));
        }
        assertThat(two.await(Member.Down.class).reason())
                .endsWith("failed on this side: java.lang.IllegalStateException: no room");
        links.leave(one.id());
        assertThat(one.await(Member.Down.class).reason()).contains("no room");
        // The executor sees it, too.
        assertThat(thrown).singleElement().isInstanceOf(IllegalStateException.class);
        assertThat(two.frames())
                .containsExactly(new MemberFrame.Written(1), new MemberFrame.Written(2));
    }

    @Test
    void aPortInUseIsSaid() throws Exception {
        Member one = member(1);
        try (ServerSocket taken = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(
                            () -> one.links.listen(new Address("127.0.0.1", taken.getLocalPort())))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("member 0000000000000001 of bank cannot listen at");
            assertThat(new Socket(taken.getInetAddress(), taken.getLocalPort()))
                    .satisfies(Socket::close);
        }
    }
}
