/**
 * {@code Protection.speculative()}: services whose messages to each other leave before they are
 * synced, as members of a group. What depends on a loss is undone (D1 to D16, libDSE).
 */
package io.saucr.services.speculative;
