package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that must be fetched: what is said where that is not possible. */
class RestateServerTest {

    @TempDir private Path folder;

    @AfterEach
    void forget() {
        System.clearProperty(RestateServer.FOLDER);
    }

    @Test
    void withoutTheProgramStartingSaysWhichIsMissing() {
        System.setProperty(RestateServer.FOLDER, folder.toString());

        assertThatThrownBy(() -> new RestateServer(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("restate-server");
    }

    @Test
    void aProgramThatEndsIsToldWithWhatItSaid() throws Exception {
        System.setProperty(RestateServer.FOLDER, folder.toString());
        Path program =
                folder.resolve(
                        "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server");
        Files.createDirectories(program.getParent());
        Files.writeString(program, "#!/bin/sh\necho no room\nexit 3\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();

        RestateServer.install(); // Nothing is to be fetched.

        assertThatThrownBy(() -> new RestateServer(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("did not start")
                .hasMessageContaining("no room");
    }
}
