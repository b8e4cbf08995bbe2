package io.saucr.crash;

import io.saucr.crash.campaign.OutFolder;
import io.saucr.crash.fault.Backend;
import io.saucr.crash.fault.Enclosure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Where faults happen and results go, the same for every command that breaks servers. */
final class MachineOptions {
    @Option(
            names = "--backend",
            description =
                    "${COMPLETION-CANDIDATES}. Default: the best that this machine allows, which is"
                            + " named.")
    private Backend backend;

    @Option(
            names = {"-o", "--out"},
            defaultValue = "saucr-crash-out",
            description =
                    "Folder for outcomes, logs and report; a campaign in it is resumed. Default:"
                            + " ${DEFAULT-VALUE}.")
    Path out;

    /** What a command does once the machines can be broken. */
    interface Body {
        int run(Backend backend) throws IOException, InterruptedException;
    }

    /**
     * Runs the body, on the root back end in an enclosure: this program is started again in it.
     *
     * @param arguments of this program
     * @return the exit status
     * @throws IOException if the back end that was asked for does not work here
     */
    int run(List<String> arguments, Body body) throws IOException, InterruptedException {
        Backend chosen = backend == null ? Backend.best() : backend;
        if (chosen.obstacle().isPresent()) {
            throw new IOException(
                    "the " + chosen + " back end does not work here: " + chosen.obstacle().get());
        }
        if (Enclosure.inside()) {
            Enclosure.enter();
            return body.run(chosen);
        }
        OutFolder folder = new OutFolder(out, System.out);
        try (FileChannel channel =
                        FileChannel.open(
                                folder.path().resolve("lock"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                throw new IOException("another run is under way in " + out);
            }
            folder.removeLeftovers();
            if (chosen == Backend.ROOT) {
                return Enclosure.run(CrashCommand.class, jvmFlags(), arguments);
            }
            if (backend == null) {
                System.out.println("no root back end: " + Backend.ROOT.obstacle().orElseThrow());
            }
            return body.run(chosen);
        }
    }

    private static List<String> jvmFlags() {
        List<String> flags = new ArrayList<>(List.of("-Xmx384m"));
        for (String property : List.of(SystemOptions.ROOT, SystemOptions.HOME)) {
            String value = System.getProperty(property);
            if (value != null) {
                flags.add("-D" + property + "=" + value);
            }
        }
        return flags;
    }
}
