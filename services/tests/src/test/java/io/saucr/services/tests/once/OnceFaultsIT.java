package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.tests.once.BothServers.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The once client under the faults that make today's clients wrong ({@link BaselinesIT}): what each
 * of them leaves and tells is that of a run without faults, on Apache's servers and on ours. Every
 * fault meets one request for certain; the client works pipelined meanwhile.
 */
class OnceFaultsIT {
    private static final long SEED = 4;
    private static final int OPERATIONS = 90;
    private static final int DEPTH = 16;

    /** Behind those that make nodes and marker. */
    private static final int HELD_WRITE = 5;

    /** What the request that meets the fault is about. */
    enum Target {
        CREATE,
        SEQUENTIAL,
        SET_DATA,
        MULTI,
        REFUSED;

        private boolean fits(Step step) {
            return switch (this) {
                case CREATE -> step instanceof Step.Create;
                case SEQUENTIAL -> step instanceof Step.CreateSequential;
                case SET_DATA -> step instanceof Step.SetData set && set.version() == -1;
                case MULTI -> step instanceof Step.Multi multi && multi.parts().size() == 3;
                case REFUSED -> step instanceof Step.Multi multi && multi.parts().size() == 2;
            };
        }

        /** What stands in the request and in no other client's. */
        String data(Workload workload) {
            Step step =
                    workload.steps().get(0).stream().filter(this::fits).findFirst().orElseThrow();
            while (step instanceof Step.Multi multi) {
                step = multi.parts().get(multi.parts().size() == 3 ? 2 : 0);
            }
            if (step instanceof Step.Create create) {
                return create.data();
            } else if (step instanceof Step.CreateSequential create) {
                return create.data();
            }
            return ((Step.SetData) step).data();
        }
    }

    @TempDir static Path work;
    private static BothServers servers;

    @BeforeAll
    static void describe() {
        servers = new BothServers(work);
    }

    @AfterAll
    static void end() {
        servers.close();
    }

    private static OnceRun.Plan plan(Kind whose, String name) throws IOException {
        return new OnceRun.Plan(
                Writer.Way.ONCE,
                servers.of(whose).connectString(),
                name,
                1,
                OPERATIONS,
                SEED,
                DEPTH,
                work.resolve("clients-" + whose));
    }

    /** Each fate once, by turns with the client's death and without it. */
    static Stream<Arguments> faults() {
        return faults(true);
    }

    /** The other half of all. */
    static Stream<Arguments> moreFaults() {
        return faults(false);
    }

    /**
     * Each fate with the client's death on one kind of servers, and without it on the other; {@link
     * OnceCampaign} has them all on either.
     */
    private static Stream<Arguments> faults(boolean first) {
        List<Arguments> half = new ArrayList<>();
        Target[] targets = Target.values();
        Fate.Kind[] kinds = Fate.Kind.values();
        for (int i = 1; i < kinds.length; i++) {
            Kind whose = i % 2 == 0 ? Kind.STOCK : Kind.OURS;
            // What is held matters most to a successor.
            boolean kill = (i % 2 == 0 || kinds[i] == Fate.Kind.HOLD) == first;
            half.add(
                    kill
                            ? Arguments.of(whose, targets[i % targets.length], kinds[i], true)
                            : Arguments.of(
                                    whose.other(),
                                    targets[(i + 2) % targets.length],
                                    kinds[i],
                                    false));
        }
        return half.stream();
    }

    @ParameterizedTest(name = "{0} {1} {2} kill {3}")
    @MethodSource("faults")
    void eachOperationTakesEffectOnce(Kind whose, Target target, Fate.Kind kind, boolean kill)
            throws Exception {
        takesEffectOnce(whose, target, kind, kill);
    }

    @Tag("long")
    @ParameterizedTest(name = "{0} {1} {2} kill {3}")
    @MethodSource("moreFaults")
    void eachOperationTakesEffectOnceOnTheOtherServers(
            Kind whose, Target target, Fate.Kind kind, boolean kill) throws Exception {
        takesEffectOnce(whose, target, kind, kill);
    }

    private static void takesEffectOnce(Kind whose, Target target, Fate.Kind kind, boolean kill)
            throws Exception {
        OnceRun.Plan plan = plan(whose, target + "-" + kind);
        String data = target.data(plan.workload());
        List<OnceRun> run = new ArrayList<>();
        Fate fate = Fate.of(kind).and(() -> kill(run, kill));
        Script script =
                new Script()
                        .on(
                                request -> request.contains("\0\0\0" + (char) data.length() + data),
                                fate);
        try (OnceRun opened = new OnceRun(plan, List.of(script))) {
            run.add(opened);
            opened.start();
            opened.awaitDone();
            assertThat(script.left()).isZero();
            assertThat(opened.process(0).starts()).isEqualTo(kill ? 2 : 1);
            assertThat(opened.violations()).isEmpty();
            if (kind == Fate.Kind.HOLD && kill) {
                // The successor has done everything, and now the held ones come.
                assertThat(opened.line(0).held()).isPositive();
                assertThat(opened.line(0).release()).isNotEmpty().doesNotContain(0);
                assertThat(opened.violations()).isEmpty();
            }
        }
    }

    private static void kill(List<OnceRun> run, boolean kill) {
        if (kill) {
            run.get(0).process(0).kill();
        }
    }

    /**
     * A chain of requests outlives its client, and reaches the servers before the successor's
     * replacement of the marker, behind it, and in the midst of the successor's own chain.
     */
    @Test
    void aHeldChainMeetsItsSuccessor() throws Exception {
        heldChainMeetsItsSuccessor(Kind.OURS, 3);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"OURS, 1", "STOCK, 2", "STOCK, 5"})
    void aHeldChainMeetsItsSuccessorEarlierOrLater(Kind whose, int successorsWrite)
            throws Exception {
        heldChainMeetsItsSuccessor(whose, successorsWrite);
    }

    private static void heldChainMeetsItsSuccessor(Kind whose, int successorsWrite)
            throws Exception {
        OnceRun.Plan plan = plan(whose, "chain-" + successorsWrite);
        List<OnceRun> run = new ArrayList<>();
        AtomicInteger writes = new AtomicInteger();
        List<Integer> answers = new CopyOnWriteArrayList<>();
        Fate hold =
                Fate.of(Fate.Kind.HOLD)
                        .and(
                                () -> {
                                    await().atMost(BothServers.PATIENCE)
                                            .until(() -> run.get(0).line(0).held() > 2);
                                    kill(run, true);
                                });
        Function<Request, Fate> fates =
                request -> {
                    int number = writes.incrementAndGet();
                    if (number == HELD_WRITE) {
                        return hold;
                    }
                    if (number == HELD_WRITE + successorsWrite) {
                        answers.addAll(run.get(0).line(0).release());
                    }
                    return Fate.PASS;
                };
        try (OnceRun opened = new OnceRun(plan, List.of(fates))) {
            run.add(opened);
            opened.start();
            opened.awaitDone();
            assertThat(opened.process(0).starts()).isEqualTo(2);
            assertThat(answers).hasSizeGreaterThan(2);
            assertThat(opened.violations()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void withoutFaultsAndWithSeveralClients(Kind whose) throws Exception {
        OnceRun.Plan plan =
                new OnceRun.Plan(
                        Writer.Way.ONCE,
                        servers.of(whose).connectString(),
                        "calm",
                        2,
                        300,
                        SEED,
                        64,
                        work.resolve("clients-" + whose));
        try (OnceRun run = new OnceRun(plan, List.of(any -> Fate.PASS, any -> Fate.PASS))) {
            run.start();
            run.awaitDone();
            assertThat(run.violations()).isEmpty();
        }
    }
}
