package io.saucr.services.bench;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import java.util.List;

/**
 * A member of a Hazelcast cluster in a process of its own, which has one backup of each entry, in
 * memory. It says {@code at} and its address once as many members are there as are expected, and
 * {@code mark 0 0} for each line; it ends when that stream does.
 */
final class HazelcastMember {

    /** The name of its map. */
    static final String MAP = "values";

    private HazelcastMember() {}

    /**
     * Serves.
     *
     * @param arguments whether a put waits for the backup, its own port, the ports of all, how many
     *     members it waits for
     */
    public static void main(String[] arguments) throws Exception {
        boolean waits = Boolean.parseBoolean(arguments[0]);
        int port = Integer.parseInt(arguments[1]);
        List<String> ports = List.of(arguments[2].split(","));
        int members = Integer.parseInt(arguments[3]);
        Config config = new Config();
        config.setClusterName("bench");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "none");
        config.getMapConfig(MAP).setBackupCount(waits ? 1 : 0).setAsyncBackupCount(waits ? 0 : 1);
        NetworkConfig network = config.getNetworkConfig();
        network.setPort(port).setPortAutoIncrement(false);
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = network.getJoin();
        join.getMulticastConfig().setEnabled(false);
        join.getAutoDetectionConfig().setEnabled(false);
        join.getTcpIpConfig().setEnabled(true);
        ports.forEach(it -> join.getTcpIpConfig().addMember("127.0.0.1:" + it));
        HazelcastInstance member = Hazelcast.newHazelcastInstance(config);
        while (member.getCluster().getMembers().size() < members) {
            Thread.sleep(50);
        }
        System.out.println("at 127.0.0.1:" + port);
        TalkingProcess.answer(() -> "mark 0 0");
    }
}
