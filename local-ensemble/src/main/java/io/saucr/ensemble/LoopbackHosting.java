package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Servers side by side on loopback, with folders of the host's file system as disks, with or
 * without a {@link FsyncShim} each. Thread-safe.
 */
public final class LoopbackHosting implements Hosting {
    /** What stands between a server and its folder. */
    public enum Disk {
        /** Nothing. */
        PLAIN,
        /** A shim that delays, counts and fails forces. */
        SHIM,
        /**
         * A shim that remembers, too, what was forced, for {@link FsyncShim#losePower}. The servers
         * end with this JVM, also when it is killed.
         */
        SHIM_WITH_JOURNAL
    }

    private final PortBlock ports;
    private final List<Path> data = new ArrayList<>();
    private final List<FsyncShim> shims = new ArrayList<>();
    private final Disk disk;
    private final List<String> prefix;
    private final String firstBoot = UUID.randomUUID().toString();
    private final AtomicIntegerArray reboots;

    /** Servers that are started with nothing before {@code java}. */
    public LoopbackHosting(Path work, int servers, Disk disk) throws IOException {
        this(work, servers, disk, List.of());
    }

    /**
     * @param work where the servers' folders go
     * @param servers their number
     * @param prefix a command, with arguments, that runs the command that follows it
     * @throws IOException if ports or folders cannot be had, or the shim cannot be built
     */
    public LoopbackHosting(Path work, int servers, Disk disk, List<String> prefix)
            throws IOException {
        this.prefix = List.copyOf(prefix);
        if (servers < 1 || servers > PortBlock.SIZE / 4) {
            throw new IllegalArgumentException(servers + " servers");
        }
        this.disk = disk;
        reboots = new AtomicIntegerArray(servers + 1);
        ports = PortBlock.reserve();
        for (int id = 1; id <= servers; id++) {
            Path server = work.resolve("server-" + id);
            data.add(Files.createDirectories(server.resolve("data")).toRealPath());
            if (disk != Disk.PLAIN) {
                shims.add(
                        FsyncShim.create(
                                data.get(id - 1),
                                server.resolve("shim"),
                                disk == Disk.SHIM_WITH_JOURNAL));
            }
        }
    }

    /** The shim of server {@code id}, if it has one. */
    public Optional<FsyncShim> shim(int id) {
        return shims.isEmpty() ? Optional.empty() : Optional.of(shims.get(id - 1));
    }

    @Override
    public ServerAddress address(int id) {
        int base = (id - 1) * 4;
        return ServerAddress.onLoopback(
                id,
                ports.port(base + 2),
                ports.port(base),
                ports.port(base + 1),
                ports.port(base + 3));
    }

    /** The last ports of the block, which up to eight servers leave free. */
    @Override
    public int securePort(int id) {
        int index = PortBlock.SIZE - id;
        if (index < data.size() * 4) {
            throw new UnsupportedOperationException(
                    data.size() + " servers with TLS for clients: at most 8 have ports");
        }
        return ports.port(index);
    }

    @Override
    public Path dataDirectory(int id) {
        return data.get(id - 1);
    }

    @Override
    public List<String> commandPrefix(int id) {
        return prefix;
    }

    @Override
    public Map<String, String> environment(int id) {
        Map<String, String> variables =
                new LinkedHashMap<>(shim(id).map(FsyncShim::environment).orElse(Map.of()));
        if (disk == Disk.SHIM_WITH_JOURNAL) {
            variables.put("SAUCR_SHIM_DIE_WITH_PARENT", "1");
        }
        return variables;
    }

    /**
     * From now on the machine of server {@code id} counts as having been without power, for code
     * that takes from the disk of a killed server what a power cut would have taken. {@link
     * FsyncShim#losePower} needs no such call.
     */
    public void reboot(int id) {
        reboots.incrementAndGet(id);
    }

    @Override
    public String bootId(int id) {
        int losses = shim(id).map(FsyncShim::powerLosses).orElse(0);
        return firstBoot + "-" + (reboots.get(id) + losses);
    }

    @Override
    public void beforeStart(int id) throws IOException {
        if (shim(id).isPresent()) {
            shim(id).get().beforeStart();
        }
    }

    @Override
    public void close() throws IOException {
        ports.close();
    }
}
