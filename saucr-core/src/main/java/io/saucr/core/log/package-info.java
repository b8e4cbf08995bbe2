/**
 * What a server's log and its markers may claim: when an entry must be synced (R3, R10, R11), what
 * the markers record (R12, R13, R23), maps of last logged entries (R8), the tags that carry them
 * with a proposal (R1), and the identity of a log (R26).
 */
package io.saucr.core.log;
