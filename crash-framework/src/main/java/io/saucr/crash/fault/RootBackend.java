package io.saucr.crash.fault;

import io.saucr.ensemble.CCompiler;
import io.saucr.ensemble.Command;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.HostedProcess;
import io.saucr.ensemble.ServerAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Each server in its own network namespace, with two interfaces (one for its peers, one for
 * clients), and on its own small ext4 file system in memory. A power cut takes the interfaces down,
 * stops the process, shuts the file system down without flushing its journal, kills the process and
 * throws the namespace away, so that not even the kernel sends anything on the dead server's
 * behalf; the next start mounts the file system again, which replays its journal: exactly what was
 * not synced is lost.
 *
 * <p>Works inside an {@link Enclosure} only, which is what removes everything on every exit. Used
 * by one thread.
 */
public final class RootBackend implements FaultBackend {
    private static final long DISK_BYTES = 512L << 20;
    private static final String CLIENT_BRIDGE = "clients";
    private static final String OUTSIDE = "10.77.0.254";

    private final Path disks;
    private final Path powerCut;
    private final List<Machine> machines = new ArrayList<>();
    private final List<Integer> group = new ArrayList<>();
    private final String firstBoot = UUID.randomUUID().toString();
    private int bridges = 1;

    /** CUT: nothing runs, but mount and namespace still have to be removed. */
    private enum Power {
        ON,
        CUT,
        OFF
    }

    /** A server's namespace and mount; both exist only while it is powered. */
    private static final class Machine {
        final int id;
        final Path image;
        final Path mount;
        final FsyncShim shim;
        int generation;
        Power power = Power.OFF;

        Machine(int id, Path image, Path mount, FsyncShim shim) {
            this.id = id;
            this.image = image;
            this.mount = mount;
            this.shim = shim;
        }

        /** New names for each life, so that a log line tells which one it is about. */
        String namespace() {
            return "server" + id + "-" + generation;
        }

        String peerInterface() {
            return "p" + id + "-" + generation;
        }

        String clientInterface() {
            return "c" + id + "-" + generation;
        }
    }

    /**
     * @param work where the servers' folders go
     * @param servers their number, at most 100
     * @throws IOException if the host refuses any of it; the message is the failing command's
     */
    public RootBackend(Path work, int servers) throws IOException {
        if (!Enclosure.inside()) {
            throw new IllegalStateException("the root back end runs inside an enclosure only");
        }
        Files.createDirectories(work);
        Path folder = work.toRealPath();
        powerCut = folder.resolve("power_cut");
        if (!Files.exists(powerCut)) {
            Path source = folder.resolve("power_cut.c");
            try (InputStream resource =
                    RootBackend.class.getResourceAsStream("/io/saucr/crash/fault/power_cut.c")) {
                Files.copy(resource, source, StandardCopyOption.REPLACE_EXISTING);
            }
            CCompiler.find().compile(source, powerCut, List.of(), List.of());
        }
        disks = Files.createDirectories(folder.resolve("disks"));
        Command.run("mount", "-t", "tmpfs", "saucr-crash-disks", disks.toString());
        Path template = disks.resolve("empty.img");
        try (RandomAccessFile file = new RandomAccessFile(template.toFile(), "rw")) {
            file.setLength(DISK_BYTES);
        }
        Command.run("mkfs.ext4", "-q", "-m", "0", "-J", "size=4", template.toString());
        StringBuilder network = new StringBuilder();
        network.append("link add " + CLIENT_BRIDGE + " type bridge\n");
        network.append("addr add " + OUTSIDE + "/24 dev " + CLIENT_BRIDGE + "\n");
        network.append("link set " + CLIENT_BRIDGE + " up\n");
        network.append("link add peers0 type bridge\nlink set peers0 up\n");
        Command.feed(network.toString(), "ip", "-batch", "-");
        for (int id = 1; id <= servers; id++) {
            Path image = disks.resolve("server-" + id + ".img");
            Command.run("cp", "--sparse=always", template.toString(), image.toString());
            Path mount = Files.createDirectories(folder.resolve("server-" + id + "/disk"));
            mount(image, mount);
            Path data = Files.createDirectories(mount.resolve("data"));
            Path shimFolder = folder.resolve("server-" + id + "/shim");
            machines.add(new Machine(id, image, mount, FsyncShim.create(data, shimFolder, false)));
            group.add(0);
            // The folder itself must survive the first power cut.
            harden(id);
            powerOn(machine(id), false);
        }
    }

    private static void mount(Path image, Path mount) throws IOException {
        Command.run("mount", "-o", "loop", image.toString(), mount.toString());
    }

    private void powerOn(Machine machine, boolean mount) throws IOException {
        if (mount) {
            mount(machine.image, machine.mount);
        }
        machine.generation++;
        String namespace = machine.namespace();
        String hex = String.format("%02x", machine.id);
        // Fixed hardware addresses: nobody else's neighbour table goes stale.
        Command.feed(
                "netns add %1$s%n"
                        .concat(
                                "link add %2$s type veth peer name eth0 address"
                                        + " 02:00:00:00:01:%4$s")
                        .concat(" netns %1$s%n")
                        .concat(
                                "link add %3$s type veth peer name eth1 address"
                                        + " 02:00:00:00:00:%4$s")
                        .concat(" netns %1$s%n")
                        .concat("link set %2$s master peers%5$d up%nlink set %3$s master %6$s up%n")
                        .formatted(
                                namespace,
                                machine.peerInterface(),
                                machine.clientInterface(),
                                hex,
                                group.get(machine.id - 1),
                                CLIENT_BRIDGE),
                "ip",
                "-batch",
                "-");
        Command.feed(
                "link set lo up\naddr add 10.77.1.%1$d/24 dev eth0\nlink set eth0 up\n"
                        .concat("addr add 10.77.0.%1$d/24 dev eth1\nlink set eth1 up\n")
                        .formatted(machine.id),
                "ip",
                "-n",
                namespace,
                "-batch",
                "-");
        machine.power = Power.ON;
    }

    /**
     * Removes the mount and the namespace of a machine without power. The cut itself leaves that
     * for later, because several cuts may follow each other within milliseconds.
     */
    private static void clear(Machine machine) throws IOException {
        if (machine.power != Power.OFF) {
            Command.run("umount", machine.mount.toString());
            // The kernel would remove the interfaces with the namespace, but in its own time.
            Command.feed(
                    "link del %s%nlink del %s%nnetns del %s%n"
                            .formatted(
                                    machine.peerInterface(),
                                    machine.clientInterface(),
                                    machine.namespace()),
                    "ip",
                    "-batch",
                    "-");
            machine.power = Power.OFF;
        }
    }

    private Machine machine(int id) {
        return machines.get(id - 1);
    }

    @Override
    public String name() {
        return "root";
    }

    @Override
    public String outside() {
        return OUTSIDE;
    }

    @Override
    public FsyncShim shim(int id) {
        return machine(id).shim;
    }

    @Override
    public ServerAddress address(int id) {
        return new ServerAddress(id, peerHost(id), 2888, 3888, clientHost(id), 2181, 8080);
    }

    /** Every address of the machines of so many servers, and that of their clients. */
    public static List<String> addresses(int servers) {
        List<String> addresses = new ArrayList<>(List.of(OUTSIDE));
        for (int id = 1; id <= servers; id++) {
            addresses.add(peerHost(id));
            addresses.add(clientHost(id));
        }
        return addresses;
    }

    private static String peerHost(int id) {
        return "10.77.1." + id;
    }

    private static String clientHost(int id) {
        return "10.77.0." + id;
    }

    @Override
    public int securePort(int id) {
        return 2281;
    }

    @Override
    public Path dataDirectory(int id) {
        return machine(id).mount.resolve("data");
    }

    @Override
    public List<String> commandPrefix(int id) {
        return List.of("nsenter", "--net=/run/netns/" + machine(id).namespace());
    }

    @Override
    public Map<String, String> environment(int id) {
        return machine(id).shim.environment();
    }

    @Override
    public String bootId(int id) {
        return firstBoot + "-" + machine(id).generation;
    }

    @Override
    public void beforeStart(int id) throws IOException {
        Machine machine = machine(id);
        if (machine.power != Power.ON) {
            clear(machine);
            powerOn(machine, true);
        }
    }

    @Override
    public void lose(int id, Path folder) throws IOException {
        beforeStart(id);
        Emptying.of(dataDirectory(id), folder);
        harden(id);
    }

    @Override
    public PowerCut powerCut(List<? extends HostedProcess> victims, long notBefore)
            throws IOException {
        List<Machine> off =
                victims.stream()
                        .map(victim -> machine(victim.id()))
                        .filter(machine -> machine.power == Power.ON)
                        .toList();
        if (off.isEmpty()) {
            return new PowerCut(System.nanoTime(), System.nanoTime());
        }
        List<String> interfaces = new ArrayList<>();
        off.forEach(machine -> interfaces.add(machine.peerInterface()));
        off.forEach(machine -> interfaces.add(machine.clientInterface()));
        String pids =
                victims.stream()
                        .filter(HostedProcess::isAlive)
                        .map(victim -> Long.toString(victim.pid()))
                        .collect(Collectors.joining(","));
        String mounts =
                off.stream()
                        .map(machine -> machine.mount.toString())
                        .collect(Collectors.joining(","));
        String[] times =
                Command.run(
                                powerCut.toString(),
                                String.join(",", interfaces),
                                pids.isEmpty() ? "-" : pids,
                                mounts,
                                Long.toString(notBefore))
                        .trim()
                        .split(" ");
        for (HostedProcess victim : victims) {
            victim.kill();
        }
        off.forEach(machine -> machine.power = Power.CUT);
        return new PowerCut(Long.parseLong(times[0]), Long.parseLong(times[1]));
    }

    @Override
    public void harden(int id) throws IOException {
        Command.run("sync", "-f", machine(id).mount.toString());
    }

    @Override
    public void partition(List<Set<Integer>> groups) throws IOException {
        Map<Integer, Integer> bridgeOf = new LinkedHashMap<>();
        int next = 1;
        for (Set<Integer> members : groups) {
            for (int id : members) {
                bridgeOf.put(id, next);
            }
            next++;
        }
        for (Machine machine : machines) {
            if (!bridgeOf.containsKey(machine.id)) {
                bridgeOf.put(machine.id, next++);
            }
        }
        connect(bridgeOf, next);
    }

    @Override
    public void heal() throws IOException {
        connect(
                machines.stream().collect(Collectors.toMap(machine -> machine.id, machine -> 0)),
                1);
    }

    /**
     * Takes the network from a server, or gives it back: it is cut off from peers and clients, and
     * nobody's connection ends. A machine that is powered on has its network.
     */
    public void cutOff(int id, boolean cut) throws IOException {
        Machine machine = machine(id);
        if (machine.power == Power.ON) {
            String state = cut ? "down" : "up";
            Command.feed(
                    "link set %2$s %1$s%nlink set %3$s %1$s%n"
                            .formatted(state, machine.peerInterface(), machine.clientInterface()),
                    "ip",
                    "-batch",
                    "-");
        }
    }

    private void connect(Map<Integer, Integer> bridgeOf, int needed) throws IOException {
        StringBuilder batch = new StringBuilder();
        for (; bridges < needed; bridges++) {
            batch.append(
                    "link add peers%1$d type bridge\nlink set peers%1$d up\n".formatted(bridges));
        }
        bridgeOf.forEach(
                (id, bridge) -> {
                    group.set(id - 1, bridge);
                    if (machine(id).power == Power.ON) {
                        batch.append(
                                "link set %s master peers%d\n"
                                        .formatted(machine(id).peerInterface(), bridge));
                    }
                });
        Command.feed(batch.toString(), "ip", "-batch", "-");
    }

    /**
     * The servers' processes must have ended. Images and mounts go, the rest of the folder stays.
     */
    @Override
    public void close() throws IOException {
        for (Machine machine : machines) {
            clear(machine);
        }
        StringBuilder batch = new StringBuilder();
        batch.append("link del " + CLIENT_BRIDGE + "\n");
        for (int i = 0; i < bridges; i++) {
            batch.append("link del peers").append(i).append('\n');
        }
        Command.feed(batch.toString(), "ip", "-batch", "-");
        Command.run("umount", disks.toString());
    }
}
