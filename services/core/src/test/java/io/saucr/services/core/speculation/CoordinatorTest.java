package io.saucr.services.core.speculation;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Birth;
import io.saucr.services.core.speculation.Coordinator.Action;
import io.saucr.services.core.speculation.Coordinator.Next;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The coordinator of three members; epoch 5, world 1, the head at version 8. */
class CoordinatorTest {

    private static final GroupHead HEAD =
            new GroupHead(5, 1, 0, "host:1", 1, List.of(member("a"), member("b"), member("c")));

    private Coordinator coordinator = Coordinator.of(HEAD, 8);

    private static GroupHead.Member member(String name) {
        return new GroupHead.Member(name, new Birth(1, 2), 0, OptionalLong.empty());
    }

    private static Sealed sealed(long version, long... on) {
        return new Sealed(1, version, VersionVector.of(on));
    }

    private static Listing listing(long world, long base, Sealed... versions) {
        return new Listing(world, base, List.of(versions), VersionVector.NONE);
    }

    private List<Action> then(Next next) {
        coordinator = next.coordinator();
        return next.actions();
    }

    private void allList() {
        List<Action> actions = new ArrayList<>();
        for (int member = 0; member < 3; member++) {
            actions.addAll(then(coordinator.listed(member, listing(1, 0))));
        }
        assertThat(actions).isEmpty();
    }

    private static GroupHead decided(long... cuts) {
        return HEAD.decided(VersionVector.of(cuts));
    }

    @Test
    void d6WhatIsClosedIsAnnouncedToAllThatRunAndAreLinked() {
        allList();
        assertThat(then(coordinator.unlinked(2))).isEmpty();
        assertThat(then(coordinator.reported(0, 1, List.of(sealed(1, 0, 1))))).isEmpty();
        assertThat(then(coordinator.reported(1, 1, List.of(sealed(1)))))
                .containsExactly(
                        new Action.Boundary(0, 5, 1, VersionVector.of(1, 1)),
                        new Action.Boundary(1, 5, 1, VersionVector.of(1, 1)));
        assertThat(then(coordinator.listed(2, listing(1, 0))))
                .containsExactly(new Action.Boundary(2, 5, 1, VersionVector.of(1, 1)));
    }

    @Test
    void d8AStartIsADecisionThatIsWrittenBeforeAnybodyHearsIt() {
        allList();
        assertThat(then(coordinator.started(1, listing(1, 0, sealed(1)))))
                .containsExactly(new Action.Write(decided(0, 1), 8));
        // Nothing is announced meanwhile, and nothing of the old world counts behind it.
        assertThat(then(coordinator.reported(0, 1, List.of(sealed(1))))).isEmpty();
        assertThat(then(coordinator.wrote(9)))
                .containsExactly(
                        new Action.Decided(0, 5, decided(0, 1).decision()),
                        new Action.Decided(1, 5, decided(0, 1).decision()),
                        new Action.Decided(2, 5, decided(0, 1).decision()));
        assertThat(then(coordinator.reported(0, 1, List.of(sealed(2))))).isEmpty();
        assertThat(coordinator.announced()).isEqualTo(VersionVector.of(0, 1));
    }

    /**
     * A member was cut to its reports, and starts from a snapshot that it had made beyond the cut,
     * of turns that were final by its own fsync (D7).
     */
    @Test
    void d8ASnapshotIsNotAnnouncedWhileDecidingAndStaysFinal() {
        allList();
        assertThat(then(coordinator.unlinked(2))).isEmpty();
        assertThat(then(coordinator.overdue(2))).containsExactly(new Action.Write(decided(), 8));
        Listing snapshot = new Listing(1, 2, List.of(), VersionVector.of(0, 2));
        assertThat(then(coordinator.started(1, snapshot))).isEmpty();
        assertThat(then(coordinator.wrote(9)))
                .containsExactly(
                        new Action.Decided(0, 5, decided().decision()),
                        new Action.Write(decided().decided(VersionVector.of(0, 2)), 9));
    }

    @Test
    void d8AnUnknownOutcomeIsReadBack() {
        allList();
        List<Action> writes = then(coordinator.started(1, listing(1, 0)));
        assertThat(then(coordinator.unknown())).containsExactly(new Action.Read());
        assertThat(then(coordinator.seen(Optional.of(HEAD), 8))).isEqualTo(writes);
        Coordinator before = coordinator;
        assertThat(then(coordinator.seen(Optional.of(decided()), 9))).hasSize(3);
        coordinator = before;
        assertThat(then(coordinator.seen(Optional.of(HEAD.claimed(2, 7, "host:2")), 9)))
                .containsExactly(new Action.Over("member 2 coordinates, epoch 6"));
        assertThat(coordinator.isOver()).isTrue();
        assertThat(then(coordinator.listed(0, listing(1, 0)))).isEmpty();
        coordinator = before;
        assertThat(then(coordinator.seen(Optional.empty(), -1)))
                .containsExactly(new Action.Over("the head is missing"));
    }

    @Test
    void d9NothingIsDecidedBeforeAllHaveListed() {
        assertThat(coordinator.missing()).containsExactly(0, 1, 2);
        assertThat(then(coordinator.started(1, listing(1, 0)))).isEmpty();
        assertThat(then(coordinator.listed(0, listing(1, 0)))).isEmpty();
        assertThat(coordinator.missing()).containsExactly(2);
        // What can be proven is announced.
        assertThat(then(coordinator.reported(0, 1, List.of(sealed(1))))).hasSize(1);
        assertThat(then(coordinator.listed(2, listing(1, 0))))
                .contains(new Action.Write(decided(1), 8));
        assertThat(coordinator.missing()).isEmpty();
        assertThat(Coordinator.of(HEAD.left(1, 3, VersionVector.NONE), 8).missing())
                .containsExactly(0, 2);
    }

    @Test
    void d9WhatAPredecessorAnnouncedIsHeardByAll() {
        assertThat(then(coordinator.listed(0, listing(1, 0, sealed(1))))).hasSize(1);
        VersionVector known = VersionVector.of(1, 1);
        assertThat(then(coordinator.listed(1, new Listing(1, 1, List.of(), known))))
                .containsExactly(
                        new Action.Boundary(0, 5, 1, known), new Action.Boundary(1, 5, 1, known));
    }

    @Test
    void d9AMemberThatListedAndIsLostIsCutToItsReports() {
        allList();
        assertThat(then(coordinator.reported(2, 1, List.of(sealed(1, 1))))).isEmpty();
        assertThat(then(coordinator.unlinked(0))).isEmpty();
        assertThat(then(coordinator.overdue(0))).containsExactly(new Action.Write(decided(), 8));
        assertThat(then(coordinator.wrote(9))).hasSize(2);
        // It hears of it once it is back.
        assertThat(then(coordinator.listed(0, listing(1, 0, sealed(1)))))
                .containsExactly(new Action.Decided(0, 5, decided().decision()));
    }

    @Test
    void d13AStartThatWasNotCountedWaitsForAnotherDecision() {
        allList();
        assertThat(then(coordinator.started(1, listing(1, 0)))).hasSize(1);
        assertThat(then(coordinator.started(1, listing(1, 0)))).isEmpty();
        List<Action> actions = then(coordinator.wrote(9));
        assertThat(actions)
                .containsExactly(
                        new Action.Decided(0, 5, decided().decision()),
                        new Action.Decided(2, 5, decided().decision()),
                        new Action.Write(decided().decided(VersionVector.NONE), 9));
    }

    @Test
    void d11AStartThatMissedDecisionsBringsWhatTookNothingSpeculative() {
        coordinator = Coordinator.of(decided(0, 1), 8);
        assertThat(then(coordinator.listed(0, listing(2, 0)))).hasSize(1);
        assertThat(then(coordinator.listed(2, listing(2, 0)))).hasSize(1);
        assertThat(
                        then(
                                coordinator.started(
                                        1,
                                        listing(
                                                1,
                                                0,
                                                sealed(1, 7),
                                                sealed(2),
                                                sealed(3, 1),
                                                sealed(4)))))
                .containsExactly(
                        new Action.Write(decided(0, 1).decided(VersionVector.of(0, 2)), 8));
    }

    /** A predecessor noted it, and died before the member heard so. */
    @Test
    void d13AMemberHearsOfTheNoteOfAPredecessorThatItLeft() {
        coordinator = Coordinator.of(HEAD.left(1, 1, VersionVector.NONE), 8);
        then(coordinator.listed(1, listing(1, 1)));
        assertThat(then(coordinator.leaving(1, 1))).containsExactly(new Action.Left(1, 5));
    }

    @Test
    void d13AMemberThatLeftIsAdmittedWithoutADecision() {
        GroupHead noted = HEAD.left(1, 1, VersionVector.of(0, 1));
        allList();
        assertThat(then(coordinator.leaving(1, 1))).isEmpty();
        assertThat(then(coordinator.reported(1, 1, List.of(sealed(1)))))
                .containsExactly(
                        new Action.Boundary(0, 5, 1, VersionVector.of(0, 1)),
                        new Action.Boundary(1, 5, 1, VersionVector.of(0, 1)),
                        new Action.Boundary(2, 5, 1, VersionVector.of(0, 1)),
                        new Action.Write(noted, 8));
        assertThat(then(coordinator.wrote(9))).containsExactly(new Action.Left(1, 5));
        assertThat(then(coordinator.unlinked(1))).isEmpty();
        assertThat(then(coordinator.started(1, listing(1, 0, sealed(1)))))
                .containsExactly(new Action.Write(noted.admitted(1), 9));
        assertThat(then(coordinator.wrote(10)))
                .containsExactly(
                        new Action.Admitted(1, 5, new Decision(1, VersionVector.of(0, 1))));
        // Next time it has not left.
        assertThat(then(coordinator.started(1, listing(1, 0, sealed(1)))))
                .containsExactly(new Action.Write(decided(0, 1), 10));
    }

    @Test
    void d9WhoOthersWaitForIsKnown() {
        allList();
        assertThat(coordinator.waitedFor()).isEmpty();
        assertThat(then(coordinator.reported(0, 1, List.of(sealed(2, 0, 1, 2))))).isEmpty();
        assertThat(coordinator.waitedFor()).containsExactly(1, 2);
        // It is there, and waits for the third itself.
        assertThat(then(coordinator.reported(1, 1, List.of(sealed(1, 0, 0, 1))))).isEmpty();
        assertThat(coordinator.waitedFor()).containsExactly(2);
        assertThat(then(coordinator.reported(2, 1, List.of(sealed(2))))).isNotEmpty();
        assertThat(coordinator.waitedFor()).isEmpty();
    }

    /** Its epoch begins with its name in the head, so no coordinator that lacks it decides. */
    @Test
    void d13ANewMemberIsAdmittedWithoutADecision() {
        GroupHead joined = HEAD.joined("d", new Birth(3, 4), 0).claimed(3, 7, "host:4");
        assertThat(joined.indexOf("d")).hasValue(3);
        assertThat(joined.indexOf("e")).isEmpty();
        coordinator = Coordinator.of(joined, 9);
        assertThat(then(coordinator.listed(0, listing(1, 0)))).isEmpty();
        List<Action> writes = then(coordinator.started(3, listing(1, 0)));
        GroupHead admitted = joined.admitted(3);
        assertThat(writes).containsExactly(new Action.Write(admitted, 9));
        assertThat(then(coordinator.wrote(10)))
                .containsExactly(new Action.Admitted(3, 6, new Decision(1, VersionVector.NONE)));
        // From now on it is waited for as any other.
        assertThat(then(coordinator.unlinked(3))).isEmpty();
        assertThat(then(coordinator.reported(0, 1, List.of(sealed(1, 0, 0, 0, 1))))).isEmpty();
        assertThat(
                        then(
                                coordinator.listed(
                                        3,
                                        new Listing(1, 0, List.of(sealed(1)), VersionVector.NONE))))
                .contains(new Action.Boundary(3, 6, 1, VersionVector.of(1, 0, 0, 1)));
    }

    /** A decision would give it a cut beyond the note, which no head can say. */
    @Test
    void d15AMemberThatHasMoreThanItLeftWithIsRefused() {
        coordinator = Coordinator.of(HEAD.joined("d", new Birth(3, 4), 0).claimed(3, 7, "h:4"), 9);
        for (int member = 0; member < 3; member++) {
            assertThat(then(coordinator.listed(member, listing(1, 0)))).isEmpty();
        }
        assertThat(then(coordinator.started(3, listing(1, 0, sealed(1)))))
                .containsExactly(
                        new Action.Refuse(
                                3,
                                "it has versions up to 1, and left the group, or joins it, with 0:"
                                        + " its folder is of another one"));
        assertThat(then(coordinator.started(3, listing(1, 0)))).hasSize(1);
    }

    @Test
    void d15AnOldCopyIsRefused() {
        allList();
        assertThat(then(coordinator.reported(1, 1, List.of(sealed(1), sealed(2))))).hasSize(3);
        assertThat(then(coordinator.started(1, listing(1, 0, sealed(1)))))
                .containsExactly(
                        new Action.Refuse(
                                1,
                                "it has versions up to 1, and 2 was final: its folder is an old"
                                        + " copy"));
        assertThat(coordinator.announced()).isEqualTo(VersionVector.of(0, 2));
    }

    /** The head as an operator's order leaves it, and then a member's claim. */
    private void giveUp(int member) {
        coordinator = Coordinator.of(HEAD.givenUp(member, 6).claimed(0, 7, "host:1"), 10);
    }

    @Test
    void d19NothingIsDecidedWithoutAMemberThatWasNotGivenUp() {
        giveUp(2);
        assertThat(coordinator.missing()).containsExactly(0, 1);
        // The first took a message that the lost one had not on disk.
        assertThat(then(coordinator.listed(0, listing(1, 0, sealed(1, 0, 0, 1))))).isEmpty();
        assertThat(then(coordinator.listed(1, listing(1, 0))))
                .containsExactly(
                        new Action.Write(coordinator.head().decided(VersionVector.NONE), 10));
        assertThat(then(coordinator.wrote(11)))
                .containsExactly(
                        new Action.Decided(0, 7, new Decision(2, VersionVector.NONE)),
                        new Action.Decided(1, 7, new Decision(2, VersionVector.NONE)));
        assertThat(then(coordinator.started(1, listing(1, 0)))).hasSize(1);
    }

    @Test
    void d19WhatOneThatRunsHeardOfTheLostOneStays() {
        giveUp(2);
        assertThat(then(coordinator.listed(0, listing(1, 0, sealed(1, 0, 0, 1))))).isEmpty();
        VersionVector known = VersionVector.of(1, 0, 1);
        assertThat(then(coordinator.listed(1, new Listing(1, 0, List.of(), known))))
                .containsExactly(
                        new Action.Boundary(0, 7, 1, known),
                        new Action.Boundary(1, 7, 1, known),
                        new Action.Write(coordinator.head().decided(known), 10));
    }

    /** All of them lost their power: what it had told may depend on the lost one. */
    @Test
    void d19WhatAStartHasOnDiskStaysThoughItDependsOnTheLostOne() {
        giveUp(2);
        assertThat(then(coordinator.started(0, listing(1, 0, sealed(1, 0, 0, 1), sealed(2, 0, 1)))))
                .isEmpty();
        // Its link ends and comes again as that of a start that is not counted yet.
        assertThat(then(coordinator.unlinked(0))).isEmpty();
        assertThat(then(coordinator.listed(1, listing(1, 0))))
                .containsExactly(
                        new Action.Write(coordinator.head().decided(VersionVector.of(1)), 10));
    }

    @Test
    void d19WhoWasGivenUpIsRefused() {
        giveUp(2);
        assertThat(then(coordinator.started(2, listing(1, 0, sealed(1)))))
                .containsExactly(
                        new Action.Refuse(
                                2,
                                "it has versions up to 1, and was given up in world 1: start it"
                                        + " anew"));
        assertThat(coordinator.missing()).containsExactly(0, 1);
    }

    @Test
    void d19TwoThatAreGivenUpAreOneDecision() {
        GroupHead head = HEAD.givenUp(2, 6).givenUp(0, 7);
        coordinator = Coordinator.of(head.claimed(1, 8, "host:2"), 11);
        assertThat(then(coordinator.listed(1, listing(1, 0))))
                .containsExactly(
                        new Action.Write(coordinator.head().decided(VersionVector.NONE), 11));
        assertThat(then(coordinator.wrote(12))).hasSize(1);
    }

    @Test
    void aMemberOfALaterWorldEndsThisCoordinator() {
        assertThat(then(coordinator.listed(1, listing(2, 0))))
                .containsExactly(new Action.Over("member 1 knows world 2"));
    }
}
