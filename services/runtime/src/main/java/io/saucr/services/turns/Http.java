package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.RunningService;
import io.saucr.services.core.Body;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * HTTP of services, in an artifact of its own, {@code saucr-services-http}, which is found on the
 * class path. Any thread.
 */
public interface Http {

    /** What is served until it is closed. */
    interface Served extends AutoCloseable {

        /** Where it listens. */
        Address address();

        @Override
        void close();
    }

    /** Where requests go. Any thread. */
    interface Requests {

        /** The class of messages and queries of a type; empty where no handler takes it. */
        Optional<Class<?>> type(String name);

        /** Whether clients may send this type. */
        boolean allows(String type);

        /**
         * A message as it travels.
         *
         * @throws IllegalArgumentException where it cannot
         */
        Body encode(Object message);

        /** Takes a request to its turn; where that is not possible any more, nothing happens. */
        void request(DoorRequest request);

        /** Nobody waits for that request any longer; it gets an outcome, if it has none. */
        void giveUp(long id);
    }

    /**
     * Takes messages and queries of clients that speak HTTP.
     *
     * @param service its name
     * @param at where; port 0 lets the system choose
     * @param largestBytes of a request's body
     * @param patience so long a caller waits for an answer
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    Served endpoint(
            String service, Address at, int largestBytes, Duration patience, Requests requests)
            throws IOException;

    /**
     * Serves the status page of a service.
     *
     * @param at where; port 0 lets the system choose
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    Served page(RunningService service, Address at) throws IOException;

    /**
     * The one of this class path.
     *
     * @throws IllegalStateException where there is none; says which artifact is missing
     */
    static Http found() {
        return ServiceLoader.load(Http.class, Http.class.getClassLoader())
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        "HTTP and the status page need the artifact"
                                                + " io.saucr:saucr-services-http: add it to the"
                                                + " dependencies"));
    }
}
