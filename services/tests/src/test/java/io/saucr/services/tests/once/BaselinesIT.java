package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.tests.once.BothServers.Kind;
import io.saucr.services.tests.once.Step.Create;
import io.saucr.services.tests.once.Step.CreateSequential;
import io.saucr.services.tests.once.Step.Multi;
import io.saucr.services.tests.once.Step.SetData;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the rig says of clients that are used today: nothing while nothing goes wrong, and each
 * violation that a fault makes certain, on Apache's servers and on ours. So it would say the same
 * of the once client.
 */
class BaselinesIT {
    private static final long SEED = 4;
    private static final int OPERATIONS = 90;

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

    /** One client with one operation under way, so that a fault meets no other. */
    private static OnceRun.Plan plan(Kind whose, Writer.Way way, String name) throws IOException {
        return plan(whose, way, name, 1, OPERATIONS, 1);
    }

    private static OnceRun.Plan plan(
            Kind whose, Writer.Way way, String name, int clients, int operations, int depth)
            throws IOException {
        return new OnceRun.Plan(
                way,
                servers.of(whose).connectString(),
                name,
                clients,
                operations,
                SEED,
                depth,
                work.resolve("clients-" + whose));
    }

    private static List<Function<Request, Fate>> noFaults(int clients) {
        return IntStream.range(0, clients)
                .<Function<Request, Fate>>mapToObj(client -> request -> Fate.PASS)
                .toList();
    }

    /** The data of the first step of this kind of client 0 stands in no other step. */
    private static String dataOf(OnceRun.Plan plan, Predicate<Step> kind) {
        Step step = plan.workload().steps().get(0).stream().filter(kind).findFirst().orElseThrow();
        if (step instanceof Create create) {
            return create.data();
        } else if (step instanceof CreateSequential create) {
            return create.data();
        } else if (step instanceof SetData set) {
            return set.data();
        }
        Multi multi = (Multi) step;
        return dataOf(multi.parts().get(1));
    }

    private static String dataOf(Step part) {
        return ((SetData) part).data();
    }

    /** Such as "0:7", as jute writes it: behind its length. */
    private static Predicate<Request> holding(String data) {
        return request -> request.contains("\0\0\0" + (char) data.length() + data);
    }

    private static List<String> run(OnceRun.Plan plan, Fate fate, String data) throws Exception {
        Script script = new Script().on(holding(data), fate);
        try (OnceRun run = new OnceRun(plan, List.of(script))) {
            run.start();
            run.awaitDone();
            assertThat(script.left()).isZero();
            return run.violations();
        }
    }

    @ParameterizedTest
    @CsvSource({"STOCK, PLAIN", "OURS, CURATOR"})
    void withoutFaultsThereIsNoViolation(Kind whose, Writer.Way way) throws Exception {
        OnceRun.Plan plan = plan(whose, way, "calm-" + way, 2, 300, 16);
        try (OnceRun run = new OnceRun(plan, noFaults(2))) {
            run.start();
            run.awaitDone();
            assertThat(run.violations()).isEmpty();
        }
    }

    @Test
    void plainRetriesCreateTwice() throws Exception {
        plainRetriesCreateTwice(Kind.OURS);
    }

    @Tag("long")
    @Test
    void plainRetriesCreateTwiceOnApachesServers() throws Exception {
        plainRetriesCreateTwice(Kind.STOCK);
    }

    private static void plainRetriesCreateTwice(Kind whose) throws Exception {
        OnceRun.Plan plan = plan(whose, Writer.Way.PLAIN, "twice");
        String data = dataOf(plan, CreateSequential.class::isInstance);
        assertThat(run(plan, Fate.of(Fate.Kind.CUT_AFTER), data))
                .anyMatch(each -> each.contains("queue") && each.contains(data));
    }

    @Test
    void curatorTellsOfAMultiThatHappenedThatItDidNot() throws Exception {
        curatorTellsOfAMultiThatHappenedThatItDidNot(Kind.OURS);
    }

    @Tag("long")
    @Test
    void curatorTellsOfAMultiThatHappenedThatItDidNotOnApachesServers() throws Exception {
        curatorTellsOfAMultiThatHappenedThatItDidNot(Kind.STOCK);
    }

    private static void curatorTellsOfAMultiThatHappenedThatItDidNot(Kind whose) throws Exception {
        OnceRun.Plan plan = plan(whose, Writer.Way.CURATOR, "denied");
        String data = dataOf(plan, BaselinesIT::isMultiThatHappens);
        assertThat(run(plan, Fate.of(Fate.Kind.CUT_AFTER), data))
                .singleElement()
                .asString()
                .contains("told BADVERSION, expected DONE");
    }

    private static boolean isMultiThatHappens(Step step) {
        return step instanceof Multi multi && multi.parts().get(1) instanceof SetData;
    }

    @Test
    void curatorSetsTwiceWhatHasNoVersion() throws Exception {
        curatorSetsTwiceWhatHasNoVersion(Kind.OURS);
    }

    @Tag("long")
    @Test
    void curatorSetsTwiceWhatHasNoVersionOnApachesServers() throws Exception {
        curatorSetsTwiceWhatHasNoVersion(Kind.STOCK);
    }

    private static void curatorSetsTwiceWhatHasNoVersion(Kind whose) throws Exception {
        OnceRun.Plan plan = plan(whose, Writer.Way.CURATOR, "set-twice");
        String data = dataOf(plan, step -> step instanceof SetData set && set.version() == -1);
        assertThat(run(plan, Fate.of(Fate.Kind.CUT_AFTER), data))
                .singleElement()
                .asString()
                .contains("the shared counter is");
    }

    @Test
    void theSuccessorOfAKilledClientCreatesTwice() throws Exception {
        theSuccessorOfAKilledClientCreatesTwice(Kind.OURS, Writer.Way.PLAIN);
    }

    @Tag("long")
    @Test
    void theSuccessorOfAKilledClientCreatesTwiceOnApachesServers() throws Exception {
        theSuccessorOfAKilledClientCreatesTwice(Kind.STOCK, Writer.Way.CURATOR);
    }

    private static void theSuccessorOfAKilledClientCreatesTwice(Kind whose, Writer.Way way)
            throws Exception {
        OnceRun.Plan plan = plan(whose, way, "killed-" + way);
        String data = dataOf(plan, CreateSequential.class::isInstance);
        OnceRun[] run = new OnceRun[1];
        Script script =
                new Script()
                        .on(
                                holding(data),
                                Fate.of(Fate.Kind.CUT_AFTER).and(() -> run[0].process(0).kill()));
        try (OnceRun opened = new OnceRun(plan, List.of(script))) {
            run[0] = opened;
            opened.start();
            opened.awaitDone();
            assertThat(opened.process(0).starts()).isEqualTo(2);
            assertThat(opened.violations())
                    .anyMatch(each -> each.contains("queue") && each.contains(data));
        }
    }

    @Test
    void aRequestThatWasHeldTakesEffectBesideThatOfTheSuccessor() throws Exception {
        aRequestThatWasHeldTakesEffectBesideThatOfTheSuccessor(Kind.OURS, Writer.Way.CURATOR);
    }

    @Tag("long")
    @Test
    void aRequestThatWasHeldTakesEffectBesideThatOfTheSuccessorOnApachesServers() throws Exception {
        aRequestThatWasHeldTakesEffectBesideThatOfTheSuccessor(Kind.STOCK, Writer.Way.PLAIN);
    }

    private static void aRequestThatWasHeldTakesEffectBesideThatOfTheSuccessor(
            Kind whose, Writer.Way way) throws Exception {
        OnceRun.Plan plan = plan(whose, way, "held-" + way);
        String data = dataOf(plan, CreateSequential.class::isInstance);
        OnceRun[] run = new OnceRun[1];
        Script script =
                new Script()
                        .on(
                                holding(data),
                                Fate.of(Fate.Kind.HOLD).and(() -> run[0].process(0).kill()));
        try (OnceRun opened = new OnceRun(plan, List.of(script))) {
            run[0] = opened;
            opened.start();
            opened.awaitDone();
            assertThat(opened.violations()).isEmpty();
            assertThat(opened.line(0).release()).contains(0);
            assertThat(opened.violations())
                    .anyMatch(each -> each.contains("queue") && each.contains(data));
        }
    }

    /** Each that ends something, on either kind of servers by turns. */
    static Stream<Arguments> fates() {
        Fate.Kind[] kinds = Fate.Kind.values();
        return IntStream.range(0, kinds.length)
                .filter(i -> kinds[i] != Fate.Kind.PASS && kinds[i] != Fate.Kind.HOLD)
                .mapToObj(i -> Arguments.of(i % 2 == 0 ? Kind.STOCK : Kind.OURS, kinds[i]));
    }

    /** By the way that is wrong in every one of them in which the server gets the request. */
    @ParameterizedTest
    @MethodSource("fates")
    void eachFateIsWhatItSays(Kind whose, Fate.Kind kind) throws Exception {
        OnceRun.Plan plan = plan(whose, Writer.Way.PLAIN, "fate-" + kind);
        String data = dataOf(plan, CreateSequential.class::isInstance);
        List<String> violations = run(plan, Fate.of(kind), data);
        switch (kind) {
            case CUT_BEFORE, CUT_WITHIN, EXPIRE_BEFORE -> assertThat(violations).isEmpty();
            default ->
                    assertThat(violations)
                            .anyMatch(each -> each.contains("queue") && each.contains(data));
        }
    }
}
