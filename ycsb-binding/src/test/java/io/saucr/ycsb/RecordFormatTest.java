package io.saucr.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class RecordFormatTest {
    @Property(tries = 300)
    void whatIsWrittenIsRead(@ForAll @Size(max = 20) Map<String, byte[]> fields) {
        Map<String, byte[]> read = RecordFormat.decode(RecordFormat.encode(fields));
        assertThat(read.keySet()).isEqualTo(fields.keySet());
        fields.forEach((name, value) -> assertThat(read.get(name)).isEqualTo(value));
    }

    @Property(tries = 300)
    void anythingElseIsRefusedAndNeverMisread(@ForAll byte[] data) {
        try {
            RecordFormat.decode(data);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("not a record");
        }
    }

    @Test
    void aKilobyteCostsElevenBytesMore() {
        assertThat(RecordFormat.encode(Map.of("field0", new byte[1024]))).hasSize(1024 + 11);
    }

    @Test
    void aCutRecordIsRefused() {
        byte[] whole = RecordFormat.encode(Map.of("field0", new byte[300]));
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> RecordFormat.decode(cut))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> RecordFormat.decode(Arrays.copyOf(whole, whole.length + 1)))
                .hasMessageContaining("too many");
    }
}
