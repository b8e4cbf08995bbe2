package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Scenarios of the order of commits and reads. {@code r1.2} is a read of session 1 with number 2,
 * {@code w1.2} a write, {@code c1.2} its commit, {@code c9.1} one of another server's client,
 * {@code e1.2} the end of a read, {@code o} an owner that works as long as there is something to
 * do, {@code d1.2} the end of what it does and what it does next. The trace has reads that begin
 * beside the owner ({@code read}), and what the owner does ({@code apply}, {@code answer}, {@code
 * leave}).
 */
class CommitScheduleTest {
    private final CommitSchedule schedule =
            new CommitSchedule(each -> each.type == OpCode.create, each -> each.cxid >= 1000);
    private final List<Request> requests = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();

    private static Request request(long session, int cxid, int type) {
        return new Request(null, session, cxid, type, null, null);
    }

    private Request known(long session, int cxid) {
        return requests.stream()
                .filter(each -> each.sessionId == session && each.cxid == cxid)
                .findFirst()
                .orElseThrow();
    }

    private void play(String word) {
        char command = word.charAt(0);
        if (command == 'o') {
            if (schedule.needsOwner()) {
                schedule.ownedBy(Thread.currentThread());
                next();
            } else {
                trace.add("no owner");
            }
            return;
        }
        String[] numbers = word.substring(1).split("\\.");
        long session = Long.parseLong(numbers[0]);
        int cxid = Integer.parseInt(numbers[1]);
        switch (command) {
            case 'r', 'w' -> {
                boolean write = command == 'w';
                Request request = request(session, cxid, write ? OpCode.create : OpCode.exists);
                requests.add(request);
                if (schedule.arrives(request, write, false)) {
                    trace.add("read " + session + "." + cxid);
                }
            }
            case 'c' -> schedule.commits(request(session, cxid, OpCode.create));
            case 'e' -> schedule.hasRead(known(session, cxid));
            case 'd' -> {
                schedule.hasDone(schedule.current());
                next();
            }
            default -> throw new AssertionError(word);
        }
    }

    private void next() {
        CommitSchedule.Step step = schedule.next(false, false);
        switch (step) {
            case LEAVE -> {
                schedule.leave();
                trace.add("leave");
            }
            case HAND_OVER -> trace.add("hand over");
            case APPLY, READ -> {
                Request request = schedule.current();
                trace.add(
                        (step == CommitSchedule.Step.APPLY ? "apply " : "answer ")
                                + request.sessionId
                                + "."
                                + request.cxid);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // Reads run beside each other.
                "r1.1 r2.1 e2.1 e1.1 o | read 1.1, read 2.1, no owner",
                // A commit waits for the reads that are under way, and later reads for the commit.
                "r1.1 c9.1 o r2.1 e1.1 o d9.1 d2.1 | read 1.1, no owner, apply 9.1, answer 2.1, leave",
                // Commits come in their order.
                "c9.1 c9.2 o d9.1 d9.2 | apply 9.1, apply 9.2, leave",
                // While a commit is applied nobody reads.
                "c9.1 o r1.1 d9.1 d1.1 | apply 9.1, answer 1.1, leave",
                // A session's read waits for its write, another session's does not.
                "w1.1 r1.2 r2.1 e2.1 c1.1 o d1.1 d1.2 | read 2.1, apply 1.1, answer 1.2, leave",
                // A write behind a read of its session is applied after it.
                "c9.1 o r1.1 w1.2 c1.2 d9.1 d1.1 d1.2 | apply 9.1, answer 1.1, apply 1.2, leave",
                // Nobody becomes the owner while there is one.
                "c9.1 o o d9.1 | apply 9.1, no owner, leave",
                // What may take long is for the stage's thread.
                "c9.1000 o | hand over"
            })
    void order(String input, String expected) {
        for (String word : input.trim().split(" ")) {
            play(word);
        }
        assertThat(String.join(", ", trace)).isEqualTo(expected);
    }

    @Test
    void aCommittedWriteIsTheRequestOfItsClient() {
        play("w1.1");
        Request commit = request(1, 1, OpCode.create);
        commit.zxid = 7;
        schedule.commits(commit);
        play("o");
        assertThat(schedule.current()).isSameAs(known(1, 1));
        assertThat(known(1, 1).zxid).isEqualTo(7);
    }

    @Test
    void readsThatWaitHaveTheirTurnEvenIfCommitsNeverEnd() {
        for (int i = 1; i <= 2 * CommitSchedule.MOST_IN_ROW; i++) {
            play("c9." + i);
        }
        play("o");
        play("r1.1");
        for (int i = 0; i < CommitSchedule.MOST_IN_ROW; i++) {
            play("d0.0");
        }
        assertThat(trace.indexOf("answer 1.1")).isEqualTo(CommitSchedule.MOST_IN_ROW);
    }

    @Test
    void whoReadsIsNotIdle() {
        play("r1.1");
        assertThat(schedule.reading()).isOne();
        assertThat(schedule.isIdle()).isFalse();
        play("e1.1");
        assertThat(schedule.isIdle()).isTrue();
    }
}
