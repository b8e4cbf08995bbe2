/**
 * Connections between the members of one service: a primary and its standbys. Segments, bases and
 * what is known of them travel here, and heartbeats between them.
 */
package io.saucr.services.members;
