package io.saucr.services.examples.product;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.examples.Survives;
import java.io.IOException;
import java.nio.file.Path;

/** Runs a product as a process of its own, or asks for one. */
public final class ProductProcess {

    private static final String USAGE =
            "arguments: serve PROTECTION PLACE FOLDER SIZE SEED | multiply PLACE | plain SIZE SEED\n"
                    + "  PROTECTION  local, or standby with the same line for each member\n"
                    + "  PLACE       as 127.0.0.1:2181/product\n"
                    + "  FOLDER      of the service, each member its own\n"
                    + "  SIZE        of the matrices, as 1500, the same for each member\n"
                    + "  SEED        any number";

    private ProductProcess() {}

    /** Serves until it is killed, or multiplies once. */
    public static void main(String[] arguments) throws Exception {
        String what = arguments.length == 0 ? "" : arguments[0];
        if (what.equals("serve") && arguments.length == 6) {
            String place = arguments[2];
            String name = place.substring(place.lastIndexOf('/') + 1);
            int size = Integer.parseInt(arguments[4]);
            long seed = Long.parseLong(arguments[5]);
            Survives.serve(
                    arguments[1],
                    place,
                    Path.of(arguments[3]),
                    state -> new Product(state, name, size, seed));
        } else if (what.equals("multiply") && arguments.length == 2) {
            multiply(arguments[1]);
        } else if (what.equals("plain") && arguments.length == 3) {
            System.out.println(
                    new PlainProduct(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]))
                            .multiply());
        } else {
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private static void multiply(String place) throws IOException {
        try (Client client = Services.at(place).client("multiplies")) {
            System.out.println(client.ask(new Product.Multiply(), Product.Sum.class).join().sum());
        }
    }
}
