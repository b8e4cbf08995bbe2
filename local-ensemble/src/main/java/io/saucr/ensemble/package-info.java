/**
 * An ensemble of real server processes on this machine: how to launch a distribution, where its
 * servers listen, and the shim between a server and its disk. Knows a server only from outside.
 */
package io.saucr.ensemble;
