package io.saucr.crash.fault;

import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.HostedProcess;
import io.saucr.ensemble.Hosting;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Machines that can be broken. A process kill, a pause and their ends are {@link ServerProcess}'s
 * own; disks that are slow, hang, fail, refuse or are full are the {@link #shim}'s. Used by one
 * thread, except for the shims.
 */
public interface FaultBackend extends Hosting {
    /** How reports call it. */
    String name();

    /** At which address this program is reached from the machines; no power cut takes it away. */
    String outside();

    /** The disk of server {@code id}. */
    FsyncShim shim(int id);

    /**
     * Takes the power from these servers at one instant: peers and clients hear nothing more, not
     * even the end of a connection, and what was not synced is lost. The machine is back when the
     * server is started.
     *
     * @param notBefore {@link System#nanoTime} when it is to happen; at once if that is over
     */
    PowerCut powerCut(List<? extends HostedProcess> victims, long notBefore) throws IOException;

    /** {@link #powerCut(List, long)} at once. */
    default PowerCut powerCut(List<? extends HostedProcess> victims) throws IOException {
        return powerCut(victims, System.nanoTime());
    }

    /**
     * Takes the power from one server after the other. Preparing a cut takes some milliseconds,
     * more on a busy machine, so each is told its time beforehand.
     *
     * @param gap between two cuts, at least
     */
    default List<PowerCut> powerCuts(List<? extends HostedProcess> victims, Duration gap)
            throws IOException {
        List<PowerCut> cuts = new ArrayList<>();
        long next = System.nanoTime();
        for (HostedProcess victim : victims) {
            PowerCut cut = powerCut(List.of(victim), next);
            cuts.add(cut);
            next = cut.began() + gap.toNanos();
        }
        return cuts;
    }

    /**
     * Takes away everything in a folder on the disk of server {@code id} but {@code myid}, for
     * good: a disk that was replaced, a volume that was not mounted. The server's process must have
     * ended; a machine without power has it again.
     *
     * @param folder {@link #dataDirectory} or below it; one below it goes with its content
     */
    void lose(int id, Path folder) throws IOException;

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
