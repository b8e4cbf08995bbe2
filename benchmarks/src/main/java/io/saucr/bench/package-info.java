/**
 * The benchmark driver: starts ensembles, runs configurations interleaved in rounds, and compares
 * them pair by pair.
 */
package io.saucr.bench;
