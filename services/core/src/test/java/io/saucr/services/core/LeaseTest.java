package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LeaseTest {

    private final Lease lease = new Lease(100);

    @Test
    void itIsNotHeldBeforeOfficeWasProven() {
        assertThat(lease.holds(5)).isFalse();
        lease.provenSince(5);
        assertThat(lease.holds(5)).isTrue();
    }

    @Test
    void itEndsWithTheLastProof() {
        lease.provenSince(-50);
        assertThat(lease.holds(49)).isTrue();
        assertThat(lease.holds(50)).isFalse();
        lease.provenSince(20);
        lease.provenSince(10);
        assertThat(lease.holds(119)).isTrue();
        assertThat(lease.holds(120)).isFalse();
    }

    @Test
    void itEndsWithTheOldestReplyThatIsNotCovered() {
        lease.provenSince(0);
        lease.left(1, 10);
        lease.left(2, 10);
        lease.left(2, 30);
        lease.left(3, 60);
        lease.provenSince(1_000);
        assertThat(lease.holds(109)).isTrue();
        assertThat(lease.holds(1_001)).isFalse();
        lease.covered(1);
        assertThat(lease.holds(1_001)).isFalse();
        lease.covered(3);
        assertThat(lease.holds(1_001)).isTrue();
    }

    @Test
    void whatLeftInOneMillisecondCountsUpToItsLastTurn() {
        lease.provenSince(0);
        lease.left(1, 10);
        lease.left(7, 10);
        lease.covered(6);
        lease.provenSince(200);
        assertThat(lease.holds(250)).isFalse();
        lease.covered(7);
        assertThat(lease.holds(250)).isTrue();
    }

    @Test
    void aLeaseOfNothingIsRefused() {
        assertThatThrownBy(() -> new Lease(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from 1 ms");
    }
}
