package io.saucr.services.core.once;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Positive;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class MarkerContentTest {

    @Property(tries = 300)
    void whatWasWrittenIsRead(
            @ForAll long nonce,
            @ForAll @Positive long incarnation,
            @ForAll @LongRange(min = 0) long number,
            @ForAll @Size(max = 20) Map<@Positive Long, Integer> refusals,
            @ForAll @Size(max = 3) Map<@Positive Long, @Positive Long> created)
            throws Exception {
        MarkerContent content =
                new MarkerContent(
                        new Incarnation(new Birth(nonce, ~nonce), incarnation, nonce),
                        number,
                        new TreeMap<>(refusals),
                        new TreeMap<>(created));
        assertThat(MarkerContent.decode(content.encode())).isEqualTo(content);
    }

    @Test
    void anOperatorCanReadIt() {
        SortedMap<Long, Integer> refused = new TreeMap<>(Map.of(11L, -101));
        SortedMap<Long, Long> created = new TreeMap<>(Map.of(12L, 0x100000007L));
        assertThat(
                        new String(
                                new MarkerContent(
                                                new Incarnation(new Birth(0, 1), 2, 3),
                                                12,
                                                refused,
                                                created)
                                        .encode(),
                                UTF_8))
                .isEqualTo(
                        "saucr-once 1 birth=00000000000000000000000000000001 incarnation=2 nonce=0000000000000003\n"
                                + "number=12\nrefused=11,-101\ncreated=12,4294967303\n");
    }

    @Property(tries = 300)
    void otherBytesAreRefused(@ForAll byte[] data) {
        assertThatThrownBy(() -> MarkerContent.decode(data))
                .isInstanceOf(MarkerContent.UnreadableMarkerException.class);
    }

    @Test
    void theMessageSaysWhatStandsThere() {
        assertThatThrownBy(() -> MarkerContent.decode("something else".getBytes(UTF_8)))
                .hasMessageContaining("it begins with \"something else\"");
        assertThatThrownBy(() -> MarkerContent.decode(new byte[MarkerContent.LARGEST_BYTES + 1]))
                .hasMessageContaining("a marker at most 524288");
        assertThatThrownBy(
                        () ->
                                MarkerContent.decode(
                                        ("saucr-once 1 birth=00000000000000000000000000000001 incarnation=2"
                                                        + " nonce=0000000000000003\nnumber=9999999999999999999\n")
                                                .getBytes(UTF_8)))
                .hasMessageContaining("too large");
    }
}
