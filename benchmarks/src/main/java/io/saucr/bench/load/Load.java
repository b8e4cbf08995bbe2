package io.saucr.bench.load;

/** What clients do to one ensemble; opened and prepared by one thread. */
public interface Load {
    /** One client's session; used by the thread that opened it. */
    interface Session {
        /**
         * One operation, waited for.
         *
         * @throws Exception if it failed
         */
        void operate() throws Exception;

        /** Ends the session; nothing is done with it any more. */
        void close() throws InterruptedException;
    }

    /**
     * Makes what the operations need, once.
     *
     * @throws IllegalStateException if that fails
     */
    void prepare(String address) throws Exception;

    /**
     * Connects one client.
     *
     * @param seed of its random choices, as far as the load lets them be seeded
     */
    Session open(String address, long seed) throws Exception;
}
