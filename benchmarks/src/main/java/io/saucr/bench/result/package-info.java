/**
 * What was measured, as values: slices of a run, what servers used, and what is computed of several
 * of them. Depends on none of the other packages.
 */
package io.saucr.bench.result;
