package org.apache.zookeeper.server.quorum;

import java.security.SecureRandom;

/**
 * The number of one server process (R18a, R20), and how a follower announces it together with SAUCR
 * itself: as the protocol version in FOLLOWERINFO (H12). Apache's servers send 0x10000 and accept
 * whatever is not less.
 */
final class Incarnation {
    private static final int SIGNATURE = 0x4000_0000;
    private static final int MASK = SIGNATURE - 1;

    private Incarnation() {}

    /** A new process's number, 1 to 2^30 - 1. */
    static int draw() {
        return 1 + new SecureRandom().nextInt(MASK);
    }

    /** The protocol version that announces the number. */
    static int announcement(int nonce) {
        return SIGNATURE | nonce;
    }

    /** Whether a protocol version announces SAUCR. */
    static boolean announcedBy(int version) {
        return version > 0 && (version & SIGNATURE) != 0;
    }

    /** The number that a protocol version announces. */
    static int of(int version) {
        return version & MASK;
    }
}
