/**
 * Connections between services, and from outside clients to services: TCP or TLS, little frames.
 * What travels here may be lost, repeated when a connection is made anew, and overtaken when a pair
 * has two of them: numbers, acks and resending are the core's (K5 to K7). The frames of one
 * connection arrive whole, in order and from the peer they name, or the connection ends with a
 * reason.
 */
package io.saucr.services.net;
