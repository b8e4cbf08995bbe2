package io.saucr.services.bench;

import io.saucr.services.examples.auction.Killed;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A cache of Infinispan that five nodes have of each key, in memory; see {@link InfinispanNode}.
 */
final class InfinispanTable implements TableCluster {

    private static final int HEAP_MEGABYTES = 256;
    private static final int PATIENCE_MILLIS = 30_000;

    private final List<Killed> processes = new ArrayList<>();
    private final Map<Integer, Socket> connections = new HashMap<>();
    private final List<Integer> ports;
    private final int nodes;

    InfinispanTable(Path folder, int count, int nodesEach, Duration hop) throws IOException {
        nodes = count * nodesEach;
        List<Integer> all = TableCluster.freePorts(2 * nodes);
        ports = all.subList(0, nodes);
        List<Integer> members = all.subList(nodes, 2 * nodes);
        for (int node = 0; node < nodes; node++) {
            Files.writeString(
                    folder.resolve("node" + node + ".xml"),
                    configuration(members.get(node), members, hop));
        }
        for (int process = 0; process < count; process++) {
            processes.add(
                    new Killed(
                            "process " + process,
                            folder.resolve("log").resolve("process" + process),
                            HEAP_MEGABYTES,
                            InfinispanNode.class,
                            Integer.toString(process * nodesEach),
                            Integer.toString(process * nodesEach + nodesEach - 1),
                            Integer.toString(nodes),
                            folder.toString(),
                            ports.stream().map(String::valueOf).collect(Collectors.joining(","))));
        }
    }

    /** Infinispan's stack for TCP, with a list of members in place of multicast, and the delay. */
    private static String configuration(int port, List<Integer> members, Duration hop) {
        return """
        <config xmlns="urn:org:jgroups">
          <TCP bind_addr="127.0.0.1" bind_port="%d" port_range="0" diag.enabled="false"/>
          <io.saucr.services.bench.HopDelay millis="%d"/>
          <RED/>
          <TCPPING initial_hosts="%s" port_range="0"/>
          <MERGE3 min_interval="1000" max_interval="3000"/>
          <FD_SOCK2 offset="1" port_range="0"/>
          <FD_ALL3/>
          <VERIFY_SUSPECT2 timeout="1000"/>
          <pbcast.NAKACK2 use_mcast_xmit="false" xmit_interval="200" resend_last_seqno="true"/>
          <UNICAST3 conn_close_timeout="5000" xmit_interval="200"/>
          <pbcast.STABLE desired_avg_gossip="5000" max_bytes="1M"/>
          <pbcast.GMS print_local_addr="false" join_timeout="2000"/>
          <UFC max_credits="4m" min_threshold="0.40"/>
          <MFC max_credits="4m" min_threshold="0.40"/>
          <FRAG4 frag_size="60000"/>
        </config>
        """
                .formatted(
                        port,
                        hop.toMillis(),
                        members.stream()
                                .map(it -> "127.0.0.1[" + it + "]")
                                .collect(Collectors.joining(",")));
    }

    @Override
    public List<Killed> processes() {
        return processes;
    }

    @Override
    public boolean serves(int node) throws InterruptedException {
        try {
            return ask(node, "", "").equals(Integer.toString(nodes));
        } catch (IOException e) {
            return false;
        }
    }

    private String ask(int node, String key, String value) throws IOException {
        try {
            Socket socket = connections.get(node);
            if (socket == null) {
                socket = new Socket(InetAddress.getLoopbackAddress(), ports.get(node));
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(PATIENCE_MILLIS);
                connections.put(node, socket);
            }
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeUTF(key);
            out.writeUTF(value);
            return new DataInputStream(socket.getInputStream()).readUTF();
        } catch (IOException e) {
            Socket broken = connections.remove(node);
            if (broken != null) {
                broken.close();
            }
            throw e;
        }
    }

    @Override
    public void put(int node, String key, String value) throws IOException {
        String unused = ask(node, key, value);
    }

    @Override
    public String get(int node, String key) throws IOException {
        String found = ask(node, key, "");
        return found.isEmpty() ? null : found;
    }

    @Override
    public void close() {
        processes.forEach(Killed::close);
        for (Socket socket : connections.values()) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
