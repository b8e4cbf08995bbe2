package io.saucr.services.tests.standby;

import io.saucr.ensemble.LineProcess;
import io.saucr.ensemble.Signal;
import io.saucr.services.tests.crash.Member;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A {@link StandbyProgram} as a process of this machine, which may be killed, stopped, and started
 * again in its folder. Orders are given by one thread; what it says is read by another.
 */
public final class MemberProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<String> command;
    private final Path log;
    private LineProcess process;
    private String member;

    /**
     * Starts it, and waits until it says so.
     *
     * @param place servers and path of the service
     * @param folder its own; its log is next to it
     * @param copies members that force each segment
     * @param fast whether a standby takes the place of a disk (C15)
     * @param everyMillis between two checkpoints; 0 where replies wait (C7)
     * @param jvm options of its JVM
     */
    public MemberProcess(
            String place, Path folder, int copies, boolean fast, long everyMillis, List<String> jvm)
            throws IOException {
        this(place, folder, copies, fast, everyMillis, StandbyProgram.MEMBERS, jvm);
    }

    /**
     * The same with segments in a store.
     *
     * @param store as {@link StandbyProgram#STORE} says
     */
    public MemberProcess(
            String place, Path folder, int copies, boolean fast, long everyMillis, String store)
            throws IOException {
        this(place, folder, copies, fast, everyMillis, store, Member.SMALL_JVM);
    }

    private MemberProcess(
            String place,
            Path folder,
            int copies,
            boolean fast,
            long everyMillis,
            String store,
            List<String> jvm)
            throws IOException {
        log = folder.resolveSibling(folder.getFileName() + ".log");
        List<String> flags = new ArrayList<>(jvm);
        flags.addAll(
                List.of(
                        "-XX:-UsePerfData",
                        "-D" + StandbyProgram.STORE + "=" + store,
                        "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml"));
        command =
                LineProcess.java(
                        flags,
                        StandbyProgram.class.getName(),
                        place,
                        folder.toString(),
                        Integer.toString(copies),
                        Boolean.toString(fast),
                        Long.toString(everyMillis));
        start();
    }

    /** Starts it again in its folder, and waits until it says so. */
    public void start() throws IOException {
        process = new LineProcess("a member", command, Map.of(), log, PATIENCE, line -> {});
        member = rest(process.await(0, "started "));
    }

    /** Its member, 16 hexadecimal digits. */
    public String member() {
        return member;
    }

    private static String rest(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }

    /** How it is, by the names of {@link StandbyProgram}. */
    public Map<String, String> status() {
        return Statuses.parse(rest(process.ask("status", "status ")));
    }

    /** Whether it is primary. */
    public boolean isPrimary() {
        return "primary".equals(status().get("role"));
    }

    /**
     * Hands its role over to any member, unless it is not primary any more: on a busy machine its
     * lease may have run out since it was looked at.
     *
     * @throws IllegalStateException where it refuses for another reason
     */
    public void handOver() {
        String answer = process.ask("handover", "handed", "refused");
        if (!answer.equals("handed") && !answer.contains(" is not primary")) {
            throw new IllegalStateException("member " + member + " does not hand over: " + answer);
        }
    }

    /** SIGKILL; returns when it is dead. */
    public void kill() {
        process.close();
    }

    /** SIGSTOP, or SIGCONT after it. */
    public void freeze(boolean frozen) throws IOException {
        (frozen ? Signal.STOP : Signal.CONT).send(List.of(process.process().pid()));
    }

    /** SIGKILL, where it runs. */
    @Override
    public void close() {
        process.close();
    }
}
