package org.apache.zookeeper.server.quorum;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class OutgoingBytesTest {

    private final OutgoingBytes bytes = new OutgoingBytes(8, 4);

    private void copy(String text) {
        bytes.copy(text.getBytes(US_ASCII), 0, text.length());
    }

    private String taken() {
        StringBuilder all = new StringBuilder();
        while (bytes.isLeft()) {
            ByteBuffer next = bytes.next();
            all.append(US_ASCII.decode(next));
        }
        return all.toString();
    }

    @Test
    void valuesThatAreNotCopiedStayInTheirPlace() {
        byte[] value = "large".getBytes(US_ASCII);
        bytes.share(value);
        copy("a");
        copy("b");
        bytes.share(value);
        bytes.share(value);
        copy("c");
        assertThat(bytes.collected()).isEqualTo(18);
        assertThat(bytes.take()).isTrue();
        assertThat(bytes.collected()).isZero();
        value[0] = 'L'; // it is the same array
        assertThat(taken()).isEqualTo("LargeabLargeLargec");
        assertThat(bytes.take()).isFalse();
    }

    @Test
    void whatIsCollectedMeanwhileDoesNotTouchWhatWasTaken() {
        for (int round = 0; round < 5; round++) {
            copy("0123456789");
            assertThat(bytes.take()).isTrue();
            copy("abc");
            assertThat(taken()).isEqualTo("0123456789");
            assertThat(bytes.collected()).isEqualTo(3);
            assertThat(bytes.take()).isTrue();
            assertThat(taken()).isEqualTo("abc");
        }
    }
}
