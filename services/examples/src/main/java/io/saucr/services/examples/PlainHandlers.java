package io.saucr.services.examples;

import io.saucr.services.Continuation;
import io.saucr.services.Handlers;
import io.saucr.services.Returned;
import io.saucr.services.state.Codec;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The handlers of a service that nothing protects, for comparison, by the names of what they take:
 * messages and queries, and nothing else. One thread.
 */
public final class PlainHandlers implements Handlers {

    private static final String NOT_HERE = "the plain form has messages and queries only";

    /** What messages and queries are decoded to, by name. */
    public final Map<String, Class<?>> types = new HashMap<>();

    /** What takes a message, by its name. */
    public final Map<String, MessageHandler<Object>> messages = new HashMap<>();

    /** What answers a query, by its name. */
    public final Map<String, QueryHandler<Object>> queries = new HashMap<>();

    private final Codec codec;

    /** Takes names from a codec. */
    public PlainHandlers(Codec codec) {
        this.codec = codec;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <M> void message(Class<M> type, MessageHandler<? super M> handler) {
        types.put(codec.name(type), type);
        messages.put(codec.name(type), (MessageHandler<Object>) handler);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <Q> void query(Class<Q> type, QueryHandler<? super Q> handler) {
        types.put(codec.name(type), type);
        queries.put(codec.name(type), (QueryHandler<Object>) handler);
    }

    @Override
    public <C> void output(Class<C> type, OutputHandler<? super C> handler) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public <A, C extends Continuation<A>> void answer(
            Class<C> type, AnswerHandler<? super C, ? super A> handler) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public <C extends Continuation<?>> void unanswered(
            Class<C> type, UnansweredHandler<? super C> handler) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public <M> void returned(Class<M> type, MessageHandler<Returned<M>> handler) {
        throw new UnsupportedOperationException(NOT_HERE);
    }

    @Override
    public void every(Duration period, Object message) {
        throw new UnsupportedOperationException(NOT_HERE);
    }
}
