package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a parser is shown is one whole item; no other bytes are. */
class CborShapeTest {

    private static final int DEEPEST = 3;

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00",
                "17",
                "1818",
                "190100",
                "1a00010000",
                "1bffffffffffffffff",
                "20",
                "3bffffffffffffffff",
                "f4",
                "f5",
                "f6",
                "f90000",
                "fa00000000",
                "fb0000000000000000",
                "40",
                "4101",
                "5f41014102ff",
                "60",
                "6161",
                "7f61616162ff",
                "80",
                "8100",
                "9fff",
                "9f00ff",
                "81818100",
                "a0",
                "a1616100",
                "bfff",
                "bf616100ff",
                "a161618100",
            })
    void takes(String hex) {
        assertThatCode(() -> CborShape.check(bytes(hex), DEEPEST)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "18",
                "1900",
                "1c",
                "1d",
                "1e",
                "1f",
                "ff",
                "f7",
                "f800",
                "f820",
                "fc",
                "c0",
                "c249010000000000000000",
                "41",
                "5bffffffffffffffff",
                "5b7fffffffffffffff",
                "7a80000000",
                "5f",
                "5f00ff",
                "5f6161ff",
                "5f5fffff",
                "81",
                "9f",
                "9f00",
                "9bffffffffffffffff",
                "9b7fffffffffffffff",
                "a161",
                "a16161",
                "a10000",
                "bf6161ff",
                "bf6161",
                "bb7fffffffffffffff",
                "bbffffffffffffffff",
                "0000",
                "8181818100",
                "80ff",
                "a1616100ff",
                "a2616100",
            })
    void refuses(String hex) {
        assertThatThrownBy(() -> CborShape.check(bytes(hex), DEEPEST))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("byte ");
    }

    /** The reason for this class: then the parser comes to its end, in bounds. */
    @Test
    void whatItTakesJacksonReadsToItsEnd() throws IOException {
        Random random = new Random(5);
        int taken = 0;
        for (int run = 0; run < 40_000; run++) {
            byte[] bytes = new byte[1 + random.nextInt(12)];
            random.nextBytes(bytes);
            try {
                CborShape.check(bytes, 60);
            } catch (MismatchException e) {
                continue;
            }
            taken++;
            int tokens = 0;
            try (JsonParser in = Codec.parser(bytes)) {
                for (JsonToken token = in.nextToken(); token != null; token = in.nextToken()) {
                    in.getText();
                    tokens++;
                }
            } catch (JsonProcessingException e) {
                // No UTF-8.
            }
            assertThat(tokens).isLessThanOrEqualTo(3 * bytes.length);
        }
        assertThat(taken).isGreaterThan(500);
    }
}
