/**
 * Runs ZooKeeper's own published tests three times, on Apache's jar and on ours with SAUCR off and
 * on, and compares.
 */
package io.saucr.apache;
