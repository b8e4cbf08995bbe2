package io.saucr.core.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import io.saucr.core.recovery.RecoveryProcedure.Patience;
import io.saucr.core.recovery.RecoveryProcedure.Send;
import io.saucr.core.recovery.RecoveryProcedure.State;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a server that lost its memory asks, step by step. */
class RecoveryProcedureTest {
    private static final Configuration VOTERS = new Configuration(0, List.of(1L, 2L, 3L, 4L, 5L));
    private static final View OWN = new View(Zxid.of(1, 1), 5, VOTERS.voters());
    private static final Patience PATIENCE = new Patience(10, 100);
    private static final long NONCE = 7;

    /**
     * Of a view of five two answers are needed. Server 2 has answered, nobody else is up, and then
     * 2 forces the seal of a newer view: its answer alone is enough now, so it has to be asked.
     */
    @Test
    void r23WhoHasAnsweredIsAskedAgainAndMayHaveANewerViewByThen() {
        EpochEnds log = EpochEnds.startingAt(Zxid.NONE).append(Zxid.of(1, 1));
        Markers markers = new Markers(Zxid.of(1, 2), Zxid.of(1, 1), LleMap.empty(), OWN);
        OnDisk onDisk = new OnDisk(1, log, markers, VOTERS, Optional.empty());
        RecoveryProcedure recovery = new RecoveryProcedure(1, NONCE, onDisk, PATIENCE, 1);
        recovery.start(0);

        recovery.received(2, answer(Zxid.of(1, 2), OWN.seal()), 1);
        assertThat(recovery.state()).isEqualTo(State.QUERYING);
        assertThat(recovery.status().stillNeeded()).isEqualTo(1);

        List<Decision> first = recovery.tick(20);
        List<Decision> second = recovery.tick(40);
        assertThat(first).contains(new Send(2, new LleQuery(NONCE, 1, false)));
        assertThat(second).contains(new Send(2, new LleQuery(NONCE, 1, true)));

        List<Decision> enough = recovery.received(2, answer(Zxid.of(1, 3), Zxid.of(1, 3)), 41);
        assertThat(recovery.state()).isEqualTo(State.COMPARING);
        assertThat(recovery.status().through()).isEqualTo(Zxid.of(1, 3));
        assertThat(enough).containsExactly(new Send(2, new EpochEndsRequest(NONCE, 1, 1)));
    }

    private static LleAnswer answer(long lastLogged, long ownView) {
        return new LleAnswer(
                NONCE, 2, 1, lastLogged, LleMap.empty(), VOTERS, Optional.empty(), ownView);
    }
}
