package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the judge accepts, and that it notices what exactly once does not allow. */
class JudgeTest {
    private static final int CLIENTS = 3;
    private static final int EACH = 200;
    private static final Workload WORKLOAD = Workload.seeded(CLIENTS, EACH, 12);

    /** A run, taken in turns by the clients. */
    private static final class Run {
        final Tree tree = Workload.ground(CLIENTS);
        final List<List<Told>> told = new ArrayList<>();

        Run() {
            for (int client = 0; client < CLIENTS; client++) {
                told.add(new ArrayList<>(Collections.nCopies(EACH, null)));
            }
        }

        void take(int client, int number) {
            told.get(client).set(number, tree.apply(WORKLOAD.steps().get(client).get(number)));
        }

        List<String> violations() {
            return Judge.violations(WORKLOAD, tree, told);
        }
    }

    private static Run exactlyOnce() {
        Run run = new Run();
        for (int number = 0; number < EACH; number++) {
            for (int client = 0; client < CLIENTS; client++) {
                run.take(client, number);
            }
        }
        return run;
    }

    private static int first(int client, Class<? extends Step> kind) {
        List<Step> steps = WORKLOAD.steps().get(client);
        for (int number = 0; number < EACH; number++) {
            if (kind.isInstance(steps.get(number))) {
                return number;
            }
        }
        throw new IllegalStateException("no " + kind);
    }

    @Test
    void exactlyOnceInAnyMixOfTheClientsIsRight() {
        assertThat(exactlyOnce().violations()).isEmpty();
        Run oneAfterTheOther = new Run();
        for (int client = CLIENTS - 1; client >= 0; client--) {
            for (int number = 0; number < EACH; number++) {
                oneAfterTheOther.take(client, number);
            }
        }
        assertThat(oneAfterTheOther.violations()).isEmpty();
    }

    @Test
    void theWorkloadHasEveryKindOfStepAndOfOutcome() {
        Run run = exactlyOnce();
        for (int client = 0; client < CLIENTS; client++) {
            assertThat(first(client, Step.Create.class)).isNotNegative();
            assertThat(first(client, Step.CreateSequential.class)).isNotNegative();
            assertThat(first(client, Step.SetData.class)).isNotNegative();
            assertThat(first(client, Step.Delete.class)).isNotNegative();
            assertThat(first(client, Step.Multi.class)).isNotNegative();
            assertThat(run.told.get(client))
                    .extracting(Told::word)
                    .contains(Told.DONE, Code.BADVERSION.name(), Code.NONODE.name());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/c1/queue/q-",
                Workload.SHARED_QUEUE + "/q-",
            })
    void aChildTooMany(String prefix) {
        Run run = exactlyOnce();
        String data = run.tree.node(run.tree.children(Workload.queue(1)).get(0)).data();
        run.tree.apply(new Step.CreateSequential(prefix, data));
        assertThat(run.violations()).isNotEmpty();
    }

    @Test
    void aWriteTooMany() {
        for (String path : List.of(Workload.counter(2), Workload.SHARED_COUNTER)) {
            Run run = exactlyOnce();
            run.tree.apply(new Step.SetData(path, run.tree.node(path).data(), -1));
            assertThat(run.violations()).singleElement().asString().contains("counter");
        }
    }

    @Test
    void aNodeThatCameAgainAndWent() {
        Run run = exactlyOnce();
        run.tree.apply(new Step.Create("/c0/n-again", ""));
        run.tree.apply(new Step.Delete("/c0/n-again", -1));
        assertThat(run.violations()).singleElement().asString().startsWith("/c0 is");
    }

    @Test
    void eachStepThatIsLeftOut() {
        for (int left = 0; left < EACH; left++) {
            Run run = new Run();
            for (int number = 0; number < EACH; number++) {
                for (int client = 0; client < CLIENTS; client++) {
                    if (client == 0 && number == left) {
                        Tree expected = exactlyOnceUpTo(left);
                        run.told
                                .get(0)
                                .set(left, expected.apply(WORKLOAD.steps().get(0).get(left)));
                    } else {
                        run.take(client, number);
                    }
                }
            }
            Told told = run.told.get(0).get(left);
            assertThat(run.violations().isEmpty())
                    .as("operation " + left)
                    .isEqualTo(!told.isDone());
        }
    }

    private static Tree exactlyOnceUpTo(int number) {
        Tree tree = Workload.ground(CLIENTS);
        WORKLOAD.steps().get(0).subList(0, number).forEach(tree::apply);
        return tree;
    }

    private static int firstThatStays() {
        Tree after = exactlyOnce().tree;
        for (int number = 0; number < EACH; number++) {
            if (after.node(Workload.home(0) + "/n" + number) != null
                    && WORKLOAD.steps().get(0).get(number) instanceof Step.Create) {
                return number;
            }
        }
        throw new IllegalStateException("none stays");
    }

    @Test
    void theOrderOfOneClient() {
        Run run = new Run();
        int late = firstThatStays();
        for (int client = 0; client < CLIENTS; client++) {
            for (int number = 0; number < EACH; number++) {
                if (client != 0 || number != late) {
                    run.take(client, number);
                }
            }
        }
        run.take(0, late);
        assertThat(run.violations()).anyMatch(each -> each.contains("came before 0:" + late));
    }

    @Test
    void whatWasToldWronglyOrNotAtAll() {
        int number = first(1, Step.CreateSequential.class);
        for (Told told :
                new Told[] {
                    null, Told.done(), Told.refused(Code.NODEEXISTS), Told.created("/c1/queue/q-x")
                }) {
            Run run = exactlyOnce();
            run.told.get(1).set(number, told);
            assertThat(run.violations()).singleElement().asString().contains("told");
        }
    }
}
