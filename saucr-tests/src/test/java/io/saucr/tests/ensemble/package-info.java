/**
 * Ensembles of real server processes, unpacked from the distribution that the build packages. Every
 * test names the rule or the scenario that it shows; what a test waits for is a condition, never a
 * time. The servers' folders and logs stay in {@code target/ensembles} until the next run.
 */
package io.saucr.tests.ensemble;
