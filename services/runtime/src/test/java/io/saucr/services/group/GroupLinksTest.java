package io.saucr.services.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.net.Awaited;
import io.saucr.services.net.Keys;
import io.saucr.services.net.TrustsAnybody;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.SilentFor;
import io.saucr.services.wire.TlsOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Links between members of a group and their coordinator. */
class GroupLinksTest {

    private static final String GROUP = "/groups/travel";
    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    private final Transport transport = new Transport(2);
    private final List<AutoCloseable> open = new ArrayList<>();

    /** One process: its links, and what its listener heard. */
    private final class Side implements GroupListener {

        final List<GroupLink> up = new CopyOnWriteArrayList<>();
        final List<GroupFrame> frames = new CopyOnWriteArrayList<>();
        final List<String> down = new CopyOnWriteArrayList<>();
        final ExecutorService turns = Executors.newSingleThreadExecutor();
        final GroupLinks links;

        Side(NetOptions options, String group, String name, int start) throws IOException {
            GroupFrame.Hello self =
                    new GroupFrame.Hello(
                            group, name, new Incarnation(new Birth(1, 2), start, start));
            links = GroupLinks.open(transport, options, self, this, turns);
            open.add(
                    () -> {
                        links.close();
                        turns.shutdownNow();
                    });
        }

        Address listen() throws IOException {
            return links.listen(new Address("127.0.0.1", 0));
        }

        @Override
        public void up(GroupLink link) {
            up.add(link);
        }

        @Override
        public void heard(GroupLink link, GroupFrame.Up frame) {
            frames.add(frame);
        }

        @Override
        public void heard(GroupLink link, GroupFrame.Down frame) {
            frames.add(frame);
        }

        @Override
        public void down(GroupLink link, String reason) {
            down.add(reason);
        }

        GroupLink awaitUp() {
            return awaitUp(0);
        }

        GroupLink awaitUp(int number) {
            return Awaited.until(
                    () -> up.size() > number ? Optional.of(up.get(number)) : Optional.empty(),
                    () -> "none of " + up + ", " + links.unreachable());
        }

        String awaitDown() {
            return Awaited.until(() -> down.stream().findFirst(), () -> "none ended of " + up);
        }

        String trouble(String name) {
            return Awaited.until(
                    () -> Optional.ofNullable(links.unreachable().get(name)),
                    () -> name + " can be reached");
        }
    }

    private Side side(String name) throws IOException {
        return new Side(NetOptions.plain(), GROUP, name, 1);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        transport.close();
    }

    @Test
    void aMemberAndItsCoordinatorTalk() throws Exception {
        Side leader = side("trips");
        Side member = side("hotels");
        member.links.dial("trips", leader.listen());
        GroupLink up = member.awaitUp();
        GroupLink down = leader.awaitUp();
        assertThat(up.dialled()).isTrue();
        assertThat(up.hello().member()).isEqualTo("trips");
        assertThat(down.dialled()).isFalse();
        assertThat(down.hello().member()).isEqualTo("hotels");

        List<GroupFrame> said = new ArrayList<>();
        List<Sealed> versions = new ArrayList<>();
        for (int version = 1; version <= 5_000; version++) {
            versions.add(new Sealed(3, version, VersionVector.of(version)));
        }
        said.add(new GroupFrame.Lists(new Listing(3, 0, versions, VersionVector.NONE), true));
        said.add(new GroupFrame.Reports(3, List.of(new Sealed(3, 5_001, VersionVector.of(1)))));
        said.add(new GroupFrame.Leaves(5_001));
        said.forEach(up::send);
        List<GroupFrame> answers =
                List.of(
                        new GroupFrame.Decided(2, new Decision(4, VersionVector.of(1, 2))),
                        new GroupFrame.Admitted(2, new Decision(4, VersionVector.of(1, 2))),
                        new GroupFrame.Boundary(2, 4, VersionVector.of(1, 3)),
                        new GroupFrame.Left(2),
                        new GroupFrame.Refused("an old copy"));
        answers.forEach(down::send);
        Awaited.until("all was heard", () -> leader.frames.size() == 3);
        Awaited.until("all was heard", () -> member.frames.size() == 5);
        assertThat(leader.frames).isEqualTo(said);
        assertThat(member.frames).isEqualTo(answers);

        assertThatThrownBy(() -> up.send(new GroupFrame.Left(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a member does not send Left");
        assertThatThrownBy(() -> down.send(new GroupFrame.Leaves(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a coordinator does not send Leaves");
        down.close("epoch 2 is over");
        assertThat(member.awaitDown()).endsWith("ended the link: epoch 2 is over");
        // It is dialled again.
        member.awaitUp(1);
    }

    @Test
    void anIdleLinkStaysAndASilentOneEnds() throws Exception {
        NetOptions options = SilentFor.options(Duration.ofMillis(400));
        Side leader = new Side(options, GROUP, "trips", 1);
        Side member = new Side(options, GROUP, "hotels", 1);
        Address address = leader.listen();
        member.links.dial("trips", address);
        member.awaitUp();
        GroupLink of = leader.awaitUp();
        // One that says who it is and nothing after that.
        try (Socket silent = socket(address)) {
            silent.getOutputStream().write(bytes(GroupCodec.preface(ALLOC)));
            silent.getOutputStream().write(bytes(GroupCodec.write(hello("cars"), ALLOC)));
            leader.awaitUp(1);
            assertThat(leader.awaitDown())
                    .startsWith("nothing was heard from cars at ")
                    .endsWith(" for 400 ms");
        }
        // Meanwhile the other two were as silent, apart from heartbeats.
        assertThat(leader.down).hasSize(1);
        of.send(new GroupFrame.Left(1));
        Awaited.until("it is heard", () -> member.frames.size() == 1);
        assertThat(member.down).isEmpty();
    }

    @Test
    void theWrongOnesAreRefusedByName() throws Exception {
        Side leader = side("trips");
        Address address = leader.listen();
        Side other = new Side(NetOptions.plain(), "/groups/a", "hotels", 1);
        other.links.dial("trips", address);
        assertThat(other.trouble("trips"))
                .isEqualTo(
                        "at "
                                + address
                                + " is a member of the group "
                                + GROUP
                                + ", and this one is of /groups/a: correct the address");
        Side wants = side("hotels");
        wants.links.dial("cars", address);
        assertThat(wants.trouble("cars"))
                .isEqualTo("cars was wanted at " + address + ", and trips answers there");
        Side copy = new Side(NetOptions.plain(), GROUP, "trips", 2);
        copy.links.dial("trips", address);
        assertThat(copy.trouble("trips")).contains("another process says that it is trips");
        assertThat(leader.up).isEmpty();
    }

    private static GroupFrame.Hello hello(String name) {
        return new GroupFrame.Hello(GROUP, name, new Incarnation(new Birth(1, 2), 1, 1));
    }

    private static byte[] bytes(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }

    private static Socket socket(Address address) throws IOException {
        return new Socket(InetAddress.getByName(address.host()), address.port());
    }

    /** What the other side says to that, to the end. */
    private static String said(Address address, byte[]... parts) throws IOException {
        try (Socket socket = socket(address)) {
            for (byte[] part : parts) {
                socket.getOutputStream().write(part);
            }
            return new String(socket.getInputStream().readAllBytes(), UTF_8);
        }
    }

    @Test
    void hostileBytesEndTheirLinkAlone() throws Exception {
        Side leader = side("trips");
        Address address = leader.listen();
        Side member = side("hotels");
        member.links.dial("trips", address);
        GroupLink up = member.awaitUp();
        byte[] preface = bytes(GroupCodec.preface(ALLOC));
        byte[] hello = bytes(GroupCodec.write(hello("cars"), ALLOC));
        assertThat(said(address, "GET / HTTP/1.1\r\n\r\n".getBytes(UTF_8)))
                .contains("it speaks HTTP");
        assertThat(said(address, preface, new byte[] {1, 0, 0, 0})).contains("5 to 4096 bytes");
        assertThat(said(address, preface, bytes(GroupCodec.write(new GroupFrame.Leaves(1), ALLOC))))
                .contains("before it said who it is");
        assertThat(said(address, preface, hello, hello)).contains("says again who it is");
        assertThat(
                        said(
                                address,
                                preface,
                                hello,
                                bytes(GroupCodec.write(new GroupFrame.Left(1), ALLOC))))
                .contains("sent Left, which only a coordinator sends");
        assertThat(said(address, preface, hello, new byte[] {127, 0, 0, 0}))
                .contains("5 to 16777216 bytes");
        Random random = new Random(1);
        for (int times = 0; times < 100; times++) {
            byte[] noise = new byte[200];
            random.nextBytes(noise);
            // A length that nobody fulfils would wait for the rest.
            noise[0] |= (byte) 0x40;
            assertThat(said(address, preface, random.nextBoolean() ? hello : new byte[0], noise))
                    .contains("a frame has 5 to ");
        }
        up.send(new GroupFrame.Leaves(7));
        Awaited.until("the link stands", () -> leader.frames.contains(new GroupFrame.Leaves(7)));
        assertThat(member.down).isEmpty();
    }

    @Test
    void withTlsACertificateBearsTheNameOfTheService(@TempDir Path folder) throws Exception {
        Keys keys = new Keys(folder);
        Path trips = keys.make("trips", "CN=trips");
        Path hotels = keys.make("hotels", "CN=hotels");
        Path trusted = keys.trust("trusted", trips, hotels);
        NetOptions ofTrips =
                NetOptions.plain().with(new TlsOptions(trips, Keys.PASSWORD, trusted, ""));
        NetOptions ofHotels =
                NetOptions.plain().with(new TlsOptions(hotels, Keys.PASSWORD, trusted, ""));
        Side leader = new Side(ofTrips, GROUP, "trips", 1);
        Address address = leader.listen();
        Side member = new Side(ofHotels, GROUP, "hotels", 1);
        member.links.dial("trips", address);
        member.awaitUp().send(new GroupFrame.Leaves(1));
        Awaited.until("it is heard", () -> leader.frames.size() == 1);
        assertThatThrownBy(() -> new Side(ofHotels, GROUP, "cars", 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("hotels");

        // Another program with the keys of hotels says that it is cars.
        KeyManagerFactory own =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        char[] password = Keys.PASSWORD.toCharArray();
        own.init(KeyStore.getInstance(hotels.toFile(), password), password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), new TrustManager[] {new TrustsAnybody()}, null);
        try (Socket socket =
                context.getSocketFactory()
                        .createSocket(InetAddress.getByName(address.host()), address.port())) {
            socket.getOutputStream().write(bytes(GroupCodec.preface(ALLOC)));
            socket.getOutputStream().write(bytes(GroupCodec.write(hello("cars"), ALLOC)));
            assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
                    .contains("the certificate of cars")
                    .contains("names [hotels]");
        }
        assertThat(leader.up).hasSize(1);
    }
}
