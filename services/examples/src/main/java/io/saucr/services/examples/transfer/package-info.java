/**
 * Two-phase commit: money moves between accounts of several branches, in all of them or in none.
 * Its services are a group that speculates; see {@link
 * io.saucr.services.examples.transfer.Transfers}.
 */
package io.saucr.services.examples.transfer;
