package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * Starts a server as a child of this JVM, on the machine that a {@link Hosting} gives it. An
 * orderly end of this JVM ends it (a shutdown hook of {@link Ensemble}).
 */
final class ChildLauncher implements Launcher {
    private static final String LOGBACK =
            """
            <configuration>
              <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
                <encoder>
                  <pattern>%d{HH:mm:ss.SSS} %-5p [%t:%C{1}] %m%n</pattern>
                </encoder>
              </appender>
              <root level="${saucr.crash.log.level:-INFO}"><appender-ref ref="OUT"/></root>
            </configuration>
            """;

    private final int id;
    private final Path home;
    private final Hosting hosting;
    private final List<String> jvmFlags;
    private Distribution distribution;
    private Process process;

    /**
     * @param home holds {@code conf/zoo.cfg}
     */
    ChildLauncher(
            int id, Path home, Hosting hosting, Distribution distribution, List<String> jvmFlags) {
        this.id = id;
        this.home = home;
        this.hosting = hosting;
        this.distribution = distribution;
        this.jvmFlags = new ArrayList<>(jvmFlags);
    }

    /** Another distribution, from the next start on. */
    void install(Distribution other) {
        distribution = other;
    }

    /** One more flag for the JVM, from the next start on. */
    void addJvmFlag(String flag) {
        jvmFlags.add(flag);
    }

    @Override
    public void prepare() throws IOException {
        Files.writeString(home.resolve("conf/logback.xml"), LOGBACK);
    }

    @Override
    public void start() throws IOException {
        hosting.beforeStart(id);
        List<String> command = new ArrayList<>(hosting.commandPrefix(id));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmFlags);
        if (distribution.takesBootId()) {
            command.add("-D" + Distribution.BOOT_ID + "=" + hosting.bootId(id));
        }
        command.add("-Dsaucr.crash.home=" + home);
        command.add("-Dlogback.configurationFile=" + home.resolve("conf/logback.xml"));
        command.add("-cp");
        command.add(ClassArchive.classPath(distribution));
        command.add(Distribution.MAIN_CLASS);
        command.add(home.resolve("conf/zoo.cfg").toString());
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(home.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()));
        builder.environment().putAll(hosting.environment(id));
        process = builder.start();
    }

    @Override
    public void awaitStarted() {}

    @Override
    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    @Override
    public Optional<ProcessHandle> process() {
        return Optional.ofNullable(process).map(Process::toHandle);
    }

    @Override
    public OptionalInt exitStatus() {
        return process == null || process.isAlive()
                ? OptionalInt.empty()
                : OptionalInt.of(process.exitValue());
    }

    @Override
    public void terminate() {
        if (process != null) {
            process.destroy();
        }
    }

    @Override
    public boolean awaitEnd(Duration timeout) throws InterruptedException {
        return process == null || process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public Path logFile() {
        return home.resolve("server.log");
    }
}
