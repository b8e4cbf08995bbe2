package io.saucr.server.tool;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * {@code zkServer.sh flush|pin|unpin}: gives an order to a server of this machine, without its
 * AdminServer and also while it does not serve. The operating system decides who may: the user that
 * the server runs as, and root.
 */
public final class LocalOrder {
    private static final String BEANS = "org.apache.ZooKeeperService:name0=Saucr_id*";

    /** Operations of {@link io.saucr.server.admin.SaucrMXBean} by the script's verbs. */
    private static final Map<String, String> OPERATIONS =
            Map.of("flush", "flush", "pin", "pinSlow", "unpin", "unpin");

    private LocalOrder() {}

    /**
     * Arguments: process id, verb, reason. Exit codes: 0 carried out, 1 not carried out, 2 wrong
     * arguments.
     */
    public static void main(String[] args) {
        if (args.length != 3 || !OPERATIONS.containsKey(args[1])) {
            System.err.println("arguments: PID flush|pin|unpin REASON");
            System.exit(2);
        }
        try {
            System.out.println(give(args[0], OPERATIONS.get(args[1]), args[2]));
        } catch (IOException | JMException | AttachNotSupportedException e) {
            System.err.println("Error: process " + args[0] + ": " + e.getMessage());
            System.exit(1);
        }
    }

    @SuppressWarnings("BanJNDI") // the address comes from a JVM of the same user or of root
    private static String give(String pid, String operation, String reason)
            throws IOException, JMException, AttachNotSupportedException {
        VirtualMachine machine = VirtualMachine.attach(pid);
        String address;
        try {
            address = machine.startLocalManagementAgent();
        } finally {
            machine.detach();
        }
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            Set<ObjectName> servers = beans.queryNames(new ObjectName(BEANS), null);
            if (servers.size() != 1) {
                throw new IOException(
                        servers.isEmpty()
                                ? "runs no server with saucr.enabled=true"
                                : "runs several servers: " + servers);
            }
            return (String)
                    beans.invoke(
                            servers.iterator().next(),
                            operation,
                            new Object[] {reason},
                            new String[] {String.class.getName()});
        }
    }
}
