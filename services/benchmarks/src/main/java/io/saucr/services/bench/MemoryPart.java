package io.saucr.services.bench;

import io.saucr.services.examples.independentset.Part;
import io.saucr.services.state.Codec;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A part of a graph in a process of its own, without durability, and who asks it. */
final class MemoryPart {

    private static final int PATIENCE_MILLIS = 600_000;

    private MemoryPart() {}

    /**
     * Serves until it is killed.
     *
     * @param arguments its number, and the ports of all parts
     */
    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[0]);
        Map<String, Integer> ports = new LinkedHashMap<>();
        for (int part = 0; part + 1 < arguments.length; part++) {
            ports.put("part" + part, Integer.parseInt(arguments[part + 1]));
        }
        int parts = ports.size();
        MemoryService.run("part" + number, ports, state -> new Part(state, number, parts));
    }

    /** Waits until a process listens. */
    static Socket connect(int port) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE_MILLIS * 1_000_000L;
        while (true) {
            try {
                return new Socket(InetAddress.getLoopbackAddress(), port);
            } catch (ConnectException e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
                Thread.sleep(20);
            }
        }
    }

    /** Asks part 0 for the set, and waits for it. */
    static Part.Solved solve(Socket first, Part.Solve solve) throws IOException {
        first.setSoTimeout(PATIENCE_MILLIS);
        Codec codec = new Codec();
        DataOutputStream out = new DataOutputStream(first.getOutputStream());
        MemoryService.write(out, codec, solve);
        out.flush();
        Map<String, Class<?>> types = new LinkedHashMap<>();
        for (Class<?> type : List.of(Part.Solved.class, Part.Refused.class)) {
            types.put(codec.name(type), type);
        }
        Object answer =
                MemoryService.read(
                        new DataInputStream(new BufferedInputStream(first.getInputStream())),
                        codec,
                        types);
        if (answer instanceof Part.Solved solved) {
            return solved;
        }
        throw new IOException("part 0 answered " + answer);
    }
}
