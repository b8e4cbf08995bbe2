package org.apache.zookeeper.server.persistence;

import java.io.IOException;

/**
 * A server's log or snapshots lack something that it may have acknowledged (H2): it must not vote
 * with what is left. Only the other servers can give back what it had.
 */
public final class DamagedLogException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedLogException(String message) {
        super(message);
    }
}
