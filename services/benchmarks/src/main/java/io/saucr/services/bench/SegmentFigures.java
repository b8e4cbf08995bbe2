package io.saucr.services.bench;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.journal.Disk;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.DeltaFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * What the checkpoints of a member are like (tables 5 and 6).
 *
 * @param segments that were read, without those that name no turn
 * @param bytes of all of them
 * @param entries that they say are changed: once each, however often it was (the paper's changed
 *     and alive)
 * @param changedBytes keys and values of these
 */
record SegmentFigures(long segments, long bytes, long entries, long changedBytes) {

    /**
     * Reads them from a folder that no process has open.
     *
     * @param after number of the newest segment that does not count
     * @param upTo number of the newest that does
     */
    static SegmentFigures of(Path folder, long after, long upTo) throws IOException {
        long segments = 0;
        long bytes = 0;
        long entries = 0;
        long changed = 0;
        try (MemberFolder member =
                MemberFolder.open(Disk.local(), folder, KvService.NAME, new SecureRandom())) {
            long last = Math.min(upTo, member.last().number());
            for (long number = Math.max(after + 1, member.oldest()); number <= last; number++) {
                Segment segment = member.read(number);
                if (segment.header().isEmpty()) {
                    continue;
                }
                Changes changes =
                        Changes.decode(
                                DeltaFormat.read(segment.header().lastTurn(), segment.body())
                                        .state());
                segments++;
                bytes += segment.bytes();
                entries += changes.entries();
                changed += changes.bytes();
            }
        }
        return new SegmentFigures(segments, bytes, entries, changed);
    }
}
