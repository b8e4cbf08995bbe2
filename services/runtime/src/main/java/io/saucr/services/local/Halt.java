package io.saucr.services.local;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a service that must not go on (K8, K14): as its memory may be ahead of its disk, only a new
 * start can tell what it has done.
 */
@FunctionalInterface
public interface Halt {

    /** The exit status of a process that halted. */
    int STATUS = 70;

    /**
     * Ends it at once. Any thread; returns in tests alone.
     *
     * @param reason what happened and what to do
     * @param cause or null
     */
    void halt(String reason, Throwable cause);

    /** Ends the process, without its shutdown hooks, which could let something out. */
    static Halt process() {
        Logger log = LoggerFactory.getLogger(Halt.class);
        return (reason, cause) -> {
            log.error("The process halts: {}", reason, cause);
            Runtime.getRuntime().halt(STATUS);
        };
    }
}
