/** Metrics of services for Micrometer; all else works without it. */
package io.saucr.services.metrics;
