/**
 * Decides for a group of services whose messages to each other leave before they are synced: what
 * depends on what, what is final, and what is undone after a failure. No I/O, threads or clock.
 * Nothing is mutable.
 */
package io.saucr.services.core.speculation;
