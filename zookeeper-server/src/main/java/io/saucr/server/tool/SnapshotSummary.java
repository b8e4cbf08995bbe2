package io.saucr.server.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.zookeeper.server.SnapshotRecursiveSummary;

/**
 * ZooKeeper's count of what is below a node of a snapshot; says in words what it cannot read.
 * Arguments are a snapshot's file, a node, and how deep to go.
 */
public final class SnapshotSummary {
    private SnapshotSummary() {}

    /** Exits with 1 if the file cannot be read or has no such node, with 2 on wrong usage. */
    public static void main(String[] arguments) throws Exception {
        try {
            SnapshotRecursiveSummary.main(arguments);
        } catch (NullPointerException e) {
            // Where it looks for the node, and only there: a look beforehand would read all twice.
            if (!e.getStackTrace()[0].getMethodName().equals("printZnode")) {
                throw e;
            }
            fail("there is no node " + arguments[1] + " in " + arguments[0]);
        } catch (IOException e) {
            fail(
                    Files.exists(Path.of(arguments[0]))
                            ? "cannot read " + arguments[0] + ": " + e.getMessage()
                            : "there is no file " + arguments[0]);
        }
    }

    private static void fail(String problem) {
        System.err.println("Error: " + problem + ".");
        System.exit(1);
    }
}
