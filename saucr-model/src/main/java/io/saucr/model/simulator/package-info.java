/**
 * The simulator: random schedules of a {@link io.saucr.model.cluster.ModelCluster} under time and
 * faults, millions of them, the seed alone deciding each. {@link
 * io.saucr.model.simulator.SimCommand} is its command line; {@code Simulation} states the fault
 * budget; the cluster's {@link io.saucr.model.cluster.Liveness} looks at liveness; {@code Replay}
 * shrinks what was found to a short scenario.
 */
package io.saucr.model.simulator;
