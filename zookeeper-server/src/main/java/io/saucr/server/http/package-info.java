/** A small HTTP server on Netty, for the AdminServer and for the metrics. */
package io.saucr.server.http;
