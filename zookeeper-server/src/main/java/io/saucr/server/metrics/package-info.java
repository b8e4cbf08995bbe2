/**
 * Metrics: what they are, the values that log and replication record, and a provider for
 * Prometheus.
 */
package io.saucr.server.metrics;
