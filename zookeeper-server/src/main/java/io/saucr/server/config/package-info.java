/**
 * What {@code zoo.cfg} says: the {@code saucr.} keys, and refusals that name key, value and what is
 * allowed.
 */
package io.saucr.server.config;
