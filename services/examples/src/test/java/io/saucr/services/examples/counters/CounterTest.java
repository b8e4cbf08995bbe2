package io.saucr.services.examples.counters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.ServiceException;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Pairs that count, crashed anywhere. */
class CounterTest {

    private static TestService service(TestWorld world, String name) {
        return world.service(name, CountersProcess.constructor(name));
    }

    private static Counter.Progress progress(TestService counter) {
        return counter.query(new Counter.Ask(), Counter.Progress.class);
    }

    @Test
    void itCountsAndGoesOn() {
        TestWorld world = new TestWorld(1);
        TestService ping = service(world, "ping0");
        TestService pong = service(world, "pong0");
        Client client = world.client("client", "ping0");
        long twos = 0;
        for (long upTo : new long[] {1, 2, 5, 5, 4, 10}) {
            Counter.Reached reached =
                    world.await(client.ask(new Counter.Count(upTo), Counter.Reached.class));
            twos = Math.max(twos, upTo);
            assertThat(reached).isEqualTo(new Counter.Reached(twos));
            world.run();
        }
        assertThat(progress(ping).number()).isEqualTo(10);
        assertThat(progress(pong).number()).isEqualTo(10);
        assertThat(progress(ping).added() + progress(pong).added()).isEqualTo(10);
        assertThat(progress(ping).wrong() + progress(pong).wrong()).isZero();
    }

    @Test
    void eachNumberIsPassedOnceWhereverItCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        11,
                        world -> {
                            TestService ping = service(world, "ping0");
                            TestService pong = service(world, "pong0");
                            CompletableFuture<Counter.Reached> reached =
                                    world.client("client", "ping0")
                                            .ask(new Counter.Count(7), Counter.Reached.class);
                            world.run();
                            assertThat(reached).isCompletedWithValue(new Counter.Reached(7));
                            assertThat(progress(ping)).isEqualTo(new Counter.Progress(7, 4, 0));
                            assertThat(progress(pong)).isEqualTo(new Counter.Progress(7, 3, 0));
                        });
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void whoCannotCountSaysSo() {
        TestWorld world = new TestWorld(2);
        TestService ping = service(world, "ping0");
        Client first = world.client("first", "ping0");
        CompletableFuture<Counter.Reached> waits =
                first.ask(new Counter.Count(5), Counter.Reached.class);
        CompletableFuture<Counter.Reached> second =
                first.ask(new Counter.Count(9), Counter.Reached.class);
        assertThatThrownBy(() -> world.await(second))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("Refused");
        assertThat(waits).isNotDone();
        TestService pong = service(world, "pong0");
        CompletableFuture<Counter.Reached> third =
                world.client("third", "pong0").ask(new Counter.Count(9), Counter.Reached.class);
        assertThatThrownBy(() -> world.await(third)).hasMessageContaining("Refused");
        assertThat(world.await(waits)).isEqualTo(new Counter.Reached(5));
        assertThat(progress(ping).added()).isEqualTo(3);
        assertThat(progress(pong).added()).isEqualTo(2);
        assertThatThrownBy(() -> new Counter.Count(0)).hasMessageContaining("not 0");
        assertThatThrownBy(() -> CountersProcess.constructor("pang0"))
                .hasMessageContaining("pang0");
    }
}
