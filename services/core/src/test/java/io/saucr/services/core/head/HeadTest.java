package io.saucr.services.core.head;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class HeadTest {

    @Property
    void whatWasWrittenIsRead(
            @ForAll long high, @ForAll long low, @ForAll long number, @ForAll long nonce)
            throws Exception {
        long positive = Math.max(1, number & Long.MAX_VALUE);
        Head head = new Head(new Incarnation(new Birth(high, low), positive, nonce));

        assertThat(Head.decode(head.encode())).isEqualTo(head);
    }

    @Test
    void anOperatorCanReadIt() {
        Head head = new Head(new Incarnation(new Birth(1, 2), 7, 255));

        assertThat(new String(head.encode(), StandardCharsets.UTF_8))
                .isEqualTo(
                        "saucr-service-head 1 birth=00000000000000010000000000000002 incarnation=7"
                                + " nonce=00000000000000ff\n");
    }

    @Property(tries = 500)
    void anyOtherBytesAreRefused(@ForAll byte[] content) {
        assertThatThrownBy(() -> Head.decode(content))
                .isInstanceOf(Head.UnreadableHeadException.class);
    }

    @Test
    void theMessageSaysWhatStandsThere() {
        assertThatThrownBy(
                        () ->
                                Head.decode(
                                        "saucr-service-head 2 x=1\n"
                                                .getBytes(StandardCharsets.UTF_8)))
                .hasMessageContaining(
                        "it says \"saucr-service-head 2 x=1\", not \"saucr-service-head 1 birth=");
        assertThatThrownBy(() -> Head.decode(new byte[2000]))
                .hasMessageContaining("2000 bytes, a head at most 1024");
        assertThatThrownBy(() -> Head.decode(new byte[] {-1, -1})).hasMessageContaining("no text");
        assertThatThrownBy(
                        () ->
                                Head.decode(
                                        ("saucr-service-head 1 birth=00000000000000010000000000000002"
                                                        + " incarnation=9999999999999999999 nonce=00000000000000ff\n")
                                                .getBytes(StandardCharsets.UTF_8)))
                .hasMessageContaining("9999999999999999999 is more than");
    }
}
