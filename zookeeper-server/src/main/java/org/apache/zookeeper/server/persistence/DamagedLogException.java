package org.apache.zookeeper.server.persistence;

import java.io.IOException;

/**
 * A server's log or snapshots lack something that it may have acknowledged (H2): it must not vote
 * with what is left, and can only get back from the others what it had.
 */
public final class DamagedLogException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedLogException(String message) {
        super(message);
    }
}
