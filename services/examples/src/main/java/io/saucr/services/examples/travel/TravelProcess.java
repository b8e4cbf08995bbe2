package io.saucr.services.examples.travel;

import io.saucr.services.Client;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.examples.GroupMemberProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Runs the trips or a store as a member of a group, or books trips. */
public final class TravelProcess {

    /** The name of the service that books. */
    public static final String TRIPS = "trips";

    private static final String STORE = "store";
    private static final int MOST_STORES = 8;

    private static final String USAGE =
            "arguments: serve PLACE FOLDER GROUP STORES CAPACITY NAME | book PLACE FOLDER FIRST LAST\n"
                    + "  PLACE     as 127.0.0.1:2181/travel\n"
                    + "  FOLDER    the service, or the client, has one of its name in it\n"
                    + "  GROUP     path of the group, as /groups/travel\n"
                    + "  STORES    at how many each trip reserves, from 1 to "
                    + MOST_STORES
                    + "\n"
                    + "  CAPACITY  for how many trips each store has room\n"
                    + "  NAME      trips, store1, store2, ...\n"
                    + "  FIRST     books trip-FIRST to trip-LAST";

    private TravelProcess() {}

    /** Serves until it is killed, or books until each trip has its outcome. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 7 && arguments[0].equals("serve")) {
            serve(arguments);
        } else if (arguments.length == 5 && arguments[0].equals("book")) {
            book(
                    arguments[1],
                    Path.of(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    Integer.parseInt(arguments[4]));
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void serve(String[] arguments) throws Exception {
        String name = arguments[6];
        GroupMemberProcess.serve(
                arguments[1],
                arguments[2],
                arguments[3],
                name,
                constructor(name, Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5])));
    }

    private static void book(String place, Path folder, int first, int last) throws Exception {
        int booked = 0;
        try (Client client =
                Services.at(place + "/" + TRIPS).client("books", folder.resolve("books"))) {
            List<CompletableFuture<Trips.Outcome>> outcomes = new ArrayList<>();
            for (int trip = first; trip <= last; trip++) {
                outcomes.add(client.ask(new Trips.Book("trip-" + trip), Trips.Outcome.class));
            }
            for (CompletableFuture<Trips.Outcome> each : outcomes) {
                booked += each.join().isBooked() ? 1 : 0;
            }
        }
        System.out.println(booked + " of " + (last - first + 1) + " trips are booked");
    }

    /** The names of so many stores. */
    public static List<String> stores(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(it -> STORE + it).toList();
    }

    /**
     * The service of a name.
     *
     * @param stores at how many a trip reserves, from 1 to 8
     * @param capacity of each store
     * @throws IllegalArgumentException where there cannot be so many, or no such service
     */
    public static Function<State, Service> constructor(String name, int stores, int capacity) {
        if (stores < 1 || stores > MOST_STORES) {
            throw new IllegalArgumentException(
                    "a trip reserves at 1 to " + MOST_STORES + " stores, not " + stores);
        }
        if (name.equals(TRIPS)) {
            return state -> new Trips(state, stores(stores));
        }
        if (!stores(stores).contains(name)) {
            throw new IllegalArgumentException(
                    "the services are " + TRIPS + " and " + stores(stores) + ", not " + name);
        }
        return state -> new Store(state, capacity);
    }
}
