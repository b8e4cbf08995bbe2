package io.saucr.services.speculative;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Count;
import io.saucr.services.core.Delta;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.SimulatedDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the file of undone turns says, how large it becomes, and that nothing depends on it. */
class UndoneLogTest {

    private static final Instant AT = Instant.parse("2026-11-30T01:12:07.481Z");

    @TempDir private Path folder;

    private static Delta turn(long number, Change... changes) {
        return new Delta(number, 1, 0, List.of(changes));
    }

    @Test
    void anEntryNamesTheCauseAndEachInput() throws Exception {
        UndoneLog log = new UndoneLog(Disk.local(), folder);
        Body body = new Body("Book", new byte[0]);
        log.note(
                AT,
                3,
                "version 97 depended on version 12 of trips",
                List.of(
                        turn(
                                412,
                                new Change.Consumed("trips", new Count(388, 1, 9)),
                                new Change.Sent("cars", 0, Optional.empty(), body),
                                new Change.OutputMade(body)),
                        turn(413, new Change.TimerGone(7)),
                        turn(414, new Change.OutputDone(5)),
                        turn(415, new Change.ReturnTaken(2)),
                        turn(416)));
        log.note(AT, 4, "version 98 depended on version 13 of trips", List.of(turn(412)));
        assertThat(folder.resolve(UndoneLog.NAME))
                .hasContent(
                        """
                        2026-11-30T01:12:07.481Z world 3: turns 412 to 416 are undone, as version 97 depended on version 12 of trips
                          turn 412: message 388 of trips; had sent 1 to cars, calls: 1
                          turn 413: timer 7
                          turn 414: the result of call 5
                          turn 415: returned message 2
                          turn 416: a request without a number, or the service itself
                        2026-11-30T01:12:07.481Z world 4: turns 412 to 412 are undone, as version 98 depended on version 13 of trips
                          turn 412: a request without a number, or the service itself
                        """);
    }

    @Test
    void theFileIsBounded() throws Exception {
        UndoneLog log = new UndoneLog(Disk.local(), folder);
        List<Delta> many =
                LongStream.rangeClosed(1, UndoneLog.MOST_TURNS + 5)
                        .mapToObj(it -> turn(it))
                        .toList();
        log.note(AT, 2, "of a test", many);
        assertThat(Files.readString(folder.resolve(UndoneLog.NAME))).endsWith("  and 5 more\n");
        long entry = Files.size(folder.resolve(UndoneLog.NAME));
        for (int world = 3; !Files.exists(folder.resolve(UndoneLog.OLDER)); world++) {
            log.note(AT, world, "of a test", many);
            assertThat(Files.size(folder.resolve(UndoneLog.NAME)))
                    .isLessThan(UndoneLog.LARGEST_BYTES + entry + 100);
        }
        assertThat(Files.size(folder.resolve(UndoneLog.OLDER)))
                .isGreaterThanOrEqualTo(UndoneLog.LARGEST_BYTES);
        assertThat(Files.size(folder.resolve(UndoneLog.NAME))).isLessThan(entry + 100);
    }

    @Test
    void aDiskThatFailsIsNoFailureOfTheService() {
        SimulatedDisk disk = new SimulatedDisk(1);
        disk.halt();
        UndoneLog log = new UndoneLog(disk, folder);
        assertThatCode(() -> log.note(AT, 2, "of a test", List.of(turn(1))))
                .doesNotThrowAnyException();
    }
}
