package io.saucr.bench.micro;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What happens when the mode or the set of servers changes, or a marker is written. */
@State(Scope.Thread)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class EveryChange {
    private static final long EPOCH = 1L << 32;

    /** Voters of the ensemble. */
    @Param({"3", "5", "7"})
    public int voters;

    private LleMap map;
    private LleMap newer;
    private ProposalTag tag;
    private long[] members;

    @Setup
    public void ensemble() {
        Map<Long, Long> values = new HashMap<>();
        Map<Long, Long> later = new HashMap<>();
        members = new long[voters - 1];
        for (long sid = 1; sid <= voters; sid++) {
            values.put(sid, EPOCH + 1000 * sid);
            later.put(sid, EPOCH + (sid % 2 == 0 ? 5000 : 1));
            if (sid < voters) {
                members[(int) sid - 1] = sid;
            }
        }
        map = LleMap.of(values);
        newer = LleMap.of(later);
        tag = ProposalTag.of(Mode.FAST, members, map);
    }

    /** A map's text, as it stands in markers and tags. */
    @Benchmark
    public String encodeMap() {
        return map.encode();
    }

    /** The larger value per server of two maps, of which neither holds the other (R8). */
    @Benchmark
    public LleMap mergeMaps() {
        return map.merge(newer);
    }

    /** A tag for a set of servers that has changed (R1). */
    @Benchmark
    public ProposalTag encodeTag() {
        return ProposalTag.of(Mode.FAST, members, map);
    }

    /** A tag that a follower has not seen before. */
    @Benchmark
    public ProposalTag decodeTag() {
        return ProposalTag.decode(tag.encode());
    }
}
