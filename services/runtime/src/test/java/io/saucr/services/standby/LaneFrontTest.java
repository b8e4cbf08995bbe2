package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Query;
import io.saucr.services.Services;
import io.saucr.services.core.replay.DivergedException;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneSnapshot;
import io.saucr.services.replay.LaneState;
import io.saucr.services.replay.ReplayedLanes;
import io.saucr.services.turns.Place;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of a primary without ensemble and disk. */
@Timeout(60)
class LaneFrontTest {

    record Answer(long number) {}

    record Works() implements Query<Answer> {}

    record Fails() implements Query<Answer> {}

    static LaneService service(LaneState state) {
        return on -> {
            on.query(Works.class, query -> new Answer(1));
            on.query(
                    Fails.class,
                    query -> {
                        throw new AssertionError("no such thing");
                    });
        };
    }

    private static ReplayedLanes primary(Function<LaneState, LaneService> constructor)
            throws Exception {
        ReplayedLanes lanes =
                new ReplayedLanes(
                        "tickets",
                        1,
                        state -> LaneHandlers.of(constructor.apply(state)).inLanes(),
                        new ReplayedLanes.Listener() {
                            @Override
                            public void changed() {
                                // The test cuts.
                            }

                            @Override
                            public void quiet(LaneSnapshot snapshot) {
                                throw new AssertionError("nobody asked for a snapshot");
                            }

                            @Override
                            public void ran(long nanos, boolean threw) {
                                throw new AssertionError("nobody asked for anything");
                            }

                            @Override
                            public void becameFinal(long nanos) {
                                throw new AssertionError("nobody asked for anything");
                            }

                            @Override
                            public void diverged(DivergedException e) {
                                throw new AssertionError(e);
                            }

                            @Override
                            public void failed(Throwable cause) {
                                throw new AssertionError(cause);
                            }
                        },
                        Optional.empty());
        lanes.takeOver(ReplayedLanes.MOST_ATTEMPTS);
        assertThat(lanes.cut()).isPresent();
        lanes.named();
        return lanes;
    }

    @Test
    void aQueryWhoseHandlerThrowsAnErrorIsRefusedAndCountsNoMore() throws Exception {
        ReplayedLanes lanes = primary(LaneFrontTest::service);
        Address local = new Address("127.0.0.1", 0);
        Place place = Place.at("127.0.0.1:1/apps/tickets", Optional.empty()).withListen(local);
        LaneHandlers handlers = LaneHandlers.check(1, LaneFrontTest::service);
        try (LaneFront front =
                        new LaneFront(
                                place,
                                lanes,
                                handlers,
                                () -> CompletableFuture.completedFuture(null),
                                new Random(1));
                Client client =
                        Services.without("tickets", Map.of("tickets", front.address())).client()) {
            assertThat(client.ask(new Works()).get(30, SECONDS)).isEqualTo(new Answer(1));
            assertThatThrownBy(() -> client.ask(new Fails()).get(30, SECONDS))
                    .hasMessageContaining("its handler failed: ")
                    .hasMessageContaining("no such thing");
            assertThat(client.ask(new Works()).get(30, SECONDS)).isEqualTo(new Answer(1));
            await().until(() -> front.querying() == 0);
        } finally {
            assertThat(lanes.close(Duration.ofSeconds(30))).isTrue();
        }
    }
}
