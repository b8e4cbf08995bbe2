package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.saucr.services.state.Codec;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecordMessagesTest {

    record Transfer(String from, String to, long cents) {}

    record Dated(Date date) {}

    private final MessageTypes types = new RecordMessages(new Codec());

    @Test
    void aMessageArrivesAsItWasSent() {
        Transfer sent = new Transfer("a", "b", 5);
        assertThat(types.name(Transfer.class)).isEqualTo("Transfer");
        assertThat(types.decode(Transfer.class, types.encode(sent))).isEqualTo(sent);
    }

    @Test
    void whatIsNotARecordOfImmutablePartsIsRefused() {
        types.check(Transfer.class);
        for (Class<?> type : List.of(String.class, Date.class)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> types.check(type))
                    .withMessageContaining("is not a record");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> types.encode("text"))
                .withMessageContaining("is not a record");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> types.check(Dated.class))
                .withMessageContaining("component date")
                .withMessageContaining("use java.time.Instant");
    }

    @Test
    void bytesOfAnotherMessageAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> types.decode(Transfer.class, new byte[] {1}))
                .withMessageContaining("where Transfer is declared");
    }
}
