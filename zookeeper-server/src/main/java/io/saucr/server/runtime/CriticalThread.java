package io.saucr.server.runtime;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A daemon thread that this server cannot do without. Whatever its body throws, an OutOfMemoryError
 * for example, ends the process: without the thread the server would look alive but answer nobody,
 * or acknowledge entries that nobody forces.
 *
 * <p>The process ends by ZooKeeper's exit procedure, which a program that embeds servers may have
 * replaced; then that program decides. If the procedure has begun to end the process and the
 * shutdown hooks hang, on a lock that a dead thread left behind for example, the process is halted
 * after {@value #HOOKS_SECONDS} seconds.
 */
public final class CriticalThread extends Thread {
    private static final Logger LOG = LoggerFactory.getLogger(CriticalThread.class);

    /** The hooks flush the log, which may take seconds on a slow disk. */
    private static final long HOOKS_SECONDS = 10;

    private static final int EXIT_CODE = ExitCode.UNEXPECTED_ERROR.getValue();

    private static volatile boolean failing;

    private final BooleanSupplier stopped;

    /**
     * @param stopped whether the thread is no longer needed: then an exception, but not an error,
     *     is ignored, as the body may still use what is being closed
     */
    public CriticalThread(String name, Runnable body, BooleanSupplier stopped) {
        super(body, name);
        this.stopped = stopped;
        setDaemon(true);
    }

    @Override
    public void run() {
        guard(() -> super.run(), stopped);
    }

    /**
     * Runs a body on the current thread with the same consequences; returns normally in any case.
     */
    public static void guard(Runnable body) {
        guard(body, () -> false);
    }

    /**
     * As {@link #guard(Runnable)}, for a body that may be stopped.
     *
     * @param stopped as the constructor's
     */
    public static void guard(Runnable body, BooleanSupplier stopped) {
        try {
            body.run();
        } catch (Throwable e) {
            if (e instanceof RuntimeException && stopped.getAsBoolean()) {
                LOG.info("The thread {} ends while all is closed", currentThread().getName(), e);
                return;
            }
            endProcess("The thread " + currentThread().getName() + " cannot continue", e);
        }
    }

    /** Whether the process ends because something failed. */
    public static boolean failing() {
        return failing;
    }

    /**
     * Ends the process as described above, and waits for its end; returns if an embedder's exit
     * procedure does not end it.
     *
     * @param what what failed, as the first half of a sentence in the log
     */
    public static void endProcess(String what, Throwable cause) {
        failing = true;
        try {
            LOG.error("{}, so this server stops", what, cause);
        } catch (Throwable e) {
            // If there is no memory for a line in the log, the process ends without one.
        }
        Thread exit;
        try {
            exit = new Thread(() -> ServiceUtils.requestSystemExit(EXIT_CODE), "SaucrExit");
            exit.setDaemon(true);
            exit.start();
        } catch (Throwable e) {
            // There is no memory for a thread. So the hooks cannot start theirs either, and none
            // can hang.
            ServiceUtils.requestSystemExit(EXIT_CODE);
            return;
        }
        await(exit);
        if (exit.isAlive() && processIsEnding()) {
            Runtime.getRuntime().halt(EXIT_CODE);
        }
    }

    private static void await(Thread exit) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(HOOKS_SECONDS);
        boolean interrupted = false;
        long left = HOOKS_SECONDS * 1_000;
        while (exit.isAlive() && left > 0) {
            try {
                exit.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Whether the shutdown hooks have begun; else an embedder's exit procedure is still running.
     */
    private static boolean processIsEnding() {
        try {
            Thread probe = new Thread(() -> {});
            Runtime.getRuntime().addShutdownHook(probe);
            Runtime.getRuntime().removeShutdownHook(probe);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }
}
