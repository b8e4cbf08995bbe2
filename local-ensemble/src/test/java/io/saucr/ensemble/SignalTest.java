package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SignalTest {
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    /** More of them than processors: some do not run when the signal comes. */
    @Test
    void whoeverIsStoppedStandsStillAtOnce() throws Exception {
        for (int i = 0; i < 8; i++) {
            started.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
        }
        List<Long> pids = started.stream().map(Process::pid).toList();
        for (int round = 0; round < 5; round++) {
            Signal.STOP.send(pids);
            assertThat(pids).allMatch(Signal::standsStill);
            Signal.CONT.send(pids);
            assertThat(pids).noneMatch(Signal::standsStill);
        }
    }

    @Test
    void whoIsGoneIsPassedOver() throws Exception {
        Process gone = new ProcessBuilder("true").start();
        gone.waitFor();
        Signal.STOP.send(List.of(gone.pid()));
        assertThat(Signal.standsStill(gone.pid())).isTrue();
    }
}
