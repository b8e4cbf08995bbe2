package io.saucr.crash.fault;

import io.saucr.crash.process.FsyncShim;
import io.saucr.crash.process.Hosting;
import io.saucr.crash.process.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Machines that can be broken. A process kill, a pause and their ends are {@link ServerProcess}'s
 * own; slow, failing and full disks are the {@link #shim}'s. Used by one thread, except for the
 * shims.
 */
public interface FaultBackend extends Hosting {
    /** How reports call it. */
    String name();

    /** The disk of server {@code id}. */
    FsyncShim shim(int id);

    /**
     * Takes the power from these servers at one instant: peers and clients hear nothing more, not
     * even the end of a connection, and what was not forced is gone. The machine is back when the
     * server is started.
     *
     * @return from the moment the first server lost its network to the one when nothing ran any
     *     more
     */
    Duration powerCut(List<ServerProcess> victims) throws IOException;

    /** Makes durable what stands on the disk of server {@code id} now, forced or not. */
    void harden(int id) throws IOException;

    /**
     * Cuts the servers' network into groups; a server in none is alone. Clients reach all of them.
     * Replaces an earlier partition.
     */
    void partition(List<Set<Integer>> groups) throws IOException;

    /** Ends the partition. */
    void heal() throws IOException;
}
