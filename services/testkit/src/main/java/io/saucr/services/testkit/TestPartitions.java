package io.saucr.services.testkit;

import io.saucr.services.Asks;
import io.saucr.services.Query;
import io.saucr.services.turns.Routing;
import java.util.List;

/**
 * The partitions of a service of a {@link TestWorld}. Each is a service of its own, which can crash
 * alone. Where all of a process crash, each keeps a beginning of its turns of a length of its own,
 * which is more than a journal that they share can do. Thread of the test.
 */
public final class TestPartitions {

    private final String name;
    private final List<TestService> all;

    TestPartitions(String name, List<TestService> all) {
        this.name = name;
        this.all = List.copyOf(all);
    }

    /** How many there are. */
    public int count() {
        return all.size();
    }

    /** One of them, from 0. */
    public TestService partition(int number) {
        return all.get(number);
    }

    /** The one of a key. */
    public TestService of(String key) {
        return all.get(Routing.partition(key, all.size()));
    }

    List<TestService> all() {
        return all;
    }

    /** Ends the process of those that are up, as {@link TestService#crash} does. */
    public void crash() {
        all.stream().filter(TestService::isUp).forEach(TestService::crash);
    }

    /** Starts those that are not up. */
    public void start() {
        all.stream().filter(it -> !it.isUp()).forEach(TestService::start);
    }

    /**
     * Asks the partition of a query's key, and steps until it answers; see {@link
     * TestService#query}.
     *
     * @throws IllegalArgumentException where the question says no key, or no query handler takes it
     */
    public <A> A query(Object question, Class<A> answer) {
        return all.get(Routing.partition(question, name, all.size())).query(question, answer);
    }

    /** The same with the type of the answer that the query names. */
    public <A> A query(Query<A> question) {
        return query(question, Asks.answerOf(question));
    }
}
