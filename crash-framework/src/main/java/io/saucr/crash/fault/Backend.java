package io.saucr.crash.fault;

import io.saucr.ensemble.FsyncShim;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** The kinds of {@link FaultBackend}, and which of them this machine allows. */
public enum Backend {
    /** {@link RootBackend}. */
    ROOT,
    /** {@link UnprivilegedBackend}. */
    UNPRIVILEGED;

    /** In lower case, for people. */
    @Override
    public String toString() {
        return this == ROOT ? "root" : "unprivileged";
    }

    /** What stands in the way of this back end on this machine; empty if nothing does. */
    public Optional<String> obstacle() {
        if (!FsyncShim.available()) {
            return Optional.of("no C compiler");
        }
        return this == ROOT ? Enclosure.obstacle() : Optional.empty();
    }

    /** The best that this machine allows, or the reason why it allows none. */
    public static Backend best() throws IOException {
        for (Backend backend : values()) {
            if (backend.obstacle().isEmpty()) {
                return backend;
            }
        }
        throw new IOException("no back end: " + UNPRIVILEGED.obstacle().orElseThrow());
    }

    /**
     * New machines.
     *
     * @param work where their folders go
     */
    public FaultBackend open(Path work, int servers) throws IOException {
        return this == ROOT
                ? new RootBackend(work, servers)
                : new UnprivilegedBackend(work, servers);
    }
}
