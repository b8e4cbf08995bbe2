/**
 * How many servers are enough: sizes of quorums (R16, R26), the commit rule with what counts as an
 * ack (R2 to R7, R20, R21), and views (R23).
 */
package io.saucr.core.quorum;
