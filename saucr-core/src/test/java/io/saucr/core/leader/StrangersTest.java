package io.saucr.core.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Servers that are in no configuration connect to a leader under ever new numbers: neither their
 * connections nor what is remembered of them ever keeps a voter out.
 */
class StrangersTest {
    private static final int STRANGERS = 10_000;
    private static final long START = Zxid.of(1, 0);

    private final CommitRule rule = new CommitRule(1, List.of(1L, 2L, 3L));
    private final ReplicationSet set = new ReplicationSet(1, LleMap.empty(), START);

    private final Map<Long, Long> connections = new HashMap<>();

    private void voterConnects(long sid) {
        connections.put(sid, rule.connect(sid, true));
        rule.join(sid, connections.get(sid));
    }

    private void sealsTheView(long zxid) {
        assertThat(rule.proposeSeal(zxid).members()).containsExactly(1L, 2L, 3L);
        connections.forEach((sid, connection) -> rule.ack(sid, connection, zxid));
        assertThat(rule.committableThrough()).isEqualTo(zxid);
        rule.committed(zxid);
    }

    private void commitsFast(long zxid) {
        rule.propose(zxid, Mode.FAST);
        connections.forEach((sid, connection) -> rule.ack(sid, connection, zxid));
        assertThat(rule.committableThrough()).isEqualTo(zxid - 1);
        rule.ack(1, CommitRule.SELF, zxid);
        assertThat(rule.committableThrough()).isEqualTo(zxid);
        rule.committed(zxid);
    }

    @Test
    void r21StrangersWhoComeAndGoTakeNothingAway() {
        rule.startEpoch(START);
        voterConnects(2);
        voterConnects(3);
        for (long sid = 100; sid < 100 + STRANGERS; sid++) {
            rule.disconnect(sid, rule.connect(sid, true));
        }
        sealsTheView(START + 1);
        commitsFast(START + 2);
        voterConnects(2);
        sealsTheView(START + 3);
        commitsFast(START + 4);
    }

    @Test
    void r21StrangersWhoStayAreRefusedBeforeTheyCrowdOutVoters() {
        rule.startEpoch(START);
        assertThatThrownBy(
                        () -> {
                            for (long sid = 100; sid < 100 + STRANGERS; sid++) {
                                rule.connect(sid, true);
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is no voter");
        voterConnects(2);
        voterConnects(3);
        sealsTheView(START + 1);
        commitsFast(START + 2);
        rule.reconfigure(List.of(1L, 2L, 3L, 4L, 5L));
        rule.propose(START + 3, Mode.SLOW);
        rule.ack(1, CommitRule.SELF, START + 3);
        long connection = rule.connect(4, true);
        rule.ack(4, connection, START + 3);
        assertThat(rule.committableThrough()).isEqualTo(START + 2);
        rule.ack(5, rule.connect(5, true), START + 3);
        assertThat(rule.committableThrough()).as("not in the old one").isEqualTo(START + 2);
        rule.ack(2, rule.connect(2, true), START + 3);
        assertThat(rule.committableThrough()).isEqualTo(START + 3);
    }

    @Test
    void r7AServerThatLeftTheConfigurationStillCountsForEntriesThatAskForIt() {
        rule.startEpoch(START);
        rule.propose(START + 1, Mode.SLOW);
        rule.voters(List.of(1L, 4L, 5L));
        for (long sid = 100; sid < 100 + STRANGERS; sid++) {
            rule.disconnect(sid, rule.connect(sid, true));
        }
        rule.ack(1, CommitRule.SELF, START + 1);
        assertThat(rule.committableThrough()).isEqualTo(START);
        rule.ack(2, rule.connect(2, true), START + 1);
        assertThat(rule.committableThrough()).isEqualTo(START + 1);
    }

    @Test
    void r23AMemberOfTheViewKeepsItsPlaceWhoeverComesAndGoes() {
        rule.startEpoch(START);
        voterConnects(2);
        voterConnects(3);
        sealsTheView(START + 1);
        rule.disconnect(3, connections.remove(3L));
        for (long sid = 100; sid < 100 + STRANGERS; sid++) {
            long connection = rule.connect(sid, true);
            rule.join(sid, connection);
            assertThat(rule.sealed(sid)).isFalse();
            rule.disconnect(sid, connection);
        }
        assertThat(rule.sealDue()).isTrue();
        assertThat(rule.proposeSeal(START + 2).members()).containsExactly(1L, 2L);
    }

    @Test
    void r1WhatIsRememberedOfStrangersFitsIntoATag() {
        long zxid = START;
        int admitted = 0;
        for (long sid = Long.MAX_VALUE; sid > Long.MAX_VALUE - STRANGERS; sid--) {
            if (set.admits(sid)) {
                set.join(sid);
                set.propose(++zxid, Mode.FAST);
                set.leave(sid);
                admitted++;
            }
        }
        assertThat(admitted).isBetween(64, ReplicationSet.MAX_KNOWN);
        assertThat(set.admits(Long.MAX_VALUE)).as("one who is known already").isTrue();
        for (long voter = 2; voter <= 64; voter++) {
            set.join(voter);
        }
        ProposalTag tag = set.propose(++zxid, Mode.FAST);
        assertThat(ProposalTag.decode(tag.encode())).isEqualTo(tag);
    }
}
