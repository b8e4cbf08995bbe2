package io.saucr.tests.ensemble;

/** A recipe of Curator's that clients use from its construction until it is stopped. */
interface CuratorRecipe extends AutoCloseable {
    /** Waits until every client has made progress; fails if the recipe has broken its promise. */
    void awaitProgress() throws Exception;

    /** Stops using it, and checks that it has kept its promises throughout. */
    void stop() throws Exception;

    /** What was done with it, for the output of the test. */
    String summary();

    /** Ends its threads, whatever happened before. */
    @Override
    default void close() {}
}
