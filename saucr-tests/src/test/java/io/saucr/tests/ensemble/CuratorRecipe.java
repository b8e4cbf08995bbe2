package io.saucr.tests.ensemble;

/**
 * A recipe of Curator's that clients use all the time, from its construction until it is stopped.
 */
interface CuratorRecipe extends AutoCloseable {
    /** Waits until every client has come further; fails if the recipe has broken its promise. */
    void awaitProgress() throws Exception;

    /** Ends the use of it, and looks whether it kept its promises all the time. */
    void stop() throws Exception;

    /** What was done with it, for the test's output. */
    String summary();

    /** Whatever happened before, nothing of it goes on. */
    @Override
    default void close() {}
}
