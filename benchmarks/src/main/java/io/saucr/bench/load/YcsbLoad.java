package io.saucr.bench.load;

import io.saucr.ycsb.ZooKeeperBinding;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import site.ycsb.DBException;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * A workload of YCSB's, run by YCSB's own class through our binding, in a table of its own. It goes
 * on where the slice before ended, so that inserted keys are always new. A load that only inserts
 * is YCSB's load phase. Thread-safe as YCSB's workload is.
 */
final class YcsbLoad implements Load {
    /** Nodes are prepared with this many inserts under way. */
    private static final int CREATES_IN_FLIGHT = 100;

    private final Properties properties = new Properties();
    private final CoreWorkload workload;
    private final boolean insertsOnly;
    private final int records;
    private final AtomicInteger threads = new AtomicInteger();

    /**
     * @param name of the workload, and of its table
     * @param file what the workload's file says
     * @throws IllegalArgumentException if YCSB refuses it
     */
    YcsbLoad(String name, Properties file, int records, int valueBytes) {
        this.records = records;
        properties.putAll(file);
        properties.setProperty("table", "ycsb-" + name + "-" + valueBytes);
        properties.setProperty("recordcount", Integer.toString(records));
        properties.setProperty("fieldcount", "1");
        properties.setProperty("fieldlength", Integer.toString(valueBytes));
        this.insertsOnly = "1".equals(file.getProperty("insertproportion"));
        // YCSB counts for itself, too, and needs this first; ours are the numbers that are
        // reported.
        Measurements.setProperties(properties);
        this.workload = new CoreWorkload();
        try {
            workload.init(properties);
        } catch (WorkloadException e) {
            throw new IllegalArgumentException("workload " + name + ": " + e.getMessage(), e);
        }
    }

    private ZooKeeperBinding binding(String address, int asyncDepth) throws DBException {
        ZooKeeperBinding binding = new ZooKeeperBinding();
        Properties own = new Properties();
        own.putAll(properties);
        own.setProperty("zookeeper.connectString", address);
        own.setProperty("zookeeper.asyncDepth", Integer.toString(asyncDepth));
        binding.setProperties(own);
        binding.init();
        return binding;
    }

    @Override
    public void prepare(String address) throws Exception {
        ZooKeeperBinding binding = binding(address, CREATES_IN_FLIGHT);
        try {
            for (int i = 0; i < records && !insertsOnly; i++) {
                if (!workload.doInsert(binding, null)) {
                    throw new IllegalStateException("the records cannot be created");
                }
            }
        } finally {
            binding.cleanup();
        }
    }

    @Override
    public Session open(String address, long seed) throws Exception {
        ZooKeeperBinding binding = binding(address, 0);
        AnswerCheck answers = new AnswerCheck(binding);
        Object state = workload.initThread(properties, threads.getAndIncrement(), 1);
        return new Session() {
            @Override
            public void operate() throws Exception {
                answers.reset();
                if (insertsOnly) {
                    workload.doInsert(answers, state);
                } else {
                    workload.doTransaction(answers, state);
                }
                answers.requireSuccess();
            }

            @Override
            public void close() {
                try {
                    answers.cleanup();
                } catch (DBException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }
}
