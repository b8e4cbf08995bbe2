package io.saucr.bench.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** TCP segments that this machine, or this network namespace, has sent. Stateless. */
public final class TcpSegments {
    private static final Path COUNTERS = Path.of("/proc/net/snmp");

    private TcpSegments() {}

    /** Segments sent so far by all processes, acknowledgements included; 0 if not known. */
    public static long sent() {
        try {
            return sent(Files.readAllLines(COUNTERS));
        } catch (IOException e) {
            return 0;
        }
    }

    /**
     * From two lines that begin with {@code Tcp:}, the first with names, the second with values.
     */
    public static long sent(List<String> lines) {
        List<String> tcp = lines.stream().filter(line -> line.startsWith("Tcp:")).toList();
        if (tcp.size() < 2) {
            return 0;
        }
        int column = List.of(tcp.get(0).split(" ")).indexOf("OutSegs");
        return column < 0 ? 0 : Long.parseLong(tcp.get(1).split(" ")[column]);
    }
}
