/**
 * Runs a service's turns, whatever protects them: what happens between a message and the moment at
 * which what it caused may leave. The decisions are the core's; handlers, state and connections are
 * brought together here. A protection implements {@link io.saucr.services.turns.Guard}.
 */
package io.saucr.services.turns;
