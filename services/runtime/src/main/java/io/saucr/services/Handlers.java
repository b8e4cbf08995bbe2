package io.saucr.services;

import java.time.Duration;

/**
 * Which handler takes which message of a service. Messages are records of immutable parts; their
 * types are checked here, so that a service whose messages cannot be sent does not start. Each type
 * has one handler. All methods are of {@link Service#handlers} alone, and throw {@link
 * IllegalArgumentException} where a type is not allowed or taken already, naming it, and {@link
 * IllegalStateException} once {@link Service#handlers} returned.
 */
public interface Handlers {

    /**
     * Takes messages of services and clients, timers and answers to outputs, of this type, each in
     * a turn of its own (K1).
     */
    <M> void message(Class<M> type, MessageHandler<? super M> handler);

    /**
     * Answers questions of clients. A query sees the state as the turns before left it, changes
     * nothing and is not recorded; its answer leaves when the newest turn that it saw is final
     * (K4). What is asked again is answered again.
     */
    <Q> void query(Class<Q> type, QueryHandler<? super Q> handler);

    /**
     * Makes the calls to the world that turns ask for by {@link Turn#output} (K17).
     *
     * @param handler runs on a thread that no turn waits for
     */
    <C> void output(Class<C> type, OutputHandler<? super C> handler);

    /**
     * Takes messages of this type that the service sent and that came back (K12, K15). Without a
     * handler for its type such a message waits, like each message of a type without a handler, and
     * what comes back later waits behind it.
     */
    <M> void returned(Class<M> type, MessageHandler<Returned<M>> handler);

    /**
     * Takes answers to questions that {@link Turn#ask(String, Asks, Continuation)} asked with this
     * continuation, each in a turn of its own.
     */
    <A, C extends Continuation<A>> void answer(
            Class<C> type, AnswerHandler<? super C, ? super A> handler);

    /**
     * Takes questions that have no answer: the receiver put the message aside or answered by
     * another type, is lost for good, or did not answer in time. Each question has an answer or
     * comes here, once. Each type with {@link #answer} has one.
     */
    <C extends Continuation<?>> void unanswered(
            Class<C> type, UnansweredHandler<? super C> handler);

    /**
     * Gives the service itself a message again and again. Periods that passed while it did not run
     * are skipped (K16). It begins with the first start that says so, and ends with the first that
     * does not.
     *
     * @param period from a millisecond on; another period than at the last start counts from now on
     * @param message of a type with a message handler; each type at most once
     */
    void every(Duration period, Object message);

    /** Takes messages of one type. */
    @FunctionalInterface
    interface MessageHandler<M> {

        /**
         * Takes a message, in a turn. What it throws undoes the turn, which is then tried again
         * (K12).
         *
         * @param message as it was sent
         * @param turn of use until this returns, on this thread
         */
        void take(M message, Turn turn) throws Exception;
    }

    /** Takes answers to questions of one continuation. */
    @FunctionalInterface
    interface AnswerHandler<C, A> {

        /**
         * Takes an answer, in a turn, as {@link MessageHandler#take} takes a message.
         *
         * @param continuation as it was given with the question
         * @param answer of the type that the question says
         */
        void take(C continuation, A answer, Turn turn) throws Exception;
    }

    /** Takes questions of one continuation that have no answer. */
    @FunctionalInterface
    interface UnansweredHandler<C> {

        /**
         * Takes a question, in a turn, as {@link MessageHandler#take} takes a message.
         *
         * @param continuation as it was given with the question
         * @param why there is no answer
         */
        void take(C continuation, Unanswered why, Turn turn) throws Exception;
    }

    /** Answers queries of one type. */
    @FunctionalInterface
    interface QueryHandler<Q> {

        /**
         * Answers. What it throws is told to the client that asked.
         *
         * @param query as it was asked
         * @param turn says the time and who asks; whatever would change something throws
         * @return the answer, of a type that may be sent
         */
        Object answer(Q query, Turn turn) throws Exception;
    }

    /** Makes calls to the world. */
    @FunctionalInterface
    interface OutputHandler<C> {

        /**
         * Makes one call: at least once, after the turn that asked for it is final, each attempt
         * with the same id, so that a receiver that honours ids gets it once (K17). What it throws
         * leads to another attempt, later.
         *
         * @param call what the turn asked for
         * @param id of this service's birth and the output's number; the same for each attempt
         * @return the answer, which becomes a message to this service, or null where there is none
         */
        Object call(C call, String id) throws Exception;
    }
}
