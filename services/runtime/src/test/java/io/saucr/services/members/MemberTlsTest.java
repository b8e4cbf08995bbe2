package io.saucr.services.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.net.Awaited;
import io.saucr.services.net.Keys;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that talk by TLS: each certificate bears the service's name. */
class MemberTlsTest {

    @TempDir static Path folder;

    private static TlsOptions ofBank;
    private static TlsOptions ofShop;
    private static TlsOptions ofStranger;
    private static TlsOptions ofBoth;

    private final Transport transport = new Transport(1);
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeAll
    static void makeKeys() throws Exception {
        Keys keys = new Keys(folder);
        Path bank = keys.make("bank", "CN=bank");
        Path shop = keys.make("shop", "CN=shop");
        Path both = keys.make("both", "CN=both", "shop", "bank");
        Path stranger = keys.make("stranger", "CN=bank");
        Path trusted = keys.trust("trusted", bank, shop, both);
        ofBank = new TlsOptions(bank, Keys.PASSWORD, trusted, "");
        ofShop = new TlsOptions(shop, Keys.PASSWORD, trusted, "");
        ofBoth = new TlsOptions(both, Keys.PASSWORD, trusted, "");
        ofStranger = new TlsOptions(stranger, Keys.PASSWORD, trusted, "");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closing : open) {
            closing.close();
        }
        transport.close();
    }

    private Member member(String service, int number, TlsOptions keys) throws IOException {
        Member member =
                new Member(transport, NetOptions.plain().with(keys), Member.hello(service, number));
        open.add(member);
        return member;
    }

    @Test
    void membersOfOneServiceTalk() throws Exception {
        Member one = member("bank", 1, ofBank);
        Member two = member("bank", 2, ofBoth);
        two.links.dial(one.id(), one.listen());
        MemberLink up = two.await(Member.Up.class).link();
        MemberFrame.Segment segment = new MemberFrame.Segment(ByteBuffer.allocate(3_000_000));
        up.send(segment);
        one.await(Member.Up.class).link().send(segment);
        assertThat(one.await(Member.Got.class).frame()).isEqualTo(segment);
        assertThat(two.await(Member.Got.class).frame()).isEqualTo(segment);
        Awaited.until("all sent", () -> up.unsentBytes() == 0);
        up.close("that is all");
        assertThat(one.await(Member.Down.class).reason()).endsWith("ended the link: that is all");
    }

    /** Whoever the trust store vouches for: another service is no member. */
    @Test
    void aCertificateOfAnotherServiceIsRefused() throws Exception {
        Member one = member("bank", 1, ofBank);
        Address address = one.listen();
        Member two = member("shop", 2, ofShop);
        two.links.dial(one.id(), address);
        assertThat(two.trouble(one.id()))
                .isEqualTo(
                        "the certificate of member "
                                + one.id()
                                + " at "
                                + address
                                + " (CN=bank) names [bank], and this is service shop: a member's"
                                + " certificate bears the service's name, as common name or DNS"
                                + " name");
        // It is shop here, and shop there, but its certificate says bank, too.
        Member three = member("shop", 3, ofBoth);
        three.links.dial(Member.id(9), two.listen());
        three.trouble(Member.id(9), r -> r.contains("member " + two.id() + " answers there"));
        // Who accepts tells why.
        Member four = member("bank", 4, ofBoth);
        four.links.dial(two.id(), two.listen());
        assertThat(four.trouble(two.id())).contains("(CN=shop) names [shop]");
        two.links.dial(four.id(), four.listen());
        assertThat(two.trouble(four.id(), r -> r.contains("ended the link")))
                .contains("(CN=shop) names [shop], and this is service bank");
        for (Member member : List.of(one, two, three, four)) {
            assertThat(member.told).isEmpty();
        }
    }

    @Test
    void whomNobodyVouchesForIsRefused() throws Exception {
        Member one = member("bank", 1, ofBank);
        Member stranger = member("bank", 2, ofStranger);
        Address address = one.listen();
        stranger.links.dial(one.id(), address);
        assertThat(stranger.trouble(one.id()))
                .startsWith("TLS with member " + one.id() + " at " + address + " failed: ")
                .endsWith("its log says why");
        one.links.dial(stranger.id(), stranger.listen());
        assertThat(one.trouble(stranger.id())).startsWith("TLS with member " + stranger.id());
        assertThat(one.told).isEmpty();
        assertThat(stranger.told).isEmpty();
    }

    @Test
    void plainAndEncryptedDoNotMix() throws Exception {
        Member one = member("bank", 1, ofBank);
        Member plain = new Member(transport, NetOptions.plain(), Member.hello("bank", 2));
        open.add(plain);
        plain.links.dial(one.id(), one.listen());
        assertThat(plain.trouble(one.id())).contains("does it use TLS as this side does?");
        one.links.dial(plain.id(), plain.listen());
        assertThat(one.trouble(plain.id()))
                .contains("does not speak TLS, and this side does: set ssl.* on both, or on none");
        assertThat(one.told).isEmpty();
        assertThat(plain.told).isEmpty();
    }

    @Test
    void ownKeysOfAnotherServiceAreRefusedAtOnce() {
        assertThatThrownBy(() -> member("bank", 1, ofShop))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("names [shop], and this service is bank");
    }
}
