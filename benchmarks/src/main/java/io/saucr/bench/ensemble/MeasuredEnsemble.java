package io.saucr.bench.ensemble;

import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.EnsembleUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** An ensemble of one configuration that serves while it is measured. Used by one thread. */
public interface MeasuredEnsemble extends AutoCloseable {
    Configuration configuration();

    /** Connect strings, one for each server that takes clients. */
    List<String> addresses();

    /** From now on every force takes at least the profile's time. */
    void device(DeviceProfile profile);

    /**
     * From now on each running server may use so many processors, as in a container with a limit.
     *
     * @throws IOException if they cannot be taken away
     */
    void limit(double processors) throws IOException;

    /** Kills followers, lowest number first, and waits until the others serve. */
    void fail(int followers) throws Exception;

    /**
     * Waits for the mode in which a situation-aware ensemble works with the servers that run.
     *
     * @throws IllegalStateException if it does not come
     */
    void awaitMode() throws InterruptedException;

    /**
     * What its running servers have used so far.
     *
     * @throws IllegalStateException if the leader has changed
     */
    EnsembleUsage usage();

    /** Bytes that its servers' threads have allocated so far; 0 if that is not known. */
    long allocatedBytes();

    /** What each server that was started here has printed, by number. */
    Map<Integer, Path> logs();

    /** Kills what was started here, and removes what was written elsewhere. */
    @Override
    void close();
}
