package io.saucr.model.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryProcedure.State;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Server 1 of five recovers, whose log ends with entry 4. Where it has a view, 4 sealed it. */
class RecoveryTest {
    private static final Configuration VOTERS = new Configuration(0, List.of(1L, 2L, 3L, 4L, 5L));

    /**
     * Of a view of four one answer is enough. Whatever the order by number, the answer that is
     * enough is fed last, so that all others were compared before the source is taken.
     */
    @Test
    void answersOfNonMembersAreFedBeforeThatOfAMember() {
        Recovery recovery = recovery(markers(List.of(1L, 2L, 3L, 4L)));
        LleAnswer[] answers = new LleAnswer[5];
        answers[1] = answer(2, 5, Zxid.NONE);
        answers[4] = answer(5, 6, Zxid.NONE);

        recovery.receiveAll(answers);

        assertThat(recovery.source).isEqualTo(4);
        assertThat(recovery.received).isEqualTo(answers);
    }

    /** An answer of a newer view is enough alone, so it is fed after those of members. */
    @Test
    void anAnswerOfANewerViewIsFedLast() {
        Recovery recovery = recovery(markers(List.of(1L, 2L, 3L, 4L, 5L)));
        LleAnswer[] answers = new LleAnswer[5];
        answers[1] = answer(2, 5, zxid(5));
        answers[2] = answer(3, 6, zxid(4));

        recovery.receiveAll(answers);

        assertThat(recovery.source).isEqualTo(2);
    }

    /** Whoever has forced no seal needs R answers, whatever views they name. */
    @Test
    void tooFewAnswersStayTooFew() {
        Recovery recovery = recovery(new Markers(zxid(5), zxid(4), LleMap.empty()));
        LleAnswer[] answers = new LleAnswer[5];
        answers[4] = answer(5, 6, zxid(5));

        recovery.receiveAll(answers);

        assertThat(recovery.procedure.state()).isEqualTo(State.QUERYING);
        assertThat(recovery.source).isEqualTo(Server.NOWHERE);
    }

    private static Recovery recovery(Markers markers) {
        EpochEnds log = EpochEnds.startingAt(Zxid.NONE);
        for (int counter = 1; counter <= 4; counter++) {
            log = log.append(zxid(counter));
        }
        return new Recovery(1, 1, 1, log, markers, VOTERS, false, false);
    }

    private static Markers markers(List<Long> members) {
        return new Markers(zxid(5), zxid(4), LleMap.empty(), new View(zxid(4), 5, members));
    }

    private static LleAnswer answer(long sender, int lastLogged, long ownView) {
        return new LleAnswer(
                1, sender, 1, zxid(lastLogged), LleMap.empty(), VOTERS, Optional.empty(), ownView);
    }

    private static long zxid(int counter) {
        return Zxid.of(1, counter);
    }
}
