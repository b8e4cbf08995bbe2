package org.apache.zookeeper.metrics.prometheus;

import io.saucr.server.metrics.SaucrPrometheusMetricsProvider;

/**
 * Our provider under the name of Apache's, which is in the {@code zoo.cfg} of many servers.
 * Apache's needs Jetty 9, which gets no more fixes; ours takes the same keys and shows the same
 * metrics.
 */
public final class PrometheusMetricsProvider extends SaucrPrometheusMetricsProvider {}
