package io.saucr.server.runtime;

import io.saucr.server.agent.SaucrAgent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Which release of SAUCR ZooKeeper this process runs, and how it came into it. */
public final class Release {
    /** As in the names of its jars, for example {@code 0.2.0}. */
    public static final String VERSION = read();

    private Release() {}

    private static String read() {
        try (InputStream bytes = Release.class.getResourceAsStream("version.txt")) {
            return new String(bytes.readAllBytes(), StandardCharsets.UTF_8).trim();
        } catch (IOException e) {
            throw new UncheckedIOException("version.txt of this release", e);
        }
    }

    /** {@code agent} in front of Apache's jar, or {@code jar} in its place. */
    public static String origin() {
        return SaucrAgent.runs() ? "agent" : "jar";
    }
}
