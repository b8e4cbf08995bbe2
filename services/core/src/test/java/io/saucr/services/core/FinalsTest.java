package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.speculation.Vertex;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a member of the group hears before others do, and that it acknowledges only what is final.
 */
class FinalsTest {

    private static final Limits LIMITS = new Limits(4, 1, true, 10, 40, 16, 3_600_000);
    private static final Moment NOW = new Moment(1_000_000, 0);
    private static final Incarnation SELF = new Incarnation(new Birth(1, 1), 1, 11);
    private static final Link MEMBER = new Link(1, "member", false);
    private static final Link STRANGER = new Link(2, "stranger", false);

    /** The versions of this one's turns have their numbers. */
    private final class OfMember implements Group {

        @Override
        public boolean isMember(String service) {
            return members.contains(service);
        }

        @Override
        public Frame tagged(long turn, Frame.Msg message) {
            return new Frame.Tagged(new Vertex(3, 1, turn), message);
        }
    }

    private ServiceCore core = new ServiceCore("self", List.of(SELF), LIMITS);
    private final Set<String> members = new HashSet<>(Set.of("member"));
    private final List<Action> done = new ArrayList<>();

    @BeforeEach
    void bothAreThere() {
        core.group(new OfMember());
        perform(core.begin(List.of(), NOW));
        meet(MEMBER);
        meet(STRANGER);
        done.clear();
    }

    private static Incarnation of(Link link) {
        return new Incarnation(new Birth(9, link.id()), 1, 90 + link.id());
    }

    private void meet(Link link) {
        perform(core.linkUp(link));
        Count none = Count.NONE;
        hear(link, Frame.PairState.NEW, none, none, none);
        everythingIsFinal();
        hear(link, Frame.PairState.KNOWN, none, none, none);
        everythingIsFinal();
        frame(link, new Frame.Ack(0, 16));
    }

    private void hear(Link link, Frame.PairState pair, Count sent, Count acked, Count consumed) {
        Optional<Birth> to = Optional.of(SELF.birth());
        frame(link, new Frame.Hello(link.peer(), of(link), to, pair, sent, acked, consumed));
    }

    private void frame(Link link, Frame frame) {
        perform(core.frame(link, frame, NOW));
    }

    private void perform(List<Action> actions) {
        done.addAll(actions);
    }

    private void everythingIsFinal() {
        perform(core.moved(Finals.turns(core.newestTurn())));
    }

    private void membersHear() {
        perform(core.moved(new Finals(0, core.newestTurn(), 0)));
    }

    private void submit(Link to, String type) {
        perform(core.submit(to.peer(), body(type)));
    }

    private static Body body(String type) {
        return new Body(type, new byte[0]);
    }

    private static Frame.Msg message(long number, long answers) {
        return new Frame.Msg(number, answers, Optional.empty(), body("given"));
    }

    private void run(Effects effects) {
        perform(core.tick(NOW));
        assertThat(core.next(NOW)).isPresent();
        Delta unused = core.commit(effects);
    }

    private Effects calling() {
        return new Effects(
                List.of(),
                List.of(),
                List.of(),
                List.of(body("call")),
                List.of(),
                core.newestTimer(),
                false);
    }

    private List<Frame> sent() {
        return done.stream()
                .filter(it -> it instanceof Action.Send)
                .map(it -> ((Action.Send) it).frame())
                .toList();
    }

    private List<Frame> sent(Link link) {
        List<Frame> frames = new ArrayList<>();
        for (Action action : done) {
            if (action instanceof Action.Send it && it.link().equals(link)) {
                frames.add(it.frame());
            }
        }
        done.clear();
        return frames;
    }

    private List<String> messages(Link link) {
        List<String> types = new ArrayList<>();
        for (Frame each : sent(link)) {
            if (each instanceof Frame.Tagged it) {
                types.add(it.message().body().type());
            } else if (each instanceof Frame.Msg it) {
                types.add(it.body().type());
            }
        }
        return types;
    }

    private boolean halted() {
        return done.stream().anyMatch(it -> it instanceof Action.Halt);
    }

    private boolean isClosed(Link link) {
        return done.stream()
                .anyMatch(it -> it instanceof Action.Close close && close.link().equals(link));
    }

    @Test
    void aMessageLeavesToMembersEarlier() {
        submit(MEMBER, "near");
        submit(STRANGER, "far");
        assertThat(done).noneMatch(it -> it instanceof Action.Send);
        membersHear();
        assertThat(done.stream().filter(it -> it instanceof Action.Send)).hasSize(1);
        assertThat(messages(MEMBER)).containsExactly("near");
        everythingIsFinal();
        assertThat(messages(STRANGER)).containsExactly("far");
    }

    @Test
    void whatMembersHearWasDone() {
        assertThatThrownBy(() -> core.moved(new Finals(0, core.newestTurn() + 1, 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be final");
        assertThatThrownBy(() -> new Finals(2, 1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    /** K5: a member that was told of an ack would free what a rollback needs again. */
    @Test
    void membersHearAcksOfFinalTurnsAlone() {
        frame(MEMBER, message(1, 0));
        run(Effects.none(core.newestTimer()));
        membersHear();
        assertThat(sent(MEMBER)).noneMatch(it -> it instanceof Frame.Ack ack && ack.number() > 0);
        everythingIsFinal();
        assertThat(sent(MEMBER)).contains(new Frame.Ack(1, LIMITS.window()));
    }

    @Test
    void outputsWaitUntilTheirTurnIsFinalForAll() {
        submit(MEMBER, "near");
        frame(MEMBER, message(1, 0));
        run(calling());
        membersHear();
        assertThat(done).noneMatch(it -> it instanceof Action.Call);
        everythingIsFinal();
        assertThat(done).anyMatch(it -> it instanceof Action.Call);
    }

    @Test
    void anAnswerAcknowledgesWhereItIsFinal() {
        submit(MEMBER, "near");
        submit(STRANGER, "far");
        everythingIsFinal();
        frame(STRANGER, message(1, 1));
        assertThat(core.acked("stranger", 1)).isTrue();
        frame(MEMBER, message(1, 1));
        assertThat(core.acked("member", 1)).as("its turn may be undone").isFalse();
        frame(MEMBER, new Frame.Ack(1, 16));
        assertThat(core.acked("member", 1)).isTrue();
    }

    @Test
    void d2AMessageToAMemberAloneNamesTheVersionOfItsTurn() {
        submit(MEMBER, "first");
        submit(MEMBER, "second");
        submit(STRANGER, "far");
        long last = core.newestTurn();
        everythingIsFinal();
        List<Frame> all = sent();
        assertThat(all)
                .filteredOn(it -> it instanceof Frame.Tagged)
                .extracting(it -> ((Frame.Tagged) it).of().version())
                .containsExactly(last - 2, last - 1);
        assertThat(all).filteredOn(it -> it instanceof Frame.Msg).hasSize(1);
    }

    /** A service that joins the group while this one runs. */
    @Test
    void aServiceBecomesAMemberWhileOthersRun() {
        submit(STRANGER, "far");
        membersHear();
        assertThat(messages(STRANGER)).isEmpty();
        members.add("stranger");
        submit(STRANGER, "near");
        membersHear();
        assertThat(messages(STRANGER)).containsExactly("far", "near");
        frame(STRANGER, new Frame.Ack(2, 16));
        assertThat(halted()).isFalse();
    }

    /** K14: what is final of one is compared with all of the other. */
    @Test
    void aMemberAcksWhatIsNotKnownToBeFinalHere() {
        submit(MEMBER, "near");
        membersHear();
        frame(MEMBER, new Frame.Ack(1, 16));
        assertThat(halted()).isFalse();
        assertThat(core.acked("member", 1)).isTrue();
        submit(STRANGER, "far");
        membersHear();
        frame(STRANGER, new Frame.Ack(1, 16));
        assertThat(halted()).as("it cannot have heard of that").isTrue();
    }

    @Test
    void aMemberThatAnswersWhatWasUndoneHereHaltsNobody() {
        frame(MEMBER, message(1, 1));
        assertThat(halted()).isFalse();
        assertThat(isClosed(MEMBER)).isTrue();
        frame(STRANGER, message(1, 1));
        assertThat(halted()).isTrue();
    }

    /** A member that undid what it sent is no old copy; a stranger is. */
    @Test
    void aMemberMayKnowLessThanWasConsumedAndIsNotFinal() {
        for (Link link : List.of(MEMBER, STRANGER)) {
            frame(link, message(1, 0));
            run(Effects.none(core.newestTimer()));
            perform(core.linkDown(link));
            done.clear();
            perform(core.linkUp(link));
            hear(link, Frame.PairState.KNOWN, Count.NONE, Count.NONE, Count.NONE);
            assertThat(isClosed(link)).as(link.peer()).isEqualTo(link.equals(STRANGER));
        }
    }

    @Test
    void aMemberThatKnowsLessThanIsFinalIsAnOldCopy() {
        frame(MEMBER, message(1, 0));
        run(Effects.none(core.newestTimer()));
        everythingIsFinal();
        perform(core.linkDown(MEMBER));
        done.clear();
        perform(core.linkUp(MEMBER));
        hear(MEMBER, Frame.PairState.KNOWN, Count.NONE, Count.NONE, Count.NONE);
        assertThat(isClosed(MEMBER)).isTrue();
    }

    /** D11: what survived and may be undone leaves no earlier than without a rollback. */
    @Test
    void whatIsKeptWaitsUntilItIsFinal() {
        Delta base = core.snapshot();
        submit(MEMBER, "near");
        submit(STRANGER, "far");
        frame(STRANGER, message(1, 0));
        perform(core.tick(NOW));
        assertThat(core.next(NOW)).isPresent();
        Delta last = core.commit(calling());
        List<Delta> kept = new ArrayList<>();
        done.forEach(it -> kept.add(((Action.Append) it).delta()));
        kept.add(last);
        done.clear();
        core = new ServiceCore("self", List.of(SELF), LIMITS);
        core.group(new OfMember());
        core.recover(base);
        kept.forEach(core::keep);
        perform(core.begin(List.of(), NOW));
        for (Link link : List.of(MEMBER, STRANGER)) {
            perform(core.linkUp(link));
            Count sent = Count.of(1, of(link));
            hear(link, Frame.PairState.KNOWN, sent, Count.NONE, Count.NONE);
            frame(link, new Frame.Ack(0, 16));
        }
        assertThat(done).noneMatch(it -> it instanceof Action.Call);
        assertThat(messages(STRANGER)).isEmpty();
        membersHear();
        assertThat(messages(MEMBER)).containsExactly("near");
        everythingIsFinal();
        assertThat(done).anyMatch(it -> it instanceof Action.Call);
        List<Frame> heard = sent(STRANGER);
        assertThat(heard).contains(new Frame.Ack(1, LIMITS.window()));
        assertThat(heard).anyMatch(it -> it instanceof Frame.Msg);
    }

    /** D12: only of what is undone it is known that it did not happen. */
    @Test
    void aRollbackRefusesRequestsOfTurnsThatAreUndoneAlone() {
        Link client = new Link(3, "", true);
        perform(core.linkUp(client));
        long before = core.newestTurn();
        for (long request = 1; request <= 3; request++) {
            frame(client, new Frame.Ask(request, body("ask")));
            if (request < 3) {
                run(Effects.none(core.newestTimer()));
            }
        }
        perform(core.undone(before, before + 1, "undone"));
        assertThat(sent(client))
                .containsExactly(new Frame.Refused(2, "undone"), new Frame.Refused(3, "undone"));
    }
}
