/** Clients that keep an ensemble busy, and what became of their operations. */
package io.saucr.bench.load;
