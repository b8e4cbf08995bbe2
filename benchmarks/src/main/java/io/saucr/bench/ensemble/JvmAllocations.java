package io.saucr.bench.ensemble;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.UndeclaredThrowableException;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * How much the threads of another JVM of this user have allocated, asked through its own management
 * agent, which is started for that. Used by one thread.
 */
final class JvmAllocations implements AutoCloseable {
    private final JMXConnector connector;
    private final ThreadMXBean threads;

    private JvmAllocations(JMXConnector connector, ThreadMXBean threads) {
        this.connector = connector;
        this.threads = threads;
    }

    /**
     * @throws IOException if the JVM cannot be asked
     */
    @SuppressWarnings("BanJNDI") // The address comes from the very process that was attached to.
    static JvmAllocations of(long pid) throws IOException {
        VirtualMachine machine;
        try {
            machine = VirtualMachine.attach(Long.toString(pid));
        } catch (AttachNotSupportedException e) {
            throw new IOException("process " + pid + ": " + e.getMessage(), e);
        }
        try {
            JMXConnector connector =
                    JMXConnectorFactory.connect(
                            new JMXServiceURL(machine.startLocalManagementAgent()));
            return new JvmAllocations(
                    connector,
                    ManagementFactory.newPlatformMXBeanProxy(
                            connector.getMBeanServerConnection(),
                            ManagementFactory.THREAD_MXBEAN_NAME,
                            ThreadMXBean.class));
        } finally {
            machine.detach();
        }
    }

    /** Bytes allocated so far by the threads that live. */
    long bytes() {
        long sum = 0;
        try {
            for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
                sum += Math.max(0, bytes);
            }
        } catch (UndeclaredThrowableException e) {
            throw new UncheckedIOException(
                    new IOException("a server's allocations cannot be read", e.getCause()));
        }
        return sum;
    }

    @Override
    public void close() {
        try {
            connector.close();
        } catch (IOException e) {
            // The server has exited, and its connection is closed.
        }
    }
}
