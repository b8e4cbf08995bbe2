package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Replies that leave before they are final (C7, C9), and who hears that they are lost (C11). */
class EarlyRepliesTest {

    private static final long LEASE = 100;
    private static final Link ASKER = new Link(7, "", true);
    private static final Birth BIRTH = new Birth(1, 1);

    private final List<Delta> turns = new ArrayList<>();
    private ServiceCore core = core(1, true);

    private ServiceCore core(long epoch, boolean early) {
        ServiceCore made = new ServiceCore("bank", Limits.standard());
        made.keepEpochs();
        made.proveReads();
        if (early) {
            made.answerEarly(LEASE, link -> link.id() > 0);
        }
        turns.forEach(made::recover);
        made.under(List.of(), List.of(new Incarnation(BIRTH, epoch, epoch)));
        record(made.begin(List.of(), at(0)));
        return made;
    }

    private static Moment at(long millis) {
        return new Moment(1_000_000, millis);
    }

    private static Body body(String type) {
        return new Body(type, new byte[0]);
    }

    private List<Frame> record(List<Action> actions) {
        List<Frame> frames = new ArrayList<>();
        for (Action action : actions) {
            if (action instanceof Action.Append it) {
                turns.add(it.delta());
            } else if (action instanceof Action.Send it) {
                frames.add(it.frame());
            }
        }
        return frames;
    }

    private static List<Class<?>> kinds(List<Frame> frames) {
        return frames.stream().<Class<?>>map(Frame::getClass).toList();
    }

    private List<Frame> up(Link link) {
        return record(core.linkUp(link));
    }

    private List<Frame> asks(Link link, long request, long millis) {
        List<Frame> unused =
                record(core.frame(link, new Frame.Ask(request, body("do")), at(millis)));
        assertThat(core.next(at(millis))).isPresent();
        String caller = ServiceCore.caller(link);
        Effects.Reply reply = new Effects.Reply(caller, request, body("done " + request));
        turns.add(
                core.commit(
                        new Effects(
                                List.of(new Effects.Send("shop", body("news"))),
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(reply),
                                0,
                                false)));
        return record(core.early(at(millis)));
    }

    private static Frame early(long request, long epoch, long turn, Frame got) {
        assertThat(got).isInstanceOf(Frame.Early.class);
        Frame.Early it = (Frame.Early) got;
        assertThat(it.request()).isEqualTo(request);
        assertThat(it.mark()).isEqualTo(new Mark(epoch, turn));
        return got;
    }

    @Test
    void aReplyLeavesAtOnceAndIsCoveredLater() {
        core.provenSince(0);
        assertThat(up(ASKER).get(0))
                .isEqualTo(new Frame.Past(new Epochs(List.of(new Epochs.Begun(1, 0)))));
        List<Frame> frames = asks(ASKER, 3, 10);
        assertThat(frames).hasSize(1);
        early(3, 1, 2, frames.get(0));
        // Once for all.
        frames = asks(ASKER, 4, 10);
        early(4, 1, 3, frames.get(0));
        assertThat(record(core.moved(Finals.turns(2))))
                .containsExactly(new Frame.Covered(new Mark(1, 2)));
        assertThat(record(core.moved(Finals.turns(3))))
                .containsExactly(new Frame.Covered(new Mark(1, 3)));
    }

    @Test
    void withoutALeaseAReplyWaitsForItsTurn() {
        List<Frame> unused = up(ASKER);
        assertThat(asks(ASKER, 3, 10)).isEmpty();
        List<Frame> frames = record(core.moved(Finals.turns(2)));
        assertThat(kinds(frames)).contains(Frame.Answer.class);
        core.provenSince(20);
        assertThat(asks(ASKER, 4, 119)).hasSize(1);
        assertThat(asks(ASKER, 5, 120)).isEmpty();
        // The oldest that is not covered is too old, though office was proven.
        core.provenSince(230);
        assertThat(asks(ASKER, 6, 230)).isEmpty();
        frames = record(core.moved(Finals.turns(core.newestTurn())));
        assertThat(kinds(frames))
                .containsExactly(Frame.Answer.class, Frame.Answer.class, Frame.Covered.class);
        assertThat(asks(ASKER, 7, 231)).hasSize(1);
    }

    @Test
    void aQueryIsAnsweredAtOnceWithWhatItShows() {
        core.provenSince(0);
        List<Frame> unused = up(ASKER);
        assertThat(core.frame(ASKER, new Frame.Ask(1, body("how")), at(5))).isEmpty();
        assertThat(core.next(at(5))).isPresent();
        List<Frame> frames = record(core.answered(body("so"), at(5)));
        early(1, 1, 1, frames.get(0));
        assertThat(record(core.moved(Finals.turns(1))))
                .containsExactly(new Frame.Covered(new Mark(1, 1)));
        // All that it shows is final: it may be old, but nothing of it can be lost.
        assertThat(core.frame(ASKER, new Frame.Ask(2, body("how")), at(5))).isEmpty();
        assertThat(core.next(at(5))).isPresent();
        assertThat(kinds(record(core.answered(body("so"), at(5)))))
                .containsExactly(Frame.Answer.class);
        // Without a lease it waits for a proof.
        assertThat(core.frame(ASKER, new Frame.Ask(3, body("how")), at(5))).isEmpty();
        assertThat(core.next(at(500))).isPresent();
        assertThat(core.answered(body("so"), at(500))).containsExactly(new Action.Prove(1));
        assertThat(kinds(record(core.moved(Finals.reads(1))))).containsExactly(Frame.Answer.class);
    }

    @Test
    void linksThatTakeNothingEarlyWait() {
        core.provenSince(0);
        Link door = new Link(-3, "", true);
        List<Frame> unused = up(door);
        assertThat(asks(door, 1, 10)).isEmpty();
        assertThat(kinds(record(core.moved(Finals.turns(2))))).contains(Frame.Answer.class);
    }

    @Test
    void aLinkThatComesLaterHearsWhatItsTurnsBecame() {
        core.provenSince(0);
        List<Frame> unused = up(ASKER);
        unused = asks(ASKER, 1, 10);
        unused = record(core.linkDown(ASKER));
        Link next = new Link(8, "", true);
        assertThat(kinds(up(next))).containsExactly(Frame.Past.class);
        assertThat(record(core.moved(Finals.turns(2))))
                .containsExactly(new Frame.Covered(new Mark(1, 2)));
        Link last = new Link(9, "", true);
        assertThat(up(last).get(1)).isEqualTo(new Frame.Covered(new Mark(1, 2)));
    }

    @Test
    void aSuccessorSaysFirstWhereEachEpochBegan() {
        List<Frame> unused = up(ASKER);
        unused = asks(ASKER, 1, 10);
        List<Delta> named = List.copyOf(turns);
        unused = asks(ASKER, 2, 10);
        turns.clear();
        turns.addAll(named);
        core = core(2, true);
        unused = up(ASKER);
        unused = asks(ASKER, 1, 20);
        // From a base, too; a service that waits with its replies says so as well.
        Delta base = core.snapshot();
        turns.clear();
        turns.add(base);
        core = core(3, false);
        assertThat(up(ASKER))
                .containsExactly(
                        new Frame.Past(
                                new Epochs(
                                        List.of(
                                                new Epochs.Begun(1, 0),
                                                new Epochs.Begun(2, 2),
                                                new Epochs.Begun(3, 4)))));
    }

    @Test
    void whatIsSetLateIsRefused() {
        assertThatThrownBy(() -> core.keepEpochs()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> core.answerEarly(1, link -> true))
                .isInstanceOf(IllegalStateException.class);
        ServiceCore bare = new ServiceCore("bank", Limits.standard());
        assertThatThrownBy(() -> bare.answerEarly(1, link -> true))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("keeps its epochs");
    }

    @Test
    void aMessageThatIsWithdrawnKeepsItsNumber() {
        List<Action> actions = new ArrayList<>(core.submit("shop", body("one")));
        actions.addAll(core.submit("shop", body("two")));
        actions.addAll(core.withdraw("shop", 1));
        actions.addAll(core.withdraw("shop", 9));
        actions.addAll(core.withdraw("nobody", 1));
        List<Frame> unused = record(actions);
        ServiceCore next = new ServiceCore("bank", Limits.standard());
        turns.forEach(next::recover);
        for (ServiceCore each : List.of(core, next)) {
            Change.PeerIs peer =
                    each.snapshot().changes().stream()
                            .filter(
                                    it ->
                                            it instanceof Change.PeerIs is
                                                    && is.peer().equals("shop"))
                            .map(it -> (Change.PeerIs) it)
                            .findFirst()
                            .orElseThrow();
            assertThat(peer.sent()).isEqualTo(2);
            assertThat(peer.unacked())
                    .extracting(it -> it.body().type())
                    .containsExactly(ServiceCore.NOTHING.type(), "two");
        }
        assertThat(Optional.of(core.countOf("shop", 2))).contains(2L);
    }
}
