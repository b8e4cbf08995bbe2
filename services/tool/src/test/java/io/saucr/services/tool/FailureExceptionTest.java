package io.saucr.services.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

/** The sentence that an error becomes. */
class FailureExceptionTest {

    private static String message(Exception cause) {
        assertThat(FailureException.of(cause)).hasCause(cause);
        return FailureException.of(cause).getMessage();
    }

    @Test
    void anErrorOfAFileSaysWhy() {
        assertThat(message(new AccessDeniedException("/f/lock")))
                .isEqualTo("/f/lock: permission denied");
        assertThat(message(new NoSuchFileException("/f")))
                .isEqualTo("/f: there is no such file or folder");
        assertThat(message(new FileSystemLoopException("/f")))
                .isEqualTo("/f: FileSystemLoopException");
        assertThat(message(new FileSystemException("/f", null, "No space left on device")))
                .isEqualTo("/f: No space left on device");
        assertThat(message(new IOException("the head was lost"))).isEqualTo("the head was lost");
    }
}
