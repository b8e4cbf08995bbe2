package io.saucr.services.examples.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.examples.transfer.Transfers.Move;
import io.saucr.services.examples.transfer.Transfers.Outcome;
import io.saucr.services.examples.transfer.Transfers.Part;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Transfers and branches, also crashed anywhere. */
class TransfersTest {

    private static TestService service(TestWorld world, String name) {
        return world.service(name, TransferProcess.constructor(name));
    }

    private static CompletableFuture<Branch.Opened> open(
            TestWorld world, String branch, String account, long cents) {
        return world.client("opens-" + branch, branch)
                .ask(new Branch.Open(account, cents), Branch.Opened.class);
    }

    private static Move move(String name, long cents, String from, String to) {
        return new Move(name, List.of(part(from, -cents), part(to, cents)));
    }

    private static Part part(String branch, long cents) {
        return new Part(branch, "all", cents);
    }

    private static Branch.Books books(TestService branch) {
        return branch.query(new Branch.Ask(), Branch.Books.class);
    }

    @Test
    void moneyMovesInAllBranchesOrInNone() {
        TestWorld world = new TestWorld(1);
        TestService transfers = service(world, "transfers");
        TestService first = service(world, "branch1");
        TestService second = service(world, "branch2");
        world.await(open(world, "branch1", "all", 100));
        world.await(open(world, "branch2", "all", 0));
        Client client = world.client("client", "transfers");
        assertThat(world.await(client.ask(move("a", 60, "branch1", "branch2"), Outcome.class)))
                .isEqualTo(new Outcome("a", true));
        // There is not so much any more; the other branch can, and does not.
        assertThat(world.await(client.ask(move("b", 60, "branch1", "branch2"), Outcome.class)))
                .isEqualTo(new Outcome("b", false));
        Move unknown =
                new Move("c", List.of(part("branch2", -10), new Part("branch1", "nobody", 10)));
        assertThat(world.await(client.ask(unknown, Outcome.class)))
                .isEqualTo(new Outcome("c", false));
        world.run();
        assertThat(books(first)).isEqualTo(new Branch.Books(40, 0));
        assertThat(books(second)).isEqualTo(new Branch.Books(60, 0));
        assertThat(transfers.query(new Transfers.Ask(), Transfers.Count.class).open()).isZero();
    }

    @Test
    void noCentIsLostOrMadeWhereverAServiceCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        5,
                        world -> {
                            TestService transfers = service(world, "transfers");
                            TestService first = service(world, "branch1");
                            TestService second = service(world, "branch2");
                            world.await(open(world, "branch1", "all", 100));
                            world.await(open(world, "branch2", "all", 10));
                            Client client = world.client("client", "transfers");
                            CompletableFuture<Outcome> yes =
                                    client.ask(move("a", 60, "branch1", "branch2"), Outcome.class);
                            CompletableFuture<Outcome> no =
                                    client.ask(move("b", 500, "branch2", "branch1"), Outcome.class);
                            world.run();
                            assertThat(yes).isCompletedWithValue(new Outcome("a", true));
                            assertThat(no).isCompletedWithValue(new Outcome("b", false));
                            assertThat(books(first)).isEqualTo(new Branch.Books(40, 0));
                            assertThat(books(second)).isEqualTo(new Branch.Books(70, 0));
                            Transfers.Ask ask = new Transfers.Ask();
                            assertThat(transfers.query(ask, Transfers.Count.class).open()).isZero();
                        });
        assertThat(crashes).isGreaterThan(50);
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThatThrownBy(() -> new Move("a", List.of(part("branch1", 5))))
                .hasMessage("a transfer has parts whose cents add up to 0, not to 5");
        assertThatThrownBy(() -> new Move("a", List.of())).hasMessageContaining("add up to 0");
        assertThatThrownBy(() -> TransferProcess.constructor("bank"))
                .hasMessageContaining("branch1, branch2 and so on, not bank");
    }
}
