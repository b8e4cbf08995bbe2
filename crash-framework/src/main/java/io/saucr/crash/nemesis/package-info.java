/** Concurrent clients under random faults; whether what they saw is linearizable. */
package io.saucr.crash.nemesis;
