package io.saucr.services.examples.lanes;

import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Runs a member of a service with lanes as a process of its own, or asks such a service. */
public final class LanesProcess {

    private static final String USAGE =
            "arguments: serve locks|thumbnails PLACE FOLDER LANES | ask locks|thumbnails PLACE COUNT\n"
                    + "  PLACE   as 127.0.0.1:2181/locks\n"
                    + "  FOLDER  of this member\n"
                    + "  LANES   handlers that run at the same time, 1 to 64; the same for all members\n"
                    + "  COUNT   requests";

    /** Changes with what the handlers do. */
    private static final String CODE = "1";

    private static final int SIDE = 512;
    private static final long LEASE_MILLIS = 10_000;

    private LanesProcess() {}

    /** Serves until it is killed, or asks that often. */
    public static void main(String[] arguments) throws Exception {
        boolean known =
                arguments.length > 1 && List.of("locks", "thumbnails").contains(arguments[1]);
        if (known && arguments.length == 5 && arguments[0].equals("serve")) {
            serve(
                    arguments[1].equals("locks") ? LockServer::new : Thumbnails::new,
                    arguments[2],
                    Path.of(arguments[3]),
                    Integer.parseInt(arguments[4]));
        } else if (known && arguments.length == 4 && arguments[0].equals("ask")) {
            int count = Integer.parseInt(arguments[3]);
            try (Client client = Services.at(arguments[2]).client()) {
                if (arguments[1].equals("locks")) {
                    askLocks(client, count);
                } else {
                    askThumbnails(client, count);
                }
            }
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void serve(
            Function<LaneState, LaneService> service, String place, Path folder, int lanes)
            throws Exception {
        RunningService running =
                Services.at(place)
                        .folder(folder)
                        .listen(new Address("127.0.0.1", 0))
                        .onHalt(Halt.process())
                        .run(service, Protection.replay(lanes, CODE));
        System.out.println(running.name() + " runs");
        running.join();
    }

    private static void askLocks(Client client, int count) throws Exception {
        List<CompletableFuture<LockServer.Lease>> leases = new ArrayList<>();
        for (int each = 0; each < count; each++) {
            leases.add(
                    client.ask(
                            new LockServer.Acquire(
                                    "name " + each % 10, "owner " + each, LEASE_MILLIS)));
        }
        int granted = 0;
        for (int each = 0; each < count; each++) {
            granted += leases.get(each).get().owner().equals("owner " + each) ? 1 : 0;
        }
        System.out.println(granted + " of " + count + " requests got a lease");
    }

    private static void askThumbnails(Client client, int count) throws Exception {
        byte[] pixels = new byte[SIDE * SIDE];
        new Random(1).nextBytes(pixels);
        List<CompletableFuture<Thumbnails.Image>> images = new ArrayList<>();
        for (int each = 0; each < count; each++) {
            images.add(
                    client.ask(
                            new Thumbnails.Render("image " + each, SIDE, SIDE, Bytes.of(pixels))));
        }
        for (CompletableFuture<Thumbnails.Image> image : images) {
            image.get();
        }
        Thumbnails.Totals totals = client.ask(new Thumbnails.Count()).get();
        System.out.println(totals.images() + " thumbnails of " + totals.bytes() + " bytes");
    }
}
