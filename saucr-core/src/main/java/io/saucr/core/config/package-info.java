/**
 * What {@code zoo.cfg} says, and addresses, for the server, its scripts and the tools. Reads files;
 * the rest of this module does not.
 */
package io.saucr.core.config;
