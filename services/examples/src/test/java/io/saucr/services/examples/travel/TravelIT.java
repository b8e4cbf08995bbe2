package io.saucr.services.examples.travel;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.examples.GroupProcesses;
import io.saucr.services.examples.auction.Killed;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A group of real processes that books trips while they are killed by SIGKILL. */
class TravelIT {

    private static final int STORES = 3;
    private static final int CAPACITY = 60;
    private static final int TRIPS = 90;

    @TempDir private Path work;

    private static void start(GroupProcesses group) throws Exception {
        List<String> names = new ArrayList<>(TravelProcess.stores(STORES));
        names.add(TravelProcess.TRIPS);
        for (String name : names) {
            group.start(
                    name,
                    TravelProcess.class,
                    "serve",
                    group.place(),
                    group.folder(),
                    "/groups/travel",
                    Integer.toString(STORES),
                    Integer.toString(CAPACITY),
                    name);
        }
    }

    @Test
    void eachTripIsReservedEverywhereOrNowhereThoughServicesAreKilled() throws Exception {
        try (GroupProcesses group = new GroupProcesses(work)) {
            start(group);
            Client client = group.client(TravelProcess.TRIPS);
            List<CompletableFuture<Trips.Outcome>> outcomes = new ArrayList<>();
            for (int trip = 0; trip < TRIPS; trip++) {
                outcomes.add(client.ask(new Trips.Book("trip-" + trip), Trips.Outcome.class));
                if (trip == TRIPS / 4) {
                    GroupProcesses.waitFor(outcomes.get(0)::isDone);
                    group.of("store2").killAndStart();
                } else if (trip == TRIPS / 2) {
                    GroupProcesses.waitFor(outcomes.get(trip - 5)::isDone);
                    group.of(TravelProcess.TRIPS).killAndStart();
                } else if (trip == 3 * TRIPS / 4) {
                    GroupProcesses.waitFor(outcomes.get(trip - 5)::isDone);
                    group.killAllAtOnce();
                }
            }
            int booked = 0;
            for (CompletableFuture<Trips.Outcome> each : outcomes) {
                Trips.Outcome outcome = each.get(2, TimeUnit.MINUTES);
                int times = outcome.isBooked() ? 1 : 0;
                booked += times;
                for (String store : TravelProcess.stores(STORES)) {
                    Store.Ask ask = new Store.Ask(outcome.trip());
                    assertThat(group.answer(store, ask, Store.Trip.class).times())
                            .as("%s at %s", outcome, store)
                            .isEqualTo(times);
                }
            }
            assertThat(booked).isEqualTo(CAPACITY);
            assertThat(group.answer(TravelProcess.TRIPS, new Trips.Ask(), Trips.Count.class))
                    .isEqualTo(new Trips.Count(0, CAPACITY, TRIPS - CAPACITY));
            assertThat(group.all()).extracting(Killed::kills).containsExactly(1, 2, 1, 2);
        }
    }
}
