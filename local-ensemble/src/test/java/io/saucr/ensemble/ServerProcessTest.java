package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a server that was not started. */
class ServerProcessTest {
    @TempDir Path work;

    @Test
    void aServerReadsInItsConfigurationWhatWasWritten() throws Exception {
        try (Ensemble ensemble = Ensemble.of(Distribution.stock(), work).build()) {
            ServerProcess server = ensemble.server(1);
            String folder = "/home/jürgen/a b/c:\\d=#!/€\ud83d\ude00/";
            server.configure("dataLogDir", folder);
            server.configure("größe", "5");
            Properties read = new Properties();
            try (InputStream file = Files.newInputStream(server.configurationFile())) {
                read.load(file);
            }
            assertThat(read)
                    .containsEntry("dataDir", server.dataDirectory().toString())
                    .containsEntry("dataLogDir", folder)
                    .containsEntry("größe", "5");
        }
    }
}
