package io.saucr.suites;

import io.saucr.ensemble.Distribution;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the processes of a suite need to know of servers; it reaches them in their environment.
 * Immutable.
 *
 * @param connectString the ensemble that the tests share
 * @param classPath of a server that a test starts
 * @param flags of such a server's JVM
 */
public record TestServers(String connectString, String classPath, List<String> flags) {
    private static final String CONNECT = "SAUCR_SUITES_CONNECT";
    private static final String CLASS_PATH = "SAUCR_SUITES_CLASS_PATH";
    private static final String FLAGS = "SAUCR_SUITES_FLAGS";

    public TestServers {
        flags = List.copyOf(flags);
    }

    /** Those of this process's environment. */
    public static TestServers ofEnvironment() {
        return new TestServers(
                System.getenv(CONNECT),
                System.getenv(CLASS_PATH),
                List.of(System.getenv(FLAGS).split(" ")));
    }

    /** The environment of a process that reads them, and of the scripts that start servers. */
    Map<String, String> environment() {
        return Map.of(
                CONNECT,
                connectString,
                CLASS_PATH,
                classPath,
                FLAGS,
                String.join(" ", flags),
                "SAUCR_SUITES_JAVA",
                java(),
                "SAUCR_SUITES_OWN_CLASSES",
                System.getProperty("java.class.path"));
    }

    /** Starts a server, a member of a cluster that a test has described. */
    public Process start(Path configuration, Path log) throws IOException {
        List<String> command = new ArrayList<>(List.of(java()));
        command.addAll(flags);
        command.addAll(
                List.of("-cp", classPath, Distribution.MAIN_CLASS, configuration.toString()));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    static String java() {
        return System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
    }
}
