/**
 * Real server processes: how to launch a distribution, an ensemble of servers on this machine, and
 * the shim between a server and its disk. Knows a server only from outside.
 */
package io.saucr.crash.process;
