package io.saucr.crash.fault;

import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.HostedProcess;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.ServerAddress;
import io.saucr.ensemble.Signal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Servers on loopback, for users without any rights: the shim remembers what each server forced,
 * and sends the connections between servers through a proxy. A power cut stops the proxy's traffic
 * and the processes, kills them, and takes away what was not forced; peers see silence, and a reset
 * when the server is back. Clients connect directly: they see the end of their connections.
 *
 * <p>Coarser than the root back end in this: the page cache's own writing back does not exist, so
 * all that was not forced is lost, always; a new or changed name counts as forced with the next
 * force of any file, as on ext4. Used by one thread.
 */
public final class UnprivilegedBackend implements FaultBackend {
    private final LoopbackHosting hosting;
    private final Switchboard network;
    private final int servers;
    private final Map<Integer, Integer> group = new HashMap<>();
    private final Set<Integer> off = new HashSet<>();

    /**
     * @param work where the servers' folders go
     * @throws IOException if there is no C compiler, or ports or folders cannot be had
     */
    public UnprivilegedBackend(Path work, int servers) throws IOException {
        this.servers = servers;
        hosting = new LoopbackHosting(work, servers, LoopbackHosting.Disk.SHIM_WITH_JOURNAL);
        network = new Switchboard();
        for (int id = 1; id <= servers; id++) {
            group.put(id, 0);
        }
        connect();
    }

    /** Puts the present groups and power states into force. */
    private void connect() throws IOException {
        Map<Integer, Integer> groups = Map.copyOf(group);
        Set<Integer> dark = Set.copyOf(off);
        for (int from = 1; from <= servers; from++) {
            Map<Integer, Integer> detours = new LinkedHashMap<>();
            for (int to = 1; to <= servers; to++) {
                if (to == from) {
                    continue;
                }
                boolean reached = !dark.contains(to) && groups.get(from).equals(groups.get(to));
                ServerAddress address = address(to);
                for (int port : new int[] {address.quorumPort(), address.electionPort()}) {
                    int proxy = network.port(from, to, port);
                    detours.put(port, reached ? proxy : network.deadEnd());
                }
            }
            shim(from).detours(detours);
        }
        network.reaches(
                (from, to) ->
                        !dark.contains(from)
                                && !dark.contains(to)
                                && groups.get(from).equals(groups.get(to)));
    }

    @Override
    public String name() {
        return "unprivileged";
    }

    @Override
    public String outside() {
        return "127.0.0.1";
    }

    @Override
    public FsyncShim shim(int id) {
        return hosting.shim(id).orElseThrow();
    }

    @Override
    public ServerAddress address(int id) {
        return hosting.address(id);
    }

    @Override
    public int securePort(int id) {
        return hosting.securePort(id);
    }

    @Override
    public Path dataDirectory(int id) {
        return hosting.dataDirectory(id);
    }

    @Override
    public List<String> commandPrefix(int id) {
        return hosting.commandPrefix(id);
    }

    @Override
    public Map<String, String> environment(int id) {
        return hosting.environment(id);
    }

    @Override
    public String bootId(int id) {
        return hosting.bootId(id);
    }

    @Override
    public void beforeStart(int id) throws IOException {
        powerOn(id);
        hosting.beforeStart(id);
    }

    private void powerOn(int id) throws IOException {
        if (off.remove(id)) {
            // Not part of the cut itself: several cuts may follow each other within milliseconds.
            shim(id).losePower(false);
            network.reset(id);
            connect();
        }
    }

    @Override
    public PowerCut powerCut(List<? extends HostedProcess> victims, long notBefore)
            throws IOException {
        for (long wait = notBefore - System.nanoTime();
                wait > 0;
                wait = notBefore - System.nanoTime()) {
            LockSupport.parkNanos(wait);
        }
        long began = System.nanoTime();
        victims.forEach(victim -> off.add(victim.id()));
        connect();
        List<Long> pids =
                victims.stream().filter(HostedProcess::isAlive).map(HostedProcess::pid).toList();
        Signal.STOP.send(pids);
        PowerCut cut = new PowerCut(began, System.nanoTime());
        Signal.KILL.send(pids);
        for (HostedProcess victim : victims) {
            victim.kill();
        }
        return cut;
    }

    @Override
    public void lose(int id, Path folder) throws IOException {
        powerOn(id);
        Emptying.of(dataDirectory(id), folder);
        shim(id).replaced();
    }

    @Override
    public void harden(int id) throws IOException {
        shim(id).harden();
    }

    @Override
    public void partition(List<Set<Integer>> groups) throws IOException {
        int next = 1;
        for (int id = 1; id <= servers; id++) {
            group.put(id, -id);
        }
        for (Set<Integer> members : groups) {
            for (int id : members) {
                group.put(id, next);
            }
            next++;
        }
        connect();
    }

    @Override
    public void heal() throws IOException {
        group.replaceAll((id, old) -> 0);
        connect();
    }

    @Override
    public void close() throws IOException {
        network.close();
        hosting.close();
    }
}
