/**
 * Process and machine: threads whose death ends the process, locked folders, small files, watches
 * of disk and processors, signals. Knows nothing else of this server.
 */
package io.saucr.server.runtime;
