package io.saucr.services.examples;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;

/** What the examples share that are members of a group. */
public final class GroupMemberProcess {

    private GroupMemberProcess() {}

    /**
     * Serves on loopback until the process is killed.
     *
     * @param place servers and the path above that of the service
     * @param folder above that of the service
     * @param group its path
     * @param name of the service
     */
    public static void serve(
            String place,
            String folder,
            String group,
            String name,
            Function<State, ? extends Service> constructor)
            throws IOException, InterruptedException {
        Services.at(place + "/" + name)
                .folder(Path.of(folder, name))
                .listen(new Address("127.0.0.1", 0))
                .segmentBytes(1 << 20)
                .foldBytes(1 << 18)
                .onHalt(Halt.process())
                .run(constructor, Protection.speculative(group))
                .join();
    }
}
