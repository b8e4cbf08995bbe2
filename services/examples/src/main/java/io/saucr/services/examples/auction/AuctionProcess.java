package io.saucr.services.examples.auction;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.journal.ForceMode;
import java.nio.file.Path;
import java.util.function.Function;

/** One of the two services as a process of its own. */
public final class AuctionProcess {

    static final String HOUSE = "house";
    static final String BANK = "bank";

    private AuctionProcess() {}

    /**
     * Runs until it is killed.
     *
     * @param arguments which, the place as for {@link Services#at} without the name, the folder
     *     above its own
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        RunningService running =
                Services.at(arguments[1] + "/" + name)
                        .folder(Path.of(arguments[2], name))
                        .listen(new Address("127.0.0.1", 0))
                        .segmentBytes(4 << 20)
                        .foldBytes(1 << 20)
                        .onHalt(Halt.process())
                        .run(constructor(name), Protection.local().force(ForceMode.always()));
        running.join();
    }

    static Function<State, Service> constructor(String name) {
        return name.equals(BANK) ? Bank::new : state -> new AuctionHouse(state, BANK);
    }
}
