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
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Which handler takes which message of a {@link LaneService}. Messages and replies are records of
 * immutable parts, as for other services. {@link #message} and {@link #query} are of {@link
 * LaneService#handlers} alone.
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

    /** Answers queries of one type. */
    @FunctionalInterface
    public interface QueryHandler<Q> {

        /**
         * Answers a query, on a thread that is no lane, while handlers run and on any member. It
         * reads collections and takes locks, for a moment; a write throws. Two reads are one step
         * only under a lock.
         *
         * @param query as it was asked
         * @return the answer, a record; not null
         * @throws Exception the client is refused
         */
        Object answer(Q query) throws Exception;
    }

    private record Queried<Q>(Class<Q> type, QueryHandler<? super Q> handler) {

        Object answer(RecordMessages messages, byte[] bytes) throws Exception {
            return handler.answer(messages.decode(type, bytes));
        }
    }

    private record Typed<M>(Class<M> type, Handler<? super M> handler) {

        Object take(RecordMessages messages, byte[] bytes, LaneTurn turn) throws Exception {
            return handler.take(messages.decode(type, bytes), turn);
        }
    }

    private final RecordMessages messages = new RecordMessages(new Codec());
    private final Map<String, Typed<?>> byName = new LinkedHashMap<>();
    private final Map<String, Queried<?>> queries = new LinkedHashMap<>();
    private final Class<?> service;
    private boolean sealed;

    private LaneHandlers(Class<?> service) {
        this.service = service;
    }

    /**
     * Those of a service.
     *
     * @throws IllegalArgumentException if one of its types is not allowed, or it has no handler
     */
    public static LaneHandlers of(LaneService service) {
        LaneHandlers handlers = new LaneHandlers(service.getClass());
        service.handlers(handlers);
        handlers.sealed = true;
        if (handlers.byName.isEmpty() && handlers.queries.isEmpty()) {
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
        check(type);
        if (Query.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(
                    type.getName()
                            + " is a Query: take it by query(...), or let it be a message that"
                            + " implements Asks");
        }
        byName.put(messages.name(type), new Typed<>(type, handler));
    }

    /**
     * Answers queries of this type.
     *
     * @throws IllegalArgumentException if the type is no record that may be sent, or has a handler
     * @throws IllegalStateException after {@link LaneService#handlers}
     */
    public <Q extends Query<?>> void query(Class<Q> type, QueryHandler<? super Q> handler) {
        check(type);
        queries.put(messages.name(type), new Queried<>(type, handler));
    }

    private void check(Class<?> type) {
        if (sealed) {
            throw new IllegalStateException(
                    "handlers are declared in LaneService.handlers, before the first request");
        }
        messages.check(type);
        String name = messages.name(type);
        if (byName.containsKey(name) || queries.containsKey(name)) {
            throw new IllegalArgumentException(
                    "messages of type " + name + " have a handler already");
        }
    }

    /** The class of the service. */
    public Class<?> service() {
        return service;
    }

    /** Whether a type is that of a query. */
    public boolean isQuery(Body body) {
        return queries.containsKey(body.type());
    }

    /**
     * Why a message or query is not taken, before anything happens with it; empty if it is.
     *
     * @param body of a client, any bytes
     */
    public Optional<String> refusal(Body body) {
        Typed<?> typed = byName.get(body.type());
        Queried<?> queried = queries.get(body.type());
        if (typed == null && queried == null) {
            Set<String> all = new TreeSet<>(byName.keySet());
            all.addAll(queries.keySet());
            return Optional.of("no handler takes messages of type " + body.type() + ", but " + all);
        }
        try {
            Class<?> type = typed != null ? typed.type() : queried.type();
            Object unused = messages.decode(type, body.bytes());
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of("a message can not be read: " + e.getMessage());
        }
    }

    /** As lanes run them: request and reply are a type's name and the bytes of a record. */
    public LaneHandler inLanes() {
        return new LaneHandler() {
            @Override
            public byte[] handle(byte[] body, LaneTurn turn) {
                Body message = decode(body);
                Typed<?> typed = byName.get(message.type());
                if (typed == null) {
                    throw new IllegalArgumentException("no handler takes " + message.type());
                }
                return encoded(message, reply(typed, message, turn));
            }

            @Override
            public byte[] query(byte[] body) {
                Body query = decode(body);
                Queried<?> queried = queries.get(query.type());
                if (queried == null) {
                    throw new IllegalArgumentException(
                            "no handler takes queries of type " + query.type());
                }
                return encoded(query, answer(queried, query));
            }
        };
    }

    private byte[] encoded(Body message, Object reply) {
        if (reply == null) {
            throw new IllegalStateException(
                    "the handler of " + message.type() + " returned null, and not a reply");
        }
        return encode(new Body(messages.name(reply.getClass()), messages.encode(reply)));
    }

    private Object answer(Queried<?> queried, Body query) {
        try {
            return queried.answer(messages, query.bytes());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("the handler of " + query.type() + " failed", e);
        }
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
