package io.saucr.services.bench;

import io.saucr.services.examples.auction.Killed;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** A distributed table whose nodes run in processes that can be killed. Used by one thread. */
interface TableCluster extends AutoCloseable {

    /** Its processes, each with as many nodes, which count on from one to the next. */
    List<Killed> processes();

    /** Whether a node answers, and knows all others. */
    boolean serves(int node) throws InterruptedException;

    /**
     * Puts a value, through a node.
     *
     * @throws IOException if it is not, or perhaps not, there
     */
    void put(int node, String key, String value) throws IOException, InterruptedException;

    /**
     * The value that a node has or finds, or null.
     *
     * @throws IOException if there is no answer
     */
    String get(int node, String key) throws IOException, InterruptedException;

    /** Ends all processes. */
    @Override
    void close();

    /** Ports of loopback that are free now, and so is the one behind each. */
    static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> taken = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        try {
            while (ports.size() < count) {
                ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                taken.add(one);
                try {
                    taken.add(
                            new ServerSocket(
                                    one.getLocalPort() + 1, 1, InetAddress.getLoopbackAddress()));
                    ports.add(one.getLocalPort());
                } catch (IOException | IllegalArgumentException e) {
                    // The one behind is somebody's, or there is none: another one.
                }
            }
        } finally {
            for (ServerSocket each : taken) {
                each.close();
            }
        }
        return ports;
    }
}
