/**
 * Connections, whatever is said on them: who listens and dials, TLS, silence, bounds, and how
 * fields become bytes. Services and clients talk over them in {@code net}, members of one service
 * in {@code members}.
 */
package io.saucr.services.wire;
