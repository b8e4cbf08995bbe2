package org.apache.curator.test;

import io.saucr.suites.EnsembleProxy;
import io.saucr.suites.TestServers;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Properties;
import org.apache.zookeeper.KeeperException;

/**
 * Stands on the class path before the class of Curator's test kit with this name, with the same
 * methods: a single server is a proxy to the ensemble that all tests share, a member of a cluster a
 * process of the servers under test.
 */
public class TestingZooKeeperServer implements Closeable {
    private final QuorumConfigBuilder builder;
    private final int index;
    private final TestServers servers = TestServers.ofEnvironment();
    private final EnsembleProxy proxy; // null for a member of a cluster
    private Process process;
    private boolean emptied;

    public TestingZooKeeperServer(QuorumConfigBuilder builder) {
        this(builder, 0);
    }

    public TestingZooKeeperServer(QuorumConfigBuilder builder, int index) {
        this.builder = builder;
        this.index = index;
        this.proxy =
                builder.size() == 1
                        ? new EnsembleProxy(servers.connectString(), getInstanceSpec().getPort())
                        : null;
    }

    public Collection<InstanceSpec> getInstanceSpecs() {
        return builder.getInstanceSpecs();
    }

    public InstanceSpec getInstanceSpec() {
        return builder.getInstanceSpec(index);
    }

    public int getLocalPort() {
        return proxy == null ? getInstanceSpec().getPort() : proxy.port();
    }

    public synchronized void start() throws Exception {
        if (proxy == null) {
            startProcess();
            return;
        }
        if (!emptied) {
            empty();
        }
        proxy.open();
    }

    private void empty() throws IOException, InterruptedException, KeeperException {
        proxy.emptyTree();
        emptied = true;
    }

    private void startProcess() throws Exception {
        if (process != null && process.isAlive()) {
            return;
        }
        Properties keys = builder.buildConfigProperties(index);
        keys.setProperty("admin.enableServer", "false");
        Path folder = Path.of(keys.getProperty("dataDir"));
        Files.createDirectories(folder);
        Path configuration = folder.resolve("zoo.cfg");
        try (Writer writer = Files.newBufferedWriter(configuration)) {
            keys.store(writer, null);
        }
        Files.writeString(
                folder.resolve("myid"), Integer.toString(getInstanceSpec().getServerId()));
        process = servers.start(configuration, folder.resolve("log"));
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    public synchronized void stop() throws IOException {
        if (proxy != null) {
            proxy.close();
        } else if (process != null) {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public void kill() {
        try {
            stop();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public void restart() throws Exception {
        stop();
        start();
    }

    @Override
    public void close() throws IOException {
        stop();
        builder.close();
        if (getInstanceSpec().deleteDataDirectoryOnClose()) {
            DirectoryUtils.deleteRecursively(getInstanceSpec().getDataDirectory());
        }
    }
}
