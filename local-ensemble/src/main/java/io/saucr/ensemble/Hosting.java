package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The machine that a server believes it runs on: its addresses, its disk, and what its process is
 * started with. Servers are numbered from 1.
 */
public interface Hosting extends AutoCloseable {
    /** Where server {@code id} listens; the same for the life of the hosting. */
    ServerAddress address(int id);

    /**
     * The port on which server {@code id} listens for clients with TLS, at the address of its other
     * one.
     *
     * @throws UnsupportedOperationException if these machines have none
     */
    default int securePort(int id) {
        throw new UnsupportedOperationException("no port for clients with TLS");
    }

    /** An empty or used folder, the server's disk. */
    Path dataDirectory(int id);

    /** What stands before {@code java} on the command line, often nothing. */
    List<String> commandPrefix(int id);

    /** Added to the environment of the process. */
    Map<String, String> environment(int id);

    /**
     * Which life of the machine this is, 1 to 64 characters of {@code [A-Za-z0-9._-]}: what the
     * kernel's boot id is to a real one. Stays the same while processes come and go, and is another
     * one once the power was taken. Asked at each start, after {@link #beforeStart}.
     */
    String bootId(int id);

    /** Called before each start of the server's process, which is not running then. */
    void beforeStart(int id) throws IOException;

    @Override
    void close() throws IOException;
}
