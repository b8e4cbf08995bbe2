/**
 * The decisions of a leader, all behind {@code LeaderState}: what goes out with a proposal (R1,
 * R2), the mode and its switches (R5 to R7, R21, R24), silent and late servers (R9, R10, R24, R27),
 * servers that restarted (R20), seals of views (R23), and syncs (R22).
 */
package io.saucr.core.leader;
