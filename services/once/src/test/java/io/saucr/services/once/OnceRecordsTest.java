package io.saucr.services.once;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.once.OnceRecords.Accepted;
import io.saucr.services.once.OnceRecords.Decided;
import io.saucr.services.once.OnceRecords.Declared;
import io.saucr.services.once.OnceRecords.MarkerMade;
import io.saucr.services.once.OnceRecords.Withdrawn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;

/** What a journal or a base says comes back, whichever of the two it is read from. */
class OnceRecordsTest {

    private static final byte[] DATA = "data".getBytes(UTF_8);

    private static Ephemeral ephemeral(String path, String data) {
        return Ephemeral.of(path, data.getBytes(UTF_8), ZooDefs.Ids.READ_ACL_UNSAFE);
    }

    private static List<ByteBuffer> journal() {
        return Stream.of(
                        new MarkerMade(),
                        new Accepted(1, "key", Operation.create("/n", DATA)),
                        new Declared(ephemeral("/at", "old")),
                        new Declared(ephemeral("/gone-\u00fc", "x")),
                        new Accepted(2, "", Operation.delete("/n", 3)),
                        new Declared(ephemeral("/at", "new")),
                        new Withdrawn("/gone-\u00fc"),
                        new Decided(1, -110, ""))
                .map(OnceRecords::encode)
                .toList();
    }

    private static void assertWhole(OnceRecords records) {
        assertThat(records.markerMade).isTrue();
        assertThat(records.lastNumber).isEqualTo(2);
        assertThat(records.highestDecided).isEqualTo(1);
        assertThat(records.open).containsOnlyKeys(2L);
        assertThat(records.open.get(2L).operation()).hasToString("Delete /n");
        assertThat(records.remembered).containsOnlyKeys("key");
        assertThat(records.remembered.get("key")).isEqualTo(new Decided(1, -110, ""));
        assertThat(records.ephemerals).containsOnlyKeys("/at");
        assertThat(records.ephemerals.get("/at")).isEqualTo(ephemeral("/at", "new"));
    }

    @Test
    void theJournalComesBack() throws Exception {
        OnceRecords records = new OnceRecords();
        for (ByteBuffer record : journal()) {
            records.take(record);
        }
        assertWhole(records);
    }

    @Test
    void theBaseComesBack() throws Exception {
        OnceRecords records = new OnceRecords();
        for (ByteBuffer record : journal()) {
            records.take(record);
        }
        OnceRecords later = new OnceRecords();
        later.take(ephemeral("/before", "x"));
        later.decode(records.encode());
        assertWhole(later);
    }

    @Test
    void aNewerReleasesRecordIsRefused() {
        assertThatThrownBy(() -> new OnceRecords().take(ByteBuffer.wrap(new byte[] {99})))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("a record of type 99")
                .hasMessageContaining("newer release");
    }
}
