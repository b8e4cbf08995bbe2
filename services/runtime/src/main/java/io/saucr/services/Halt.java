package io.saucr.services;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears that a service of this process must not continue: its disk failed, its head is another's,
 * or a turn does not end (K8, K14). The service is over then. Its memory may be ahead of its disk,
 * so only a new start can tell what it has done. The process and its other services continue.
 */
@FunctionalInterface
public interface Halt {

    /** The exit status of a process that halted. */
    int STATUS = 70;

    /**
     * The service is over: nothing leaves it any more. Called once, on a thread of its own.
     * Meanwhile its connections, session and folder are closed; {@link RunningService#close} waits
     * for that, here, too, and then the service may be started again in this process.
     *
     * @param reason what happened and what to do
     * @param cause or null
     */
    void halt(String reason, Throwable cause);

    /**
     * Ends the process with status {@value #STATUS}, without its shutdown hooks: for a program that
     * is nothing but its services, and that somebody starts again.
     */
    static Halt process() {
        Logger log = LoggerFactory.getLogger(Halt.class);
        return (reason, cause) -> {
            log.error("The process halts: {}", reason);
            Runtime.getRuntime().halt(STATUS);
        };
    }
}
