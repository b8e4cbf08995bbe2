package io.saucr.services.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.Standby.Arrival;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;

/** What arrives is kept as was decided, whatever became of the folder in between. */
class FollowingTest {

    private static final Birth BIRTH = new Birth(1, 2);

    private static MemberFolder folder(String name) throws IOException {
        MemberFolder folder =
                MemberFolder.open(
                        new SimulatedDisk(1),
                        Path.of("/simulated/" + name),
                        "bank",
                        new SecureRandom());
        folder.birth(BIRTH);
        return folder;
    }

    private static Segment segment(long number, long epoch, SegmentId before) {
        Incarnation by = new Incarnation(BIRTH, epoch, 7);
        return Segment.of(
                new SegmentHeader("bank", by, number, number, number, before.digest(), 0),
                new byte[3]);
    }

    /** It was the next one, and then a base of what follows came from the store. */
    @Test
    void aSegmentThatABaseOvertookIsAGap() throws Exception {
        try (MemberFolder folder = folder("one")) {
            Segment first = segment(1, 1, SegmentId.NONE);
            Segment second = segment(2, 1, first.id());
            folder.append(first);
            folder.append(second);
            folder.force();

            assertThat(Following.put(Arrival.APPEND, second, folder)).isEqualTo(Arrival.GAP);

            assertThat(folder.last()).isEqualTo(second.id());
            Segment third = segment(3, 1, second.id());
            assertThat(Following.put(Arrival.APPEND, third, folder)).isEqualTo(Arrival.APPEND);
            assertThat(folder.last()).isEqualTo(third.id());
        }
    }

    @Test
    void whatIsToBeReplacedIsDroppedFirst() throws Exception {
        try (MemberFolder folder = folder("one")) {
            Segment first = segment(1, 1, SegmentId.NONE);
            Segment orphan = segment(2, 1, first.id());
            folder.append(first);
            folder.append(orphan);
            Segment other = segment(2, 2, first.id());

            assertThat(Following.put(Arrival.REPLACE, other, folder)).isEqualTo(Arrival.REPLACE);

            assertThat(folder.last()).isEqualTo(other.id());
        }
    }

    @Test
    void nothingElseChangesTheFolder() throws Exception {
        try (MemberFolder folder = folder("one")) {
            Segment first = segment(1, 1, SegmentId.NONE);
            folder.append(first);
            Segment second = segment(2, 1, first.id());

            assertThat(Following.put(Arrival.KNOWN, first, folder)).isEqualTo(Arrival.KNOWN);
            assertThat(Following.put(Arrival.GAP, second, folder)).isEqualTo(Arrival.GAP);
            assertThat(Following.put(Arrival.REFUSE, second, folder)).isEqualTo(Arrival.REFUSE);

            assertThat(folder.last()).isEqualTo(first.id());
        }
    }
}
