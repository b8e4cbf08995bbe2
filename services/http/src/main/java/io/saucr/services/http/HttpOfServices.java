package io.saucr.services.http;

import io.saucr.services.Address;
import io.saucr.services.RunningService;
import io.saucr.services.status.StatusPage;
import io.saucr.services.turns.Http;
import java.io.IOException;
import java.time.Duration;

/** What services find where this artifact is on their class path. */
public final class HttpOfServices implements Http {

    /** For {@link java.util.ServiceLoader}. */
    public HttpOfServices() {}

    @Override
    public Served endpoint(
            String service, Address at, int largestBytes, Duration patience, Requests requests)
            throws IOException {
        return new HttpDoor(service, at, largestBytes, patience, requests);
    }

    @Override
    public Served page(RunningService service, Address at) throws IOException {
        return new StatusPage(service, at);
    }
}
