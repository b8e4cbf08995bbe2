package io.saucr.services.examples.mapreduce;

import io.saucr.services.Client;
import java.util.Map;

/** The tasks of a {@link Coordinator}, wherever it runs now. */
public final class CoordinatorTasks implements Tasks {

    private final Client client;

    /** Asks by this client. */
    public CoordinatorTasks(Client client) {
        this.client = client;
    }

    @Override
    public Work next() {
        return client.ask(new Coordinator.Next(), Work.class).join();
    }

    @Override
    public void done(int task, Map<String, Long> counts) {
        Coordinator.Noted unused =
                client.ask(new Coordinator.Done(task, counts), Coordinator.Noted.class).join();
    }
}
