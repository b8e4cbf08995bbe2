package io.saucr.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** X509UtilTest shows what ZooKeeper's own methods make of it. */
class TlsStoresTest {
    @TempDir Path folder;

    private final TlsStores stores = new TlsStores();

    @Test
    void aChangeDuringTheReadingIsNoticedByTheNextCall() throws Exception {
        Path file = Files.writeString(folder.resolve("store"), "old");
        TlsStores.Look look = stores.find("keys", file.toString());
        Files.writeString(file, "newer");
        assertThat(look.result("made of the old one")).isEqualTo("made of the old one");

        assertThat(stores.find("keys", file.toString())).isNotInstanceOf(TlsStores.Known.class);
    }

    @Test
    void timeAndSizeOfTheFileCount() throws Exception {
        Path file = Files.writeString(folder.resolve("store"), "text");
        FileTime time = Files.getLastModifiedTime(file);
        stores.find("keys", file.toString()).result("made");
        assertThat(stores.find("keys", file.toString()).result(null)).isEqualTo("made");

        Files.writeString(file, "longer text");
        Files.setLastModifiedTime(file, time);
        assertThat(stores.find("keys", file.toString())).isNotInstanceOf(TlsStores.Known.class);
        Files.writeString(file, "text");
        Files.setLastModifiedTime(file, time);
        assertThat(stores.find("keys", file.toString()).result(null)).isEqualTo("made");
        Files.setLastModifiedTime(file, FileTime.fromMillis(time.toMillis() + 1));
        assertThat(stores.find("keys", file.toString())).isNotInstanceOf(TlsStores.Known.class);
    }

    @Test
    void kindsAreApartAndFailuresAreNotKept() throws Exception {
        Path file = Files.writeString(folder.resolve("store"), "text");
        stores.find("keys", file.toString()).result("made");
        assertThat(stores.find("trust", file.toString())).isNotInstanceOf(TlsStores.Known.class);
        stores.find("trust", file.toString()).result(null);
        assertThat(stores.find("trust", file.toString())).isNotInstanceOf(TlsStores.Known.class);
    }

    @Test
    void aMissingFileAndNoPathAreLeftToTheReader() {
        for (String path : new String[] {folder.resolve("none").toString(), "", null, "\0"}) {
            TlsStores.Look look = stores.find("keys", path);
            assertThat(look).isNotInstanceOf(TlsStores.Known.class);
            assertThat(look.result("made")).isEqualTo("made");
        }
        assertThat(stores.size()).isZero();
    }

    @Test
    void onlySomeAreKept() throws Exception {
        for (int i = 0; i < 3 * TlsStores.MOST; i++) {
            Path file = Files.writeString(folder.resolve("store-" + i), "text");
            stores.find("keys", file.toString()).result("made");
        }
        assertThat(stores.size()).isEqualTo(TlsStores.MOST);
    }
}
