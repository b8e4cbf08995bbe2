package io.saucr.services.core.speculation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.Versions.Taking;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A member's own versions: what it may take, what is final, what it keeps. It is member 0. */
class VersionsTest {

    private static final Versions NEW = Versions.of(0, 1, 0);

    private static Vertex from(int member, long version) {
        return new Vertex(member, 1, version);
    }

    /** Seals, and syncs. */
    private static Versions synced(Versions of) {
        return of.sealed().forced(of.seal());
    }

    @Test
    void d2ATurnDependsOnWhatIsNotKnownToBeFinal() {
        Versions one = NEW.took(from(1, 1)).took(from(2, 0)).took(from(1, 1));
        assertThat(one.seal()).isEqualTo(new Sealed(1, 1, VersionVector.of(0, 1)));
        assertThat(one.bounded(1, VersionVector.of(0, 1)).seal().dependencies().isNone()).isTrue();
        assertThat(NEW.bounded(1, VersionVector.of(0, 3)).took(from(1, 3)).seal().dependencies())
                .isEqualTo(VersionVector.NONE);
    }

    @Test
    void d2AMessageNamesItsVersionUntilThatIsFinal() {
        Versions open = NEW.turn();
        assertThat(open.vertex(1)).isEqualTo(from(0, 1));
        assertThat(open.newestVertex()).isEqualTo(from(0, 1));
        Versions done = synced(open);
        assertThat(done.vertex(1)).isEqualTo(from(0, 0));
        // No turn belongs to version 2.
        assertThat(done.newestVertex()).isEqualTo(from(0, 0));
        assertThat(NEW.newestVertex()).isEqualTo(from(0, 0));
    }

    @Test
    void d3AHigherVersionIsTakenBehindASealOrByAnEmptyVersion() {
        assertThat(NEW.taking(from(1, 5))).isEqualTo(Taking.NOW);
        assertThat(NEW.took(from(1, 5)).open()).isEqualTo(5);
        Versions busy = NEW.turn();
        assertThat(busy.taking(from(1, 5))).isEqualTo(Taking.AFTER_A_SEAL);
        Versions after = busy.sealed().took(from(1, 5));
        assertThat(after.seal()).isEqualTo(new Sealed(1, 5, VersionVector.of(0, 5)));
        assertThatThrownBy(() -> busy.took(from(1, 5))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void d4MessagesOfAnotherWorldAreNotTaken() {
        Versions second = NEW.pass(new Decision(2, VersionVector.NONE));
        assertThat(second.taking(from(1, 1))).isEqualTo(Taking.SENT_AGAIN);
        assertThat(NEW.taking(new Vertex(1, 2, 1))).isEqualTo(Taking.SENT_AGAIN);
    }

    @Test
    void d7AVersionWithoutDependenciesIsFinalOnceItIsSynced() {
        Versions open = NEW.turn();
        assertThat(open.sealed().finalVersion()).isZero();
        assertThat(synced(open).finalVersion()).isEqualTo(1);
        Versions dependent = synced(synced(open).took(from(1, 1)));
        assertThat(dependent.finalVersion()).isEqualTo(1);
        // All before it must be final.
        assertThat(synced(dependent.turn()).finalVersion()).isEqualTo(1);
        assertThat(dependent.bounded(1, VersionVector.of(2, 1)).finalVersion()).isEqualTo(2);
        assertThat(dependent.bounded(2, VersionVector.of(2, 1)).finalVersion()).isEqualTo(1);
    }

    @Test
    void d14VersionsThatAreFinalByTheirOwnFsyncTakeNoRoom() {
        Versions alone = NEW;
        for (int count = 0; count < 1_000; count++) {
            alone = synced(alone.turn());
        }
        assertThat(alone.reportable()).containsExactly(new Sealed(1, 1_000, VersionVector.NONE));
        assertThat(alone.finalVersion()).isEqualTo(1_000);
        assertThat(alone.pass(new Decision(2, VersionVector.of(500))).passage())
                .isEqualTo(new Passed(2, 500, 1_000));
        // One that depends on something stays, and so does what is not on disk.
        Versions mixed = synced(synced(synced(NEW.turn()).took(from(1, 2))).turn());
        Versions more = synced(mixed.turn()).turn().sealed();
        assertThat(more.reportable()).extracting(Sealed::version).containsExactly(1L, 2L, 4L);
        assertThat(more.newest()).isEqualTo(5);
        assertThat(more.pass(new Decision(2, VersionVector.of(0, 1))).passage())
                .isEqualTo(new Passed(2, 0, 1));
    }

    @Test
    void d11TheRunWithinTheCutIsKept() {
        Versions three = synced(synced(synced(NEW.took(from(1, 1))).took(from(2, 2))).turn());
        Versions kept = three.pass(new Decision(2, VersionVector.of(0, 1, 1)));
        assertThat(kept.passage()).isEqualTo(new Passed(2, 0, 1));
        assertThat(kept.open()).isEqualTo(2);
        assertThat(kept.hasTurns()).isFalse();
        assertThat(three.pass(new Decision(2, VersionVector.of(0, 1, 2))).passage())
                .isEqualTo(new Passed(2, 0, 3));
    }

    @Test
    void d11WhoMissedADecisionKeepsOnlyWhatTookNothingSpeculative() {
        Versions two = synced(synced(NEW.turn()).took(from(1, 1)));
        assertThat(two.pass(new Decision(3, VersionVector.of(0, 1))).passage())
                .isEqualTo(new Passed(3, 0, 1));
    }

    @Test
    void d11TheOpenVersionIsKeptWithItsTurns() {
        Versions open = NEW.took(from(1, 1));
        Versions kept = open.pass(new Decision(2, VersionVector.of(0, 1)));
        assertThat(kept.hasTurns()).isTrue();
        assertThat(kept.seal()).isEqualTo(new Sealed(2, 1, VersionVector.NONE));
        assertThat(open.pass(new Decision(2, VersionVector.NONE)).hasTurns()).isFalse();
    }

    @Test
    void d10NothingIsReportedBeforeThePassageIsSynced() {
        Versions passing =
                synced(NEW.took(from(1, 1))).pass(new Decision(2, VersionVector.of(0, 1)));
        assertThat(passing.reportable()).isEmpty();
        assertThat(passing.finalVersion()).isZero();
        assertThatThrownBy(passing::listing).hasMessageContaining("is not on disk");
        Versions passed = passing.forced(passing.passage());
        assertThat(passed.reportable()).containsExactly(new Sealed(2, 1, VersionVector.NONE));
        assertThat(passed.finalVersion()).isEqualTo(1);
        assertThat(passed.listing())
                .isEqualTo(new Listing(2, 0, passed.reportable(), VersionVector.of(0, 1)));
    }

    @Test
    void d10ARecoveryDropsWhatAPassageDidNotKeep() {
        Sealed first = new Sealed(1, 1, VersionVector.of(0, 1));
        Sealed second = new Sealed(1, 2, VersionVector.of(0, 2));
        Versions there = NEW.recovered(first).recovered(second).recovered(new Passed(2, 0, 1));
        assertThat(there.reportable()).containsExactly(new Sealed(2, 1, VersionVector.NONE));
        assertThat(there.open()).isEqualTo(2);
        assertThat(there.world()).isEqualTo(2);
        // A number comes again.
        assertThat(there.recovered(new Sealed(2, 2, VersionVector.NONE)).finalVersion())
                .isEqualTo(2);
    }

    @Test
    void d14AStartListsNoMoreThanWhatWasNotFinal() {
        Versions alone = NEW;
        for (int version = 1; version <= 1_000; version++) {
            alone = alone.recovered(new Sealed(1, version, VersionVector.NONE));
        }
        assertThat(alone.listing().versions())
                .containsExactly(new Sealed(1, 1_000, VersionVector.NONE));
        Versions others = NEW;
        for (int version = 1; version <= 1_000; version++) {
            others = others.recovered(new Sealed(1, version, VersionVector.of(0, version)));
        }
        assertThat(others.listing().versions()).hasSize(1_000);
        Versions noted = others.recovered(new Bounded(1, 990));
        assertThat(noted.listing().base()).isEqualTo(990);
        assertThat(noted.listing().versions()).hasSize(10);
        assertThat(noted.finalVersion()).isEqualTo(990);
        assertThatThrownBy(() -> noted.pass(new Decision(2, VersionVector.of(989))))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void d14WhatIsAnnouncedAsFinalIsNotedOnce() {
        Versions one = synced(NEW.took(from(1, 1)));
        assertThat(one.toNote(0)).isEmpty();
        Versions known = one.bounded(1, VersionVector.of(1, 1));
        assertThat(known.toNote(0)).contains(new Bounded(1, 1));
        assertThat(known.toNote(1)).isEmpty();
        assertThat(known.forced(new Bounded(1, 1)).listing()).isEqualTo(known.listing());
    }

    /** A decision cut the member to its reports, and it keeps more, which was final before (D7). */
    @Test
    void d10ASnapshotMayBeOfALaterVersionThanTheCutOfAPassageBehindIt() {
        Versions there = Versions.of(0, 1, 5).recovered(new Passed(2, 3, 5));
        assertThat(there.newest()).isEqualTo(5);
        assertThat(there.finalVersion()).isEqualTo(5);
        assertThat(there.listing()).isEqualTo(new Listing(2, 5, List.of(), VersionVector.of(5)));
    }

    @Test
    void d10ASyncOfWhatWasDroppedIsNothing() {
        Versions one = NEW.took(from(1, 1));
        Sealed dropped = one.seal();
        Versions passed = one.sealed().pass(new Decision(2, VersionVector.NONE)).turn();
        assertThat(passed.sealed().forced(dropped).finalVersion()).isZero();
    }

    @Test
    void d15WhatCannotBeIsRefused() {
        assertThat(NEW.taking(from(1, Versions.MOST_AHEAD + 2))).isEqualTo(Taking.REFUSED);
        Versions known = NEW.bounded(1, VersionVector.of(0, 4));
        assertThatThrownBy(() -> known.pass(new Decision(2, VersionVector.of(0, 3))))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> NEW.pass(new Decision(2, VersionVector.of(1))))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> NEW.bounded(1, VersionVector.of(1)))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> NEW.pass(new Decision(1, VersionVector.NONE)))
                .isInstanceOf(IllegalStateException.class);
    }
}
