package io.saucr.services.replay;

import io.saucr.services.Query;
import io.saucr.services.core.Body;
import io.saucr.services.state.Codec;
import io.saucr.services.turns.RecordMessages;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Which handler takes which message of a {@link LaneService}. Messages and replies are records of
 * immutable parts, as for other services. {@link #message} is of {@link LaneService#handlers}
 * alone.
 */
public final class LaneHandlers {

    /** Takes messages of one type. */
    @FunctionalInterface
    public interface Handler<M> {

        /**
         * Takes a message, in a lane: others run at the same time.
         *
         * @param message as it was sent
         * @param turn of use until this returns, on this thread
         * @return the reply, a record; not null
         * @throws Exception the client is refused; what the handler changed before stays (X12)
         */
        Object take(M message, LaneTurn turn) throws Exception;
    }

    private record Typed<M>(Class<M> type, Handler<? super M> handler) {

        Object take(RecordMessages messages, byte[] bytes, LaneTurn turn) throws Exception {
            return handler.take(messages.decode(type, bytes), turn);
        }
    }

    private final RecordMessages messages = new RecordMessages(new Codec());
    private final Map<String, Typed<?>> byName = new LinkedHashMap<>();
    private boolean sealed;

    private LaneHandlers() {}

    /**
     * Those of a service.
     *
     * @throws IllegalArgumentException if one of its types is not allowed, or it has no handler
     */
    public static LaneHandlers of(LaneService service) {
        LaneHandlers handlers = new LaneHandlers();
        service.handlers(handlers);
        handlers.sealed = true;
        if (handlers.byName.isEmpty()) {
            throw new IllegalArgumentException(
                    service.getClass().getName() + " has no handler: declare one in handlers(on)");
        }
        return handlers;
    }

    /**
     * Constructs a service once, to see that it can be run.
     *
     * @return its handlers, to look for types
     * @throws IllegalArgumentException if a name or type is not allowed; says which
     */
    public static LaneHandlers check(
            int lanes, Function<LaneState, ? extends LaneService> constructor) {
        LaneState state = new LaneState(lanes);
        LaneHandlers handlers = of(constructor.apply(state));
        state.seal();
        return handlers;
    }

    /**
     * Takes messages of clients of this type.
     *
     * @throws IllegalArgumentException if the type is no record that may be sent, is a {@link
     *     Query}, or has a handler
     * @throws IllegalStateException after {@link LaneService#handlers}
     */
    public <M> void message(Class<M> type, Handler<? super M> handler) {
        if (sealed) {
            throw new IllegalStateException(
                    "handlers are declared in LaneService.handlers, before the first request");
        }
        messages.check(type);
        if (Query.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(
                    type.getName()
                            + " is a Query, and Protection.replay has no query handlers yet: let it"
                            + " be a message that implements Asks");
        }
        if (byName.putIfAbsent(messages.name(type), new Typed<>(type, handler)) != null) {
            throw new IllegalArgumentException(
                    "messages of type " + messages.name(type) + " have a handler already");
        }
    }

    /**
     * Why a message is not taken, before anything happens with it; empty if it is.
     *
     * @param body of a client, any bytes
     */
    public Optional<String> refusal(Body body) {
        Typed<?> typed = byName.get(body.type());
        if (typed == null) {
            return Optional.of(
                    "no handler takes messages of type "
                            + body.type()
                            + ", but "
                            + byName.keySet());
        }
        try {
            Object unused = messages.decode(typed.type(), body.bytes());
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of("a message can not be read: " + e.getMessage());
        }
    }

    /** As lanes run them: request and reply are a type's name and the bytes of a record. */
    public LaneHandler inLanes() {
        return (bytes, turn) -> {
            Body message = decode(bytes);
            Typed<?> typed = byName.get(message.type());
            if (typed == null) {
                throw new IllegalArgumentException("no handler takes " + message.type());
            }
            Object reply = reply(typed, message, turn);
            if (reply == null) {
                throw new IllegalStateException(
                        "the handler of " + message.type() + " returned null, and not a reply");
            }
            return encode(new Body(messages.name(reply.getClass()), messages.encode(reply)));
        };
    }

    private Object reply(Typed<?> typed, Body message, LaneTurn turn) {
        try {
            return typed.take(messages, message.bytes(), turn);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("the handler of " + message.type() + " failed", e);
        }
    }

    /** A message or reply as lanes have it: the length of the type's name, the name, the bytes. */
    public static byte[] encode(Body body) {
        byte[] type = body.type().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(4 + type.length + body.bytes().length)
                .putInt(type.length)
                .put(type)
                .put(body.bytes())
                .array();
    }

    /** What {@link #encode} was given. */
    public static Body decode(byte[] bytes) {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        byte[] type = new byte[from.getInt()];
        from.get(type);
        byte[] rest = new byte[from.remaining()];
        from.get(rest);
        return new Body(new String(type, StandardCharsets.UTF_8), rest);
    }
}
