package io.saucr.services.bench;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.infinispan.Cache;
import org.infinispan.configuration.cache.CacheMode;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.remoting.transport.jgroups.JGroupsTransport;

/**
 * Nodes of an Infinispan cluster in a process of their own: a distributed cache in memory, five
 * owners for each key, synchronous. Each answers puts and gets on a port of its own.
 */
final class InfinispanNode {

    static final int OWNERS = 5;

    private InfinispanNode() {}

    /**
     * Serves until it is killed.
     *
     * @param arguments first and last of its own nodes, how many there are, the folder of their
     *     configurations (node0.xml, ...), and the ports where they answer
     */
    public static void main(String[] arguments) throws Exception {
        int first = Integer.parseInt(arguments[0]);
        int last = Integer.parseInt(arguments[1]);
        int nodes = Integer.parseInt(arguments[2]);
        Path configurations = Path.of(arguments[3]);
        String[] ports = arguments[4].split(",");
        for (int node = first; node <= last; node++) {
            int port = Integer.parseInt(ports[node]);
            Path configuration = configurations.resolve("node" + node + ".xml");
            String name = "node" + node;
            new Thread(() -> serve(name, nodes, configuration, port), name).start();
        }
    }

    private static void serve(String name, int nodes, Path configuration, int port) {
        GlobalConfigurationBuilder global = new GlobalConfigurationBuilder();
        global.transport()
                .defaultTransport()
                .clusterName("bench")
                .nodeName(name)
                .distributedSyncTimeout(30, TimeUnit.SECONDS)
                .addProperty(JGroupsTransport.CONFIGURATION_FILE, configuration.toString());
        global.jmx().disable();
        global.metrics().gauges(false).histograms(false);
        ConfigurationBuilder builder = new ConfigurationBuilder();
        builder.clustering().cacheMode(CacheMode.DIST_SYNC).hash().numOwners(OWNERS);
        try (DefaultCacheManager manager = new DefaultCacheManager(global.build())) {
            manager.defineConfiguration("table", builder.build());
            Cache<String, String> table = manager.getCache("table");
            System.out.println(name + ": " + manager.getMembers().size() + " of " + nodes);
            try (ServerSocket listening =
                    new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
                while (true) {
                    Socket socket = listening.accept();
                    socket.setTcpNoDelay(true);
                    Thread thread = new Thread(() -> answer(socket, table, manager), name);
                    thread.setDaemon(true);
                    thread.start();
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A key and a value: puts; a key and nothing: gets; nothing: how many members there are. */
    private static void answer(
            Socket socket, Cache<String, String> table, DefaultCacheManager manager) {
        try (socket) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            while (true) {
                String key = in.readUTF();
                String value = in.readUTF();
                String found;
                if (key.isEmpty()) {
                    found = Integer.toString(manager.getMembers().size());
                } else if (value.isEmpty()) {
                    found = table.get(key);
                } else {
                    table.put(key, value);
                    found = value;
                }
                out.writeUTF(found == null ? "" : found);
            }
        } catch (IOException e) {
            // The caller has closed its end.
        }
    }
}
