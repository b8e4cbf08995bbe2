package io.saucr.services.testkit;

import io.saucr.services.ServiceException;
import io.saucr.services.client.ClientMessages;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;
import java.util.concurrent.CompletableFuture;

/** A client without a birth that asks a query, again where its link broke. */
final class TestAsker<A> implements WireEnd {

    private final TestWorld world;
    private final TestService service;
    private final Object message;
    private final Class<A> type;
    private final CompletableFuture<A> result;
    private final ClientMessages messages = new ClientMessages();
    private Wire wire;

    TestAsker(
            TestWorld world,
            TestService service,
            Object message,
            Class<A> type,
            CompletableFuture<A> result) {
        this.world = world;
        this.service = service;
        this.message = message;
        this.type = type;
        this.result = result;
    }

    void begin() {
        Body body = messages.encode(message, world.options().largestMessageBytes());
        if (!service.isQuery(body.type())) {
            throw new IllegalArgumentException(
                    service.name()
                            + " has no query handler for "
                            + body.type()
                            + ": what changes something is a call of a client of this world");
        }
        if (!service.isUp()) {
            throw new IllegalStateException(service.name() + " is not up");
        }
        wire = world.wire(this, service, true);
        wire.send(this, new Frame.Ask(1, body));
    }

    @Override
    public String name() {
        return "asker";
    }

    @Override
    public void linkUp(Link link) {}

    @Override
    public void linkDown(Link link) {
        if (!result.isDone()) {
            world.later(service::isUp, this::begin);
        }
    }

    @Override
    public void frame(Link link, Frame frame) {
        if (frame instanceof Frame.Past || frame instanceof Frame.Covered) {
            // An early answer is taken as it comes: what is lost of it a test sees in the state.
            return;
        }
        if (frame instanceof Frame.Early early) {
            result.complete(messages.decode(service.name(), early.body(), type));
        } else if (frame instanceof Frame.Answer answer) {
            if (answer.body().isEmpty()) {
                result.completeExceptionally(
                        new ServiceException(service.name() + " took the message without a reply"));
            } else {
                try {
                    result.complete(messages.decode(service.name(), answer.body().get(), type));
                } catch (ServiceException e) {
                    result.completeExceptionally(e);
                }
            }
        } else if (frame instanceof Frame.Refused refused) {
            result.completeExceptionally(
                    new ServiceException(
                            service.name() + " refused the message: " + refused.reason()));
        }
        world.cut(wire);
    }
}
