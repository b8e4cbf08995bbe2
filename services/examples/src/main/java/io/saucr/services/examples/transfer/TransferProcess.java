package io.saucr.services.examples.transfer;

import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.examples.GroupMemberProcess;
import java.util.function.Function;

/** Runs the coordinator of transfers or a branch as a member of a group. */
public final class TransferProcess {

    /** The name of the service that coordinates. */
    public static final String TRANSFERS = "transfers";

    private static final String USAGE =
            "arguments: PLACE FOLDER GROUP NAME\n"
                    + "  PLACE     as 127.0.0.1:2181/bank\n"
                    + "  FOLDER    the service has one of its name in it\n"
                    + "  GROUP     path of the group, as /groups/bank\n"
                    + "  NAME      transfers, branch1, branch2, ...";

    private TransferProcess() {}

    /** Serves until it is killed. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 4) {
            System.err.println(USAGE);
            System.exit(2);
        }
        GroupMemberProcess.serve(
                arguments[0], arguments[1], arguments[2], arguments[3], constructor(arguments[3]));
    }

    /**
     * The service of a name.
     *
     * @throws IllegalArgumentException where there is no such service
     */
    public static Function<State, Service> constructor(String name) {
        if (name.equals(TRANSFERS)) {
            return Transfers::new;
        }
        if (!name.matches("branch[0-9]{1,3}")) {
            throw new IllegalArgumentException(
                    "the services are " + TRANSFERS + ", branch1, branch2 and so on, not " + name);
        }
        return Branch::new;
    }
}
