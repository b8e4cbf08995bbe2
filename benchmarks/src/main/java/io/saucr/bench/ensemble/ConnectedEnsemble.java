package io.saucr.bench.ensemble;

import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.bench.result.ProcessUsage;
import io.saucr.ensemble.FourLetterWord;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * An ensemble that runs elsewhere. Everything that is written goes below one node of its own, so
 * that several programs can put load on it at the same time; closing removes that node. Its modes
 * and commits are known if its servers answer {@code mntr}, and nothing else of what they use. Used
 * by one thread.
 */
public final class ConnectedEnsemble implements MeasuredEnsemble {
    private static final int NODES_AT_ONCE = 1000;
    private static final Duration ANSWER = Duration.ofSeconds(1);

    private final Configuration configuration;
    private final List<String> hosts;
    private final String root;

    private ConnectedEnsemble(Configuration configuration, List<String> hosts, String root) {
        this.configuration = configuration;
        this.hosts = List.copyOf(hosts);
        this.root = root;
    }

    /**
     * @throws IllegalStateException if it does not answer, with its connect string
     */
    public static ConnectedEnsemble open(Configuration configuration) throws Exception {
        String connect = configuration.connect();
        int slash = connect.indexOf('/');
        String chroot = slash < 0 ? "" : connect.substring(slash).replaceFirst("/$", "");
        List<String> hosts =
                List.of((slash < 0 ? connect : connect.substring(0, slash)).split(","));
        String node = "/saucr-bench-" + UUID.randomUUID().toString().substring(0, 8);
        ZooKeeper client;
        try {
            client = UpdateLoad.connect(connect);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    "no ensemble answers at " + connect + ": " + e.getMessage(), e);
        }
        try {
            client.create(node, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException e) {
            throw new IllegalStateException(connect + ": " + e.getMessage(), e);
        } finally {
            client.close();
        }
        return new ConnectedEnsemble(configuration, hosts, chroot + node);
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    @Override
    public List<String> addresses() {
        return hosts.stream().map(host -> host + root).toList();
    }

    /** Takes no profile but {@link DeviceProfile#NONE}: its disks cannot be made slower. */
    @Override
    public void device(DeviceProfile profile) {
        if (profile != DeviceProfile.NONE) {
            throw new IllegalArgumentException(
                    "the disks of an ensemble that runs elsewhere cannot be made slower");
        }
    }

    @Override
    public void limit(double processors) {
        throw new IllegalStateException(
                "processors cannot be taken from servers that run elsewhere");
    }

    @Override
    public void fail(int followers) {
        throw new IllegalArgumentException(
                "servers of an ensemble that runs elsewhere cannot be killed");
    }

    /** Does not wait: the caller chooses the mode in which it is measured. */
    @Override
    public void awaitMode() {}

    /** What each server answers to {@code mntr}, in the order of the connect string. */
    public List<Map<String, String>> monitors() {
        List<Map<String, String>> answers = new ArrayList<>();
        for (String host : hosts) {
            int colon = host.lastIndexOf(':');
            try {
                answers.add(
                        FourLetterWord.table(
                                FourLetterWord.ask(
                                        host.substring(0, colon),
                                        Integer.parseInt(host.substring(colon + 1)),
                                        "mntr",
                                        ANSWER)));
            } catch (IOException e) {
                answers.add(Map.of());
            }
        }
        return answers;
    }

    @Override
    public EnsembleUsage usage() {
        List<Map<String, String>> answers = monitors();
        long flushes = 0;
        Map<String, String> leaderSays = Map.of();
        for (Map<String, String> answer : answers) {
            flushes += EnsembleUsage.number(answer, "zk_saucr_flushes");
            if ("leader".equals(answer.get("zk_server_state"))) {
                leaderSays = answer;
            }
        }
        return EnsembleUsage.of(ProcessUsage.NONE, ProcessUsage.NONE, 0, 0, 0, leaderSays, flushes);
    }

    @Override
    public long allocatedBytes() {
        return 0;
    }

    @Override
    public Map<Integer, Path> logs() {
        return Map.of();
    }

    @Override
    public void close() {
        try {
            ZooKeeper client = UpdateLoad.connect(String.join(",", hosts));
            try {
                ZKUtil.deleteRecursive(client, root, NODES_AT_ONCE);
            } finally {
                client.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            System.err.println("saucr-bench: " + root + " could not be removed: " + e.getMessage());
        }
    }
}
