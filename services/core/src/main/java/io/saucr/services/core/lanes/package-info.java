/**
 * Decides which inputs run ahead of their turn, side by side, and whether such a run still counts
 * when its turn comes. No I/O, threads or clock.
 */
package io.saucr.services.core.lanes;
