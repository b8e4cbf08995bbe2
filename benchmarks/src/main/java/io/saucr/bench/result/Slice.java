package io.saucr.bench.result;

/**
 * What was measured in one slice: one configuration, one case, one round. Latencies are in
 * milliseconds, memory in bytes, times in seconds. Immutable.
 *
 * @param voters 0 if the ensemble runs elsewhere
 * @param rate operations offered per second, 0 in a closed loop
 * @param mode of the leader's commits in the slice: fast, slow, mixed, or - if it has no modes
 * @param leaderCpuSeconds the leader's part of {@code serverCpuSeconds}
 * @param clientCpuSeconds of this program, which runs all clients
 * @param forces of all servers, of any kind of file
 * @param logForces of all servers' transaction logs
 * @param meanForceMillis the time that a force took on average, 0 if there was none: what the
 *     device profile really was
 * @param serverReadWriteCalls reads and writes of files and sockets by all servers
 * @param residentBytes of all servers, at the end
 * @param serverAllocatedBytes by the threads of all servers; 0 if that was not asked
 * @param tcpSegments sent by the whole machine, servers and clients, acknowledgements included
 * @param flushes of all SAUCR servers because somebody was silent or left
 * @param observers as {@link Sizes} has them, and what follows
 */
public record Slice(
        String configuration,
        String workload,
        int clients,
        DeviceProfile device,
        int voters,
        int valueBytes,
        double rate,
        int round,
        long operations,
        long errors,
        String firstError,
        double seconds,
        double throughput,
        double meanMillis,
        double p50Millis,
        double p95Millis,
        double p99Millis,
        double p999Millis,
        double maxMillis,
        String mode,
        double serverCpuSeconds,
        double leaderCpuSeconds,
        double clientCpuSeconds,
        long forces,
        long logForces,
        double meanForceMillis,
        long serverReadWriteCalls,
        long residentBytes,
        long serverAllocatedBytes,
        long tcpSegments,
        long fastCommits,
        long slowCommits,
        long modeSwitches,
        long flushes,
        int observers,
        int znodes,
        int sessions,
        int watches,
        int watchers) {

    private static final double MICROS_PER_MILLI = 1000;

    /** A slice made of what clients and servers counted in it. */
    public static Slice of(
            String configuration,
            Case measured,
            int round,
            LoadResult load,
            EnsembleUsage used,
            ProcessUsage client,
            long allocatedBytes,
            long tcpSegments) {
        return new Slice(
                configuration,
                measured.workload(),
                measured.clients(),
                measured.device(),
                measured.voters(),
                measured.valueBytes(),
                measured.rate(),
                round,
                load.operations(),
                load.errors(),
                load.firstError(),
                load.seconds(),
                load.throughput(),
                load.latencies().getMean() / MICROS_PER_MILLI,
                percentile(load, 50),
                percentile(load, 95),
                percentile(load, 99),
                percentile(load, 99.9),
                load.latencies().getMaxValue() / MICROS_PER_MILLI,
                used.mode(),
                used.servers().cpuSeconds(),
                used.leader().cpuSeconds(),
                client.cpuSeconds(),
                used.forces(),
                used.logForces(),
                used.forces() == 0 ? 0 : used.forceSeconds() * 1000 / used.forces(),
                used.servers().readWriteCalls(),
                used.servers().residentBytes(),
                allocatedBytes,
                tcpSegments,
                used.fastCommits(),
                used.slowCommits(),
                used.modeSwitches(),
                used.flushes(),
                measured.sizes().observers(),
                measured.sizes().znodes(),
                measured.sizes().sessions(),
                measured.sizes().watches(),
                measured.sizes().watchers());
    }

    private static double percentile(LoadResult load, double percent) {
        return load.latencies().getValueAtPercentile(percent) / MICROS_PER_MILLI;
    }

    /** What was measured. */
    public Case measured() {
        return new Case(
                workload,
                clients,
                device,
                voters,
                valueBytes,
                rate,
                new Sizes(observers, znodes, sessions, watches, watchers));
    }

    /** Whether it is known what the servers used; else all of that is 0. */
    public boolean serversKnown() {
        return residentBytes > 0;
    }

    /** CPU seconds of all servers for 10,000 operations. */
    public double serverCpuPer10k() {
        return serverCpuSeconds * 10_000 / operations;
    }

    /** CPU time of all servers for an operation, in microseconds. */
    public double serverCpuMicros() {
        return serverCpuSeconds * 1e6 / operations;
    }

    /** CPU seconds of the leader for 10,000 operations. */
    public double leaderCpuPer10k() {
        return leaderCpuSeconds * 10_000 / operations;
    }

    /** CPU seconds of all clients for 10,000 operations. */
    public double clientCpuPer10k() {
        return clientCpuSeconds * 10_000 / operations;
    }

    /** Forces of all servers for one operation. */
    public double forcesPerOperation() {
        return (double) forces / operations;
    }

    /** Reads and writes of all servers for one operation. */
    public double callsPerOperation() {
        return (double) serverReadWriteCalls / operations;
    }

    /** Bytes that all servers allocated for one operation. */
    public double allocatedPerOperation() {
        return (double) serverAllocatedBytes / operations;
    }

    /** TCP segments of servers and clients for one operation. */
    public double segmentsPerOperation() {
        return (double) tcpSegments / operations;
    }
}
