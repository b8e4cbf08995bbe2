package io.saucr.services.core;

import java.util.List;

/**
 * All that one turn did, in one record (K3): what it changed, consumed, sent and scheduled.
 * Immutable.
 *
 * @param turn its number, one more than the turn's before
 * @param incarnation the number of the start that ran it
 * @param nowMillis the turn's time (K16)
 * @param state what changed in the service's state; the core hands it on unread
 * @param changes what changed in the core, in their order
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Delta(
        long turn, long incarnation, long nowMillis, byte[] state, List<Change> changes) {}
