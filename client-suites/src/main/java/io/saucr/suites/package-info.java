/**
 * Runs the test suites of other projects' clients against ensembles of Apache's servers and of
 * ours, and compares. The suites come from the registries of their languages at run time.
 */
package io.saucr.suites;
