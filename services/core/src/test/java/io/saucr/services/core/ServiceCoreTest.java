package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** One scenario per test, mostly what {@link ServiceWorld} found first. */
class ServiceCoreTest {

    private static final Limits LIMITS = new Limits(4, 1, true, 10, 40, 16, 3_600_000);
    private static final Moment NOW = new Moment(1_000_000, 0);

    private long links;

    /** A service or client with its disk. */
    private static final class End {
        final String name;
        final boolean client;
        Birth birth;
        final List<Incarnation> starts = new ArrayList<>();
        List<Delta> written = new ArrayList<>();
        ServiceCore core;
        final ArrayDeque<Action.Send> sent = new ArrayDeque<>();
        final List<Action.Close> closed = new ArrayList<>();
        final List<Action.Leave> left = new ArrayList<>();
        final List<String> reached = new ArrayList<>();
        final List<String> calls = new ArrayList<>();
        final List<Birth> formers = new ArrayList<>();
        Optional<String> halted = Optional.empty();

        End(String name, boolean client) {
            this.name = name;
            this.client = client;
            this.birth = new Birth(name.hashCode(), 1);
            start();
        }

        void start() {
            starts.add(new Incarnation(birth, starts.size() + 1, 1_000 + starts.size()));
            core = new ServiceCore(name, formers, starts, LIMITS);
            written.forEach(core::recover);
            sent.clear();
            reached.clear();
            calls.clear();
            perform(core.begin(List.of(), NOW));
        }

        void startAnew() {
            birth = new Birth(birth.high(), birth.low() + 1);
            starts.clear();
            written.clear();
            start();
        }

        /** Its folder goes on under another birth. */
        void bearAnew() {
            formers.add(birth);
            birth = new Birth(birth.high(), birth.low() + 1);
            starts.clear();
            start();
        }

        void perform(List<Action> actions) {
            for (Action action : actions) {
                if (action instanceof Action.Append it) {
                    written.add(it.delta());
                } else if (action instanceof Action.Send it) {
                    sent.add(it);
                } else if (action instanceof Action.Close it) {
                    closed.add(it);
                } else if (action instanceof Action.Leave it) {
                    left.add(it);
                } else if (action instanceof Action.Reach it) {
                    reached.add(it.service());
                } else if (action instanceof Action.Call it) {
                    calls.add(it.id());
                } else if (action instanceof Action.Halt it) {
                    halted = Optional.of(it.reason());
                }
            }
        }

        void force() {
            perform(core.moved(Finals.turns(core.newestTurn())));
        }

        Optional<Input> next() {
            perform(core.tick(NOW));
            force();
            return core.next(NOW);
        }

        void commit(Effects effects) {
            written.add(core.commit(effects));
        }

        void submit(String to, String type) {
            perform(core.submit(to, body(type)));
        }

        List<Class<?>> kindsSent() {
            return sent.stream().<Class<?>>map(it -> it.frame().getClass()).toList();
        }
    }

    /** A link between two ends. */
    private final class Joint {
        final End dialler;
        final End acceptor;
        final Link atDialler;
        final Link atAcceptor;

        Joint(End dialler, End acceptor) {
            this.dialler = dialler;
            this.acceptor = acceptor;
            long id = ++links;
            atDialler = new Link(id, acceptor.name, false);
            atAcceptor = new Link(id, dialler.name, dialler.client);
            acceptor.perform(acceptor.core.linkUp(atAcceptor));
            dialler.perform(dialler.core.linkUp(atDialler));
        }

        /** What both sent arrives, until nothing is sent; all that is recorded is forced. */
        void settle() {
            int rounds = 0;
            while (!dialler.sent.isEmpty() || !acceptor.sent.isEmpty()) {
                assertThat(++rounds).isLessThan(100);
                toAcceptor();
                acceptor.force();
                toDialler();
                dialler.force();
            }
        }

        void toAcceptor() {
            carry(dialler, acceptor, atAcceptor);
        }

        void toDialler() {
            carry(acceptor, dialler, atDialler);
        }

        private void carry(End from, End to, Link link) {
            while (!from.sent.isEmpty()) {
                Action.Send send = from.sent.remove();
                if (send.link().id() == link.id()) {
                    to.perform(to.core.frame(link, send.frame(), NOW));
                }
            }
        }
    }

    private static Body body(String type) {
        return new Body(type, new byte[0]);
    }

    private static Effects nothing() {
        return new Effects(List.of(), List.of(), List.of(), List.of(), List.of(), 0, false);
    }

    private static Effects sends(String to, String type) {
        return new Effects(
                List.of(new Effects.Send(to, body(type))),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                0,
                false);
    }

    private static String type(Optional<Input> input) {
        return input.orElseThrow().body().type();
    }

    @Test
    void whatIsSubmittedToItselfRuns() {
        End bank = new End("bank", false);
        bank.submit("bank", "go");
        assertThat(type(bank.next())).isEqualTo("go");
    }

    /** C6: a standby takes what others recorded, and begins under its own start once in office. */
    @Test
    void aStartMayBeKnownOnlyAfterRecovery() {
        End bank = new End("bank", false);
        bank.submit("shop", "one");
        bank.submit("shop", "two");
        ServiceCore standby = new ServiceCore("bank", LIMITS);
        bank.written.forEach(standby::recover);
        assertThat(standby.snapshot().incarnation()).isEqualTo(1);
        assertThat(standby.snapshot().changes()).isEqualTo(bank.core.snapshot().changes());
        assertThatThrownBy(() -> standby.begin(List.of(), NOW))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call under first");
        Incarnation other = new Incarnation(new Birth(9, 9), 1, 1);
        Incarnation next = new Incarnation(bank.birth, 2, 7);
        assertThatThrownBy(() -> standby.under(List.of(), List.of()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standby.under(List.of(), List.of(other, next)))
                .hasMessageContaining("several generations");
        standby.under(List.of(), List.of(bank.starts.get(0), next));
        assertThatThrownBy(() -> standby.under(List.of(), List.of(next)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("already");
        assertThat(standby.begin(List.of(), NOW)).contains(new Action.Reach("shop"));
        assertThat(standby.snapshot().incarnation()).isEqualTo(2);
        assertThatThrownBy(standby::released).isInstanceOf(IllegalStateException.class);
    }

    /** K13: where recovery takes for ever, files whose messages were acked must not stay. */
    @Test
    void whatIsAckedWhileAStandbyRecoversIsReleased() {
        ServiceCore standby = new ServiceCore("bank", LIMITS.outbox(1, 1 << 10));
        Birth shop = new Birth(1, 2);
        standby.recover(
                new Delta(
                        1,
                        1,
                        1,
                        List.of(
                                new Change.PairOpened("shop", false, shop, Count.NONE),
                                new Change.PairKnown("shop"),
                                new Change.Sent("shop", 0, Optional.empty(), body("one")),
                                new Change.Sent("shop", 0, Optional.empty(), body("two")),
                                new Change.Sent("shop", 0, Optional.empty(), body("three")))));
        assertThat(standby.stored()).hasSize(2);
        assertThat(standby.released()).isEmpty();
        standby.recover(new Delta(2, 1, 2, List.of(new Change.Acked("shop", new Count(2, 1, 1)))));
        assertThat(standby.released()).containsExactly(new Action.Release(1, 2));
        standby.recover(new Delta(3, 1, 3, List.of(new Change.Acked("shop", new Count(3, 1, 1)))));
        assertThat(standby.released()).containsExactly(new Action.Release(1, Long.MAX_VALUE));
        assertThat(standby.released()).isEmpty();
    }

    private static final Link ASKER = new Link(77, "", true);

    /** A core that proves its reads, with one turn that is not final. */
    private static ServiceCore proving() {
        ServiceCore core = new ServiceCore("bank", LIMITS);
        core.proveReads();
        core.under(List.of(), List.of(new Incarnation(new Birth(1, 1), 1, 1)));
        List<Action> unused = new ArrayList<>(core.begin(List.of(), NOW));
        unused.addAll(core.linkUp(ASKER));
        unused.addAll(core.submit("shop", body("one")));
        return core;
    }

    private static List<Action> asked(ServiceCore core, Link link, long request) {
        List<Action> all =
                new ArrayList<>(core.frame(link, new Frame.Ask(request, body("how")), NOW));
        assertThat(type(core.next(NOW))).isEqualTo("how");
        all.addAll(core.answered(body("so")));
        return all;
    }

    private static List<Long> answers(List<Action> actions) {
        return actions.stream()
                .filter(
                        it ->
                                it instanceof Action.Send send
                                        && send.frame() instanceof Frame.Answer)
                .map(it -> ((Frame.Answer) ((Action.Send) it).frame()).request())
                .toList();
    }

    /** K4, C8. */
    @Test
    void aReadIsToldOnceItsTurnIsFinalAndAProofCameAfterIt() {
        ServiceCore core = proving();
        assertThat(asked(core, ASKER, 1)).containsExactly(new Action.Prove(1));
        assertThat(asked(core, ASKER, 2)).containsExactly(new Action.Prove(2));
        assertThat(answers(core.moved(Finals.turns(1)))).isEmpty();
        assertThat(answers(core.moved(Finals.reads(1)))).containsExactly(1L);
        assertThat(asked(core, ASKER, 3)).containsExactly(new Action.Prove(3));
        List<Action> unused = core.submit("shop", body("two"));
        assertThat(asked(core, ASKER, 4)).containsExactly(new Action.Prove(4));
        // Proven, and the last one saw a turn that is not final.
        assertThat(answers(core.moved(Finals.reads(4)))).containsExactly(2L, 3L);
        assertThat(answers(core.moved(Finals.turns(2)))).containsExactly(4L);
        assertThatThrownBy(() -> core.moved(Finals.reads(5)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the newest is 4");
        // An older proof that comes late takes nothing back, and lets nothing out.
        assertThat(core.moved(Finals.reads(2))).isEmpty();
        assertThat(answers(asked(core, ASKER, 5))).isEmpty();
    }

    /** C8: what it says of a query that failed is what it read, too. */
    @Test
    void aRefusalOfAHandlerIsProvenToo() {
        ServiceCore core = proving();
        List<Action> unused = core.frame(ASKER, new Frame.Ask(1, body("how")), NOW);
        assertThat(core.next(NOW)).isPresent();
        assertThat(core.failed("no such account", NOW)).containsExactly(new Action.Prove(1));
        assertThat(core.moved(Finals.turns(1))).noneMatch(it -> it instanceof Action.Send);
        assertThat(core.moved(Finals.reads(1)))
                .containsExactly(new Action.Send(ASKER, new Frame.Refused(1, "no such account")));
    }

    /** Turns go on while reads wait, and what they caused leaves. */
    @Test
    void aReadThatIsNotProvenHoldsNoTurnUp() {
        ServiceCore core = proving();
        List<Action> unused = new ArrayList<>(asked(core, ASKER, 1));
        unused.addAll(core.frame(ASKER, new Frame.Ask(2, body("do")), NOW));
        assertThat(type(core.next(NOW))).isEqualTo("do");
        Delta turn = core.commit(nothing());
        assertThat(answers(core.moved(Finals.turns(turn.turn())))).containsExactly(2L);
        assertThat(answers(core.moved(Finals.reads(1)))).containsExactly(1L);
    }

    /** K13: where no proof comes, reads take no more memory than requests do. */
    @Test
    void readsThatWaitForAProofAreBounded() {
        ServiceCore core = proving();
        for (int request = 1; request <= LIMITS.outsideRequests(); request++) {
            assertThat(asked(core, ASKER, request)).isNotEmpty();
        }
        List<Action> more = core.frame(ASKER, new Frame.Ask(99, body("how")), NOW);
        assertThat(more)
                .anyMatch(
                        it ->
                                it instanceof Action.Send send
                                        && send.frame() instanceof Frame.Refused);
        // Who left waits for no answer.
        List<Action> unused = new ArrayList<>(core.linkDown(ASKER));
        Link other = new Link(78, "", true);
        unused.addAll(core.linkUp(other));
        assertThat(asked(core, other, 1)).isNotEmpty();
        unused.addAll(core.moved(Finals.turns(1)));
        assertThat(answers(core.moved(Finals.reads(LIMITS.outsideRequests() + 1L))))
                .containsExactly(1L);
    }

    @Test
    void whoProvesNoReadsIsNotAskedTo() {
        End bank = new End("bank", false);
        bank.perform(bank.core.linkUp(ASKER));
        bank.submit("shop", "one");
        assertThat(asked(bank.core, ASKER, 1)).isEmpty();
        assertThat(answers(bank.core.moved(Finals.turns(1)))).containsExactly(1L);
        assertThat(answers(asked(bank.core, ASKER, 2))).containsExactly(2L);
        assertThatThrownBy(() -> bank.core.moved(Finals.reads(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> bank.core.proveReads()).isInstanceOf(IllegalStateException.class);
    }

    /** K13: its own message runs though messages for others, who are away, fill the heap. */
    @Test
    void whatItSendsItselfRunsThoughOthersMessagesFillTheHeap() {
        Incarnation start = new Incarnation(new Birth(1, 1), 1, 1);
        ServiceCore core = new ServiceCore("bank", List.of(start), LIMITS.outbox(1, 1 << 10));
        List<Action> unused = new ArrayList<>(core.begin(List.of(), NOW));
        for (String away : List.of("one", "two", "three", "four")) {
            unused.addAll(core.submit(away, new Body("fill", new byte[824])));
        }
        assertThat(core.stored()).isEmpty();
        unused.addAll(core.submit("bank", body("go")));
        List<Stored> stored = core.stored();
        assertThat(stored).extracting(Stored::peer).containsExactly("bank");
        List<Action.Fetch> asked =
                core.tick(NOW).stream()
                        .filter(Action.Fetch.class::isInstance)
                        .map(Action.Fetch.class::cast)
                        .toList();
        assertThat(asked).hasSize(1);
        unused.addAll(
                core.fetched(
                        asked.get(0).stream(),
                        asked.get(0).after(),
                        List.of(stored.get(0).message())));
        assertThat(type(core.next(NOW))).isEqualTo("go");
    }

    @Test
    void aTimersTurnMayCancelIt() {
        End bank = new End("bank", false);
        bank.submit("bank", "go");
        bank.next();
        bank.commit(
                new Effects(
                        List.of(),
                        List.of(new Effects.TimerSet(1, NOW.wallMillis(), body("due"))),
                        List.of(),
                        List.of(),
                        List.of(),
                        1,
                        false));
        assertThat(type(bank.next())).isEqualTo("due");
        bank.commit(new Effects(List.of(), List.of(), List.of(1L), List.of(), List.of(), 1, false));
        bank.start();
        assertThat(bank.core.isSet(1)).isFalse();
        assertThat(bank.next()).isEmpty();
    }

    /** K7. */
    @Test
    void whatComesAgainIsDroppedAndCounted() {
        End shop = new End("shop", false);
        End bank = new End("bank", false);
        Joint first = new Joint(shop, bank);
        first.settle();
        Joint second = new Joint(shop, bank);
        second.settle();
        Joint third = new Joint(shop, bank);
        third.settle();
        shop.submit("bank", "go");
        shop.force();
        third.toAcceptor();
        assertThat(bank.core.duplicates()).isZero();
        shop.perform(shop.core.linkDown(third.atDialler));
        Joint next = shop.sent.element().link().equals(first.atDialler) ? first : second;
        next.toAcceptor();
        assertThat(bank.core.duplicates()).isEqualTo(1);
        assertThat(type(bank.next())).isEqualTo("go");
        bank.commit(nothing());
        shop.perform(shop.core.linkDown(next.atDialler));
        (next == first ? second : first).toAcceptor();
        assertThat(bank.core.duplicates()).isEqualTo(2);
        assertThat(bank.next()).isEmpty();
    }

    /** K6. */
    @Test
    void whereOneLinkEndsAllIsSaidOverTheOther() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint first = new Joint(shop, bank);
        first.settle();
        Joint second = new Joint(shop, bank);
        second.settle();
        shop.submit("bank", "pay");
        shop.force();
        assertThat(shop.sent).isNotEmpty().allMatch(it -> it.link().equals(second.atDialler));
        shop.sent.clear();
        shop.perform(shop.core.linkDown(second.atDialler));
        assertThat(shop.sent)
                .filteredOn(it -> it.frame() instanceof Frame.Msg)
                .extracting(Action.Send::link)
                .containsExactly(first.atDialler);
    }

    /** K12, K15: who was told that a message was put aside is not told that it may be consumed. */
    @Test
    void aRefusalIsAnAck() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.submit("bank", "poison");
        shop.force();
        joint.settle();
        bank.next();
        bank.perform(bank.core.failed("poison", NOW));
        bank.force();
        bank.sent.removeIf(it -> it.frame() instanceof Frame.Ack);
        joint.toDialler();
        assertThat(shop.next()).containsInstanceOf(Input.Returned.class);
        shop.commit(nothing());
        shop.force();
        assertThat(shop.core.acked("bank", 1)).isTrue();
        bank.startAnew();
        new Joint(shop, bank).settle();
        assertThat(shop.next()).isEmpty();
    }

    /** A message of shop that bank refused and shop's handler of what comes back, too, if any. */
    private End shopThatHasPoisonBack() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.submit("bank", "poison");
        shop.force();
        joint.settle();
        bank.next();
        bank.perform(bank.core.failed("poison", NOW));
        bank.submit("shop", "next");
        bank.force();
        joint.settle();
        assertThat(shop.next()).containsInstanceOf(Input.Returned.class);
        return shop;
    }

    /** K12: a channel does not wait for a handler that nobody may ever write. */
    @Test
    void whatComesBackAndNobodyTakesIsPutAside() {
        End shop = shopThatHasPoisonBack();
        shop.perform(shop.core.unclaimed());
        assertThat(shop.core.report().parked())
                .singleElement()
                .satisfies(it -> assertThat(it.reason()).contains("it came back from bank"));
        assertThat(type(shop.next())).isEqualTo("next");
        shop.commit(nothing());
        assertThat(shop.core.report().stopped()).isEmpty();
    }

    /** K12: its type may have a handler that is meant for what others send. */
    @Test
    void whatCameBackAndIsTriedAgainComesBackAgain() {
        for (boolean folded : List.of(false, true)) {
            End shop = shopThatHasPoisonBack();
            shop.perform(shop.core.failed("no room", NOW));
            long id = shop.core.report().parked().get(0).id();
            if (folded) {
                shop.written = new ArrayList<>(List.of(shop.core.snapshot()));
            }
            shop.start();
            shop.perform(shop.core.admin().retryParked(id));
            shop.start();
            assertThat(shop.core.report().parked()).isEmpty();
            Optional<Input> again = shop.next();
            assertThat(again)
                    .get()
                    .isInstanceOfSatisfying(
                            Input.Returned.class,
                            it -> {
                                assertThat(it.service()).isEqualTo("bank");
                                assertThat(it.number()).isEqualTo(1);
                                assertThat(it.reason()).contains("poison");
                            });
            shop.perform(shop.core.failed("no room", NOW));
            assertThat(shop.core.report().parked()).hasSize(1);
            shop.perform(shop.core.admin().discardParked(shop.core.report().parked().get(0).id()));
            shop.start();
            assertThat(shop.core.report().parked()).isEmpty();
            assertThatThrownBy(() -> shop.core.admin().retryParked(id))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** K12: a person may try again as often as he likes. */
    @Test
    void whatFailsAgainLiesAsideAgainAndStopsNothing() {
        End bank = new End("bank", false);
        bank.submit("bank", "poison");
        for (int times = 0; times < 3; times++) {
            assertThat(type(bank.next())).isEqualTo("poison");
            bank.perform(bank.core.failed("poison", NOW));
            // The service has its own message back, and no handler for it.
            assertThat(bank.next()).containsInstanceOf(Input.Returned.class);
            bank.perform(bank.core.unclaimed());
            assertThat(bank.core.report().parked()).hasSize(1);
            assertThat(bank.core.report().stopped()).isEmpty();
            bank.perform(bank.core.admin().retryParked(bank.core.report().parked().get(0).id()));
        }
    }

    /** K5, K12: to who calls from outside an ack says that all went well. */
    @Test
    void anOutsideClientHearsTheAnswerBeforeTheAck() {
        End bank = new End("bank", false);
        End client = new End("client", true);
        Joint joint = new Joint(client, bank);
        joint.settle();
        client.submit("bank", "poison");
        client.force();
        joint.settle();
        bank.next();
        bank.perform(bank.core.failed("poison", NOW));
        assertThat(bank.sent).isEmpty();
        bank.force();
        assertThat(bank.kindsSent()).containsExactly(Frame.Msg.class, Frame.Ack.class);
    }

    /** K14: its message was consumed, but that was not final when the old copy said HELLO. */
    @Test
    void anOldCopyHearsLaterThatItIsBehind() {
        End bank = new End("bank", false);
        End client = new End("client", true);
        new Joint(client, bank).settle();
        List<Delta> copy = new ArrayList<>(client.written);
        Joint first = new Joint(client, bank);
        first.settle();
        client.submit("bank", "first");
        client.force();
        first.toAcceptor();
        bank.force();
        assertThat(type(bank.next())).isEqualTo("first");
        bank.commit(nothing());
        client.written = copy;
        client.start();
        client.submit("bank", "another");
        client.force();
        Joint second = new Joint(client, bank);
        second.toAcceptor();
        second.toDialler();
        second.toAcceptor();
        second.toDialler();
        assertThat(client.halted).isEmpty();
        assertThat(client.core.note()).isPresent();
        bank.force();
        second.toDialler();
        assertThat(client.halted).isPresent();
        assertThat(client.core.note()).isEmpty();
    }

    /** K3: what is noted of a call is a turn, and a call is open until its result has had one. */
    @Test
    void aNoteIsATurnThatNoInputLedTo() {
        End bank = new End("bank", false);
        bank.submit("bank", "go");
        bank.next();
        bank.commit(
                new Effects(
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(body("call"), body("another")),
                        List.of(),
                        0,
                        false));
        assertThat(bank.core.isOpen(1)).isTrue();
        assertThat(bank.core.isOpen(3)).isFalse();
        bank.force();
        long before = bank.core.newestTurn();

        bank.written.add(bank.core.note().orElseThrow());
        assertThat(bank.core.newestTurn()).isEqualTo(before + 1);
        bank.perform(bank.core.result(1, Optional.of(body("answer"))));
        bank.perform(bank.core.result(2, Optional.empty()));
        // One has no turn yet; the other's end is a part of the next turn, whichever that is.
        assertThat(bank.core.isOpen(1)).isTrue();
        assertThat(bank.core.isOpen(2)).isFalse();
        bank.written.add(bank.core.note().orElseThrow());

        bank.start();
        assertThat(bank.core.isOpen(2)).isFalse();
        assertThat(bank.calls).hasSize(1);
        assertThat(bank.core.report().replaced()).isEmpty();
        Birth former = bank.birth;
        bank.bearAnew();
        assertThat(bank.core.report().replaced()).containsExactly(former);
    }

    /** K15. */
    @Test
    void whatAGoneBirthHasNotAckedComesBackOnce() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.submit("bank", "numbered");
        shop.force();
        shop.sent.clear();
        bank.startAnew();
        shop.start();
        new Joint(shop, bank).settle();
        shop.submit("bank", "later");
        shop.force();
        new Joint(shop, bank).settle();
        Optional<Input> back = shop.next();
        assertThat(type(back)).isEqualTo("numbered");
        assertThat(((Input.Returned) back.orElseThrow()).perhapsConsumed()).isTrue();
        shop.commit(nothing());
        assertThat(shop.next()).isEmpty();
        assertThat(type(bank.next())).isEqualTo("later");
    }

    /** K4: a crash can undo that a birth was declared gone, so nobody hears of it before. */
    @Test
    void goneLeavesOnceItIsFinal() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.perform(shop.core.admin().declareLost("bank", bank.birth, "burnt"));
        assertThat(shop.kindsSent()).doesNotContain(Frame.Gone.class);
        shop.force();
        assertThat(shop.kindsSent()).containsExactly(Frame.Gone.class);
        assertThat(shop.closed).hasSize(1);
    }

    /** K4: nor does who comes back. */
    @Test
    void whoComesBackHearsThatItIsGoneOnceThatIsFinal() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        new Joint(shop, bank).settle();
        shop.start();
        shop.perform(shop.core.admin().declareLost("bank", bank.birth, "burnt"));
        Joint early = new Joint(bank, shop);
        early.toAcceptor();
        assertThat(shop.kindsSent()).doesNotContain(Frame.Gone.class);
        assertThat(shop.closed).hasSize(1);
        shop.force();
        Joint late = new Joint(bank, shop);
        late.toAcceptor();
        assertThat(shop.kindsSent()).contains(Frame.Gone.class);
        assertThat(shop.closed).hasSize(2);
    }

    /** K10, K6: a base made before a turn is forced holds what is recorded only later. */
    @Test
    void anAckThatWasHeardIsAppliedTwiceWithoutHarm() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.submit("bank", "one");
        shop.submit("bank", "two");
        shop.force();
        joint.settle();
        bank.next();
        bank.commit(sends("shop", "reply"));
        bank.force();
        joint.toDialler();
        Delta base = shop.core.snapshot();
        assertThat(type(shop.next())).isEqualTo("reply");
        shop.commit(nothing());
        ServiceCore again = new ServiceCore("shop", shop.starts, LIMITS);
        again.recover(base);
        shop.written.stream().filter(it -> it.turn() > base.turn()).forEach(again::recover);
        assertThat(again.acked("bank", 1)).isTrue();
        assertThat(again.acked("bank", 2)).isFalse();
        assertThat(again.snapshot().changes()).isEqualTo(shop.core.snapshot().changes());
    }

    private static Input.Returned back(End of) {
        return (Input.Returned) of.next().orElseThrow();
    }

    /** K15: who is told that its birth is gone has all back, says what to do, and dials no more. */
    @Test
    void whoseBirthIsGoneLearnsItInWordsAndDialsNoMore() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        new Joint(bank, shop).settle();
        shop.perform(shop.core.admin().declareLost("bank", bank.birth, "burnt"));
        shop.force();
        bank.start();
        bank.submit("shop", "one");
        bank.force();
        new Joint(bank, shop).settle();
        assertThat(bank.left).extracting(Action.Leave::service).containsExactly("shop");
        assertThat(bank.core.report().refusedBy().get("shop"))
                .contains(shop.birth.toString(), bank.birth.toString(), "Services.newGeneration");
        assertThat(back(bank).perhapsConsumed()).isTrue();
        bank.commit(nothing());
        bank.submit("shop", "two");
        bank.reached.clear();
        bank.force();
        assertThat(bank.reached).isEmpty();
        Joint again = new Joint(shop, bank);
        again.settle();
        assertThat(shop.left).extracting(Action.Leave::service).contains("bank");
        long written = bank.written.size();
        new Joint(bank, shop).settle();
        assertThat(bank.written).hasSize((int) written);
        // A base says so, too, and brings nothing back again.
        ServiceCore folded = new ServiceCore("bank", bank.starts, LIMITS);
        folded.recover(bank.core.snapshot());
        assertThat(folded.report().refusedBy()).isEqualTo(bank.core.report().refusedBy());
        assertThat(folded.snapshot().changes()).isEqualTo(bank.core.snapshot().changes());
        // After a time it looks whether the other one was made anew.
        long later = 2 * Pairs.LEFT_MILLIS;
        bank.perform(bank.core.tick(new Moment(NOW.wallMillis() + later, later)));
        assertThat(bank.reached).containsExactly("shop");
    }

    /** K15, K11: with a new birth it goes on, and what waited comes back before. */
    @Test
    void aNewGenerationGoesOnWithWhoDeclaredTheOldOneGone() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        new Joint(bank, shop).settle();
        shop.perform(shop.core.admin().declareLost("bank", bank.birth, "burnt"));
        shop.force();
        new Joint(bank, shop).settle();
        bank.bearAnew();
        assertThat(bank.core.report().refusedBy()).isEmpty();
        bank.submit("shop", "new");
        bank.force();
        new Joint(bank, shop).settle();
        assertThat(type(shop.next())).isEqualTo("new");
    }

    /** K11: numbered or not, a newer folder may have sent it, and it may have been consumed. */
    @Test
    void aNewGenerationHasItsOutboxBackAndSendsNothingOfIt() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.submit("bank", "numbered");
        shop.submit("mail", "unnumbered");
        shop.submit("shop", "own");
        shop.force();
        shop.bearAnew();
        assertThat(shop.reached).contains("bank");
        new Joint(shop, bank).settle();
        List<String> back = new ArrayList<>();
        // Behind a start one channel after the other is tried.
        for (int i = 0; i < 20; i++) {
            Optional<Input> input = shop.next();
            if (input.isPresent()) {
                if (input.get() instanceof Input.Returned it) {
                    assertThat(it.perhapsConsumed()).isTrue();
                    assertThat(it.reason()).contains("new generation");
                }
                back.add(type(input));
                shop.commit(nothing());
            }
        }
        assertThat(back).containsExactlyInAnyOrder("numbered", "unnumbered", "own");
        assertThat(shop.next()).isEmpty();
        assertThat(bank.next()).isEmpty();
        assertThat(shop.core.acked("bank", 1)).isFalse();
        // The order is recorded once: a start later nothing comes back again.
        shop.submit("bank", "new");
        shop.force();
        shop.start();
        assertThat(shop.next()).isEmpty();
        new Joint(shop, bank).settle();
        assertThat(type(bank.next())).isEqualTo("new");
    }

    /** K11: what was sent to the old birth comes back to its sender. */
    @Test
    void peersOfANewGenerationHaveBackWhatTheOldOneDidNotAck() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        new Joint(shop, bank).settle();
        shop.submit("bank", "lost with a newer folder");
        shop.force();
        bank.bearAnew();
        assertThat(bank.reached).containsExactly("shop");
        new Joint(bank, shop).settle();
        assertThat(back(shop).perhapsConsumed()).isTrue();
        assertThat(bank.next()).isEmpty();
    }

    /**
     * K11, K12: whether its sender heard a refusal of the old birth nobody knows, so it is not sent
     * again; the message lies aside with the service.
     */
    @Test
    void aNewGenerationDoesNotRepeatARefusal() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        Joint joint = new Joint(shop, bank);
        joint.settle();
        shop.submit("bank", "poison");
        shop.force();
        joint.settle();
        bank.next();
        bank.perform(bank.core.failed("poison", NOW));
        bank.force();
        bank.bearAnew();
        new Joint(shop, bank).settle();
        assertThat(bank.core.report().parked()).hasSize(1);
        assertThat(bank.core.report().channels())
                .filteredOn(it -> it.peer().equals("shop"))
                .allMatch(it -> it.unacked() == 0);
        // It had no ack, either.
        assertThat(back(shop).perhapsConsumed()).isTrue();
        shop.commit(nothing());
        assertThat(shop.next()).isEmpty();
    }

    /** K17: the id stays, whatever birth makes the call again. */
    @Test
    void aCallKeepsTheIdOfTheBirthThatMadeIt() {
        End bank = new End("bank", false);
        bank.submit("bank", "go");
        for (int birth = 0; birth < 3; birth++) {
            bank.next();
            bank.commit(
                    new Effects(
                            List.of(new Effects.Send("bank", body("go"))),
                            List.of(),
                            List.of(),
                            List.of(body("call")),
                            List.of(),
                            0,
                            false));
            bank.force();
            if (birth < 2) {
                bank.bearAnew();
            }
        }
        List<String> ids = new ArrayList<>();
        for (int call = 0; call < 3; call++) {
            Birth by = call < 2 ? bank.formers.get(call) : bank.birth;
            ids.add(by + "-" + (call + 1));
        }
        bank.start();
        assertThat(bank.calls).containsExactlyElementsOf(ids);
        ServiceCore folded = new ServiceCore("bank", bank.formers, bank.starts, LIMITS);
        folded.recover(bank.core.snapshot());
        List<String> again =
                folded.begin(List.of(), NOW).stream()
                        .filter(it -> it instanceof Action.Call)
                        .map(it -> ((Action.Call) it).id())
                        .toList();
        assertThat(again).containsExactlyElementsOf(ids);
    }

    /** What waits for a name that nobody has can be given up; it was certainly not consumed. */
    @Test
    void whatWaitsForANameThatNobodyHasComesBackByOrder() {
        End shop = new End("shop", false);
        shop.submit("bnak", "one");
        shop.submit("bnak", "two");
        shop.perform(shop.core.admin().giveUp("bnak", "nobody is called so"));
        assertThat(back(shop).perhapsConsumed()).isFalse();
        shop.commit(nothing());
        assertThat(back(shop).number()).isEqualTo(2);
        shop.commit(nothing());
        assertThat(shop.next()).isEmpty();
        assertThat(shop.core.report().channels().get(0).unacked()).isZero();
        assertThat(shop.core.acked("bnak", 1)).isFalse();
    }

    @Test
    void anOrderThatNamesNobodyKnownIsRefusedWithThoseWhoAre() {
        End bank = new End("bank", false);
        End shop = new End("shop", false);
        new Joint(shop, bank).settle();
        shop.submit("bnak", "one");
        int written = shop.written.size();
        Birth nobody = new Birth(9, 9);
        refused(() -> shop.core.admin().declareLost("mail", bank.birth, "x"), "[bank, bnak]");
        refused(() -> shop.core.admin().declareLost("bank", nobody, "x"), bank.birth.toString());
        refused(() -> shop.core.admin().declareLost("bnak", nobody, "x"), "can be given up");
        refused(() -> shop.core.admin().giveUp("mail", "x"), "[bank, bnak]");
        refused(() -> shop.core.admin().giveUp("shop", "x"), "[bank, bnak]");
        refused(() -> shop.core.admin().giveUp("bank", "x"), bank.birth.toString());
        assertThat(shop.written).hasSize(written);
    }

    private static void refused(Runnable order, String part) {
        assertThatThrownBy(order::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(part);
    }
}
