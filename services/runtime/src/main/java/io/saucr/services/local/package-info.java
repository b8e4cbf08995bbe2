/**
 * Runs a service's turns, on its own disk: what happens between a message and the moment at which
 * what it caused may leave. The decisions are the core's; handlers, state, journal and connections
 * are brought together here.
 */
package io.saucr.services.local;
