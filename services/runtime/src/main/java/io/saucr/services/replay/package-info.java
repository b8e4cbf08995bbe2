/**
 * Handlers in lanes: the primary records the order of their events, and other members replay it
 * (rules X1 to X19). {@link io.saucr.services.core.replay} decides; the threads and locks are here.
 */
package io.saucr.services.replay;
