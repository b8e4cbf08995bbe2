/** Faults of whole machines, through one interface with two back ends. */
package io.saucr.crash.fault;
