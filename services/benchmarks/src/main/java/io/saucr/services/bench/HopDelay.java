package io.saucr.services.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jgroups.Message;
import org.jgroups.annotations.Property;
import org.jgroups.conf.AttributeType;
import org.jgroups.stack.Protocol;
import org.jgroups.util.MessageBatch;

/**
 * A protocol of JGroups that lies above its transport and lets each message arrive later, without
 * holding up others: what {@link Relay} is for services.
 */
public final class HopDelay extends Protocol {

    /** Set from the configuration. */
    @Property(description = "Delay of each message", type = AttributeType.TIME)
    public long millis;

    private final ScheduledExecutorService timer =
            Executors.newScheduledThreadPool(
                    8,
                    task -> {
                        Thread thread = new Thread(task, "hop-delay");
                        thread.setDaemon(true);
                        return thread;
                    });

    /** By reflection. */
    public HopDelay() {}

    @Override
    public Object up(Message message) {
        if (millis == 0) {
            return up_prot.up(message);
        }
        var unused = timer.schedule(() -> up_prot.up(message), millis, TimeUnit.MILLISECONDS);
        return null;
    }

    @Override
    public void up(MessageBatch batch) {
        if (millis == 0) {
            up_prot.up(batch);
            return;
        }
        // The transport may use the batch again.
        List<Message> messages = new ArrayList<>();
        batch.forEach(messages::add);
        MessageBatch copy =
                new MessageBatch(
                        batch.dest(),
                        batch.sender(),
                        batch.clusterName(),
                        batch.multicast(),
                        messages);
        var unused = timer.schedule(() -> up_prot.up(copy), millis, TimeUnit.MILLISECONDS);
    }
}
