package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Asks;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.Keyed;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.Query;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Partitions in the test kit (K18). */
class PartitionsKitTest {

    record Move(String key, String to, long cents) implements Keyed, Asks<Cents> {}

    record Credit(String key, long cents) implements Keyed {}

    record Deposit(String key, long cents) implements Keyed, Asks<Cents> {}

    record Balance(String key) implements Keyed, Query<Cents> {}

    record Cents(long cents) {}

    record Unkeyed() {}

    /** Moves cents to accounts of whatever partition. */
    static final class Accounts implements Service {

        private final MapState<String, Long> accounts;

        Accounts(State state) {
            accounts = state.map("accounts", String.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Move.class,
                    (move, turn) -> {
                        long left = accounts.merge(move.key(), -move.cents(), Long::sum);
                        turn.send("accounts", new Credit(move.to(), move.cents()));
                        turn.reply(new Cents(left));
                    });
            on.message(
                    Deposit.class,
                    (it, turn) ->
                            turn.reply(new Cents(accounts.merge(it.key(), it.cents(), Long::sum))));
            on.message(
                    Credit.class,
                    (credit, turn) -> accounts.merge(credit.key(), credit.cents(), Long::sum));
            on.query(Balance.class, (it, turn) -> new Cents(accounts.getOrDefault(it.key(), 0L)));
        }
    }

    private static String key(TestPartitions of, int partition) {
        int number = 0;
        while (of.of("key" + number) != of.partition(partition)) {
            number++;
        }
        return "key" + number;
    }

    /** All that was moved from one partition to the other is there once, and nothing else. */
    private static void movesOnce(TestWorld world, Function<TestWorld, TestPartitions> partitions) {
        world.partitioned("accounts", 2);
        TestPartitions accounts = partitions.apply(world);
        String ann = key(accounts, 0);
        String bob = key(accounts, 1);
        Client client = world.client("teller", "accounts");
        CompletableFuture<Cents> first = client.ask(new Move(ann, bob, 3));
        CompletableFuture<Cents> second = client.ask(new Move(bob, ann, 1));
        world.run();
        assertThat(world.await(first)).isIn(new Cents(-3), new Cents(-2));
        assertThat(world.await(second)).isIn(new Cents(-1), new Cents(2));
        assertThat(accounts.query(new Balance(ann))).isEqualTo(new Cents(-2));
        assertThat(accounts.query(new Balance(bob))).isEqualTo(new Cents(2));
    }

    @Test
    void crashesOfOneOrAllPartitionsAnywhereLoseNothing() {
        int crashes =
                CrashPoints.everywhere(
                        1,
                        world -> movesOnce(world, it -> it.partitions("accounts", Accounts::new)));
        // Each of two partitions, and both.
        assertThat(crashes).isPositive().matches(it -> it % 3 == 0);
    }

    @Test
    void partitionsWithStandbysLoseNothingEither() {
        int crashes =
                CrashPoints.everywhere(
                        2,
                        world ->
                                movesOnce(
                                        world,
                                        it ->
                                                it.partitions(
                                                        "accounts",
                                                        Accounts::new,
                                                        Protection.standby())));
        assertThat(crashes).isPositive().matches(it -> it % 3 == 0);
    }

    @Test
    void onePartitionIsDownAndTheOthersAnswer() {
        TestWorld world = new TestWorld(3);
        world.partitioned("accounts", 3);
        TestPartitions accounts = world.partitions("accounts", Accounts::new);
        assertThat(accounts.count()).isEqualTo(3);
        Client client = world.client("teller", "accounts");
        accounts.partition(1).crash();
        CompletableFuture<Cents> waits = client.ask(new Deposit(key(accounts, 1), 5));
        for (int number : new int[] {0, 2}) {
            assertThat(world.await(client.ask(new Deposit(key(accounts, number), 5))))
                    .isEqualTo(new Cents(5));
        }
        world.run();
        assertThat(waits).isNotDone();
        accounts.start();
        assertThat(world.await(waits)).isEqualTo(new Cents(5));

        accounts.crash();
        assertThat(accounts.partition(0).isUp()).isFalse();
        accounts.start();
        world.cut("teller", "accounts");
        for (int number = 0; number < 3; number++) {
            assertThat(accounts.query(new Balance(key(accounts, number)))).isEqualTo(new Cents(5));
        }
        assertThat(client.lostReplies()).isZero();
        client.close();
    }

    @Test
    void aPartitionRefusesTheKeyOfAnother() {
        TestWorld world = new TestWorld(4);
        world.partitioned("accounts", 2);
        TestPartitions accounts = world.partitions("accounts", Accounts::new);
        Client wrong = world.client("teller", "accounts.0");
        assertThatThrownBy(() -> world.await(wrong.send(new Credit(key(accounts, 1), 5))))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("belongs to partition 1 of the 2 of accounts");
    }

    @Test
    void whatDoesNotFitIsRefused() {
        TestWorld world = new TestWorld(5);
        assertThatThrownBy(() -> world.partitioned("accounts", 0))
                .hasMessageContaining("1 to 1024");
        assertThatThrownBy(() -> world.partitions("accounts", Accounts::new))
                .hasMessage("accounts has no number of partitions: call partitioned(...) first");
        world.partitioned("accounts", 2);
        TestPartitions accounts = world.partitions("accounts", Accounts::new);
        assertThatThrownBy(() -> world.partitions("accounts", Accounts::new))
                .hasMessage("accounts is there already");
        assertThatThrownBy(() -> world.service("accounts", Accounts::new))
                .hasMessage("accounts is there already");
        assertThatThrownBy(() -> world.partitioned("other", 2))
                .hasMessageContaining("do not know that other has partitions");
        assertThatThrownBy(() -> accounts.query(new Unkeyed(), Cents.class))
                .hasMessageContaining("have it implement Keyed");
        assertThatThrownBy(() -> world.client("teller", "accounts").send(new Unkeyed()))
                .hasMessageContaining("have it implement Keyed");
    }
}
