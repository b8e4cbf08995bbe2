/**
 * What a service or a once client keeps on its own disk: its identity, a journal of turns and a
 * base that holds what was folded out of the journal (K8 to K10, K14).
 */
package io.saucr.services.journal;
