/**
 * Cluster-state sequences: their generation, their run against real servers, verdicts and reports.
 */
package io.saucr.crash.campaign;
