package io.saucr.services.examples.travel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Trips and stores, also crashed anywhere. */
class TripsTest {

    private static TestService service(TestWorld world, String name, int stores, int capacity) {
        return world.service(name, TravelProcess.constructor(name, stores, capacity));
    }

    private static CompletableFuture<Trips.Outcome> book(Client client, String trip) {
        return client.ask(new Trips.Book(trip), Trips.Outcome.class);
    }

    private static Store.Trip reserved(TestService store, String trip) {
        return store.query(new Store.Ask(trip), Store.Trip.class);
    }

    @Test
    void aTripIsBookedAtAllStoresOrAtNone() {
        TestWorld world = new TestWorld(1);
        TestService trips = service(world, "trips", 3, 0);
        List<TestService> stores = new ArrayList<>();
        for (int store = 1; store <= 3; store++) {
            // The last one has room for one trip alone.
            stores.add(service(world, "store" + store, 3, store == 3 ? 1 : 5));
        }
        Client client = world.client("client", "trips");
        assertThat(world.await(book(client, "rome"))).isEqualTo(new Trips.Outcome("rome", ""));
        Trips.Outcome refused = new Trips.Outcome("oslo", "store3 is sold out");
        assertThat(world.await(book(client, "oslo"))).isEqualTo(refused);
        world.run();
        for (TestService each : stores) {
            assertThat(reserved(each, "rome")).isEqualTo(new Store.Trip(1, 1));
            assertThat(reserved(each, "oslo")).isEqualTo(new Store.Trip(0, 1));
        }
        // The outcome stays.
        assertThat(world.await(book(client, "rome")).isBooked()).isTrue();
        assertThat(world.await(book(client, "oslo"))).isEqualTo(refused);
        assertThat(trips.query(new Trips.Ask(), Trips.Count.class))
                .isEqualTo(new Trips.Count(0, 1, 1));
    }

    @Test
    void aTripThatIsUnderWayIsNotBegunAgain() {
        TestWorld world = new TestWorld(2);
        service(world, "trips", 1, 0);
        CompletableFuture<Trips.Outcome> first = book(world.client("ann", "trips"), "rome");
        CompletableFuture<Trips.Outcome> second = book(world.client("bob", "trips"), "rome");
        world.run();
        assertThat(first.isDone()).isNotEqualTo(second.isDone());
        TestService store = service(world, "store1", 1, 5);
        List<Trips.Outcome> both = List.of(world.await(first), world.await(second));
        assertThat(both).filteredOn(Trips.Outcome::isBooked).hasSize(1);
        assertThat(both).extracting(Trips.Outcome::refusal).contains("another client books it");
        assertThat(reserved(store, "rome")).isEqualTo(new Store.Trip(1, 1));
    }

    @Test
    void noReservationIsLostOrLeftWhereverAServiceCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        7,
                        world -> {
                            TestService trips = service(world, "trips", 2, 0);
                            TestService first = service(world, "store1", 2, 5);
                            TestService second = service(world, "store2", 2, 1);
                            Client client = world.client("client", "trips");
                            CompletableFuture<Trips.Outcome> rome = book(client, "rome");
                            CompletableFuture<Trips.Outcome> oslo = book(client, "oslo");
                            world.run();
                            assertThat(rome.join().isBooked()).isTrue();
                            assertThat(oslo.join().isBooked()).isFalse();
                            for (TestService each : List.of(first, second)) {
                                assertThat(reserved(each, "rome")).isEqualTo(new Store.Trip(1, 1));
                                assertThat(reserved(each, "oslo")).isEqualTo(new Store.Trip(0, 1));
                            }
                            assertThat(trips.query(new Trips.Ask(), Trips.Count.class))
                                    .isEqualTo(new Trips.Count(0, 1, 1));
                        });
        assertThat(crashes).isGreaterThan(50);
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThatThrownBy(() -> TravelProcess.constructor("trips", 9, 1))
                .hasMessage("a trip reserves at 1 to 8 stores, not 9");
        assertThatThrownBy(() -> TravelProcess.constructor("store3", 2, 1))
                .hasMessage("the services are trips and [store1, store2], not store3");
        TestWorld world = new TestWorld(3);
        assertThatThrownBy(() -> service(world, "store1", 1, -1))
                .hasMessageContaining("room for 0 trips or more, not -1");
    }
}
