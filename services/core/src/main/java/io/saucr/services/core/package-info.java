/**
 * The decisions of services that survive crashes: no I/O, no threads, no clock. Classes take events
 * and the time as arguments and return decisions, so that a model checker and a simulator can drive
 * them.
 */
package io.saucr.services.core;
