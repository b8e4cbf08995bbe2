/**
 * The ensembles that are measured: which distribution, how it is configured, started or reached,
 * and what its processes use.
 */
package io.saucr.bench.ensemble;
