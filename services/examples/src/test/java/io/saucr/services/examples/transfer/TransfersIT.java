package io.saucr.services.examples.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.examples.GroupProcesses;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A group of real processes that moves money while they are killed by SIGKILL. */
class TransfersIT {

    private static final int BRANCHES = 3;
    private static final int TRANSFERS = 60;
    private static final long CENTS = 1_000;

    @TempDir private Path work;

    private static String branch(int number) {
        return "branch" + (number % BRANCHES + 1);
    }

    /** Around all branches; each third one asks for more than there can be. */
    private static Transfers.Move move(int number) {
        long cents = number % 3 == 2 ? BRANCHES * CENTS + 1 : 1L + number % 7;
        return new Transfers.Move(
                "transfer-" + number,
                List.of(
                        new Transfers.Part(branch(number), "all", -cents),
                        new Transfers.Part(branch(number + 1), "all", cents)));
    }

    @Test
    void noCentIsLostOrMadeThoughServicesAreKilled() throws Exception {
        try (GroupProcesses group = new GroupProcesses(work)) {
            List<String> names = new ArrayList<>(List.of(TransferProcess.TRANSFERS));
            for (int each = 0; each < BRANCHES; each++) {
                names.add(branch(each));
            }
            for (String name : names) {
                group.start(
                        name,
                        TransferProcess.class,
                        group.place(),
                        group.folder(),
                        "/groups/bank",
                        name);
            }
            long[] expected = new long[BRANCHES];
            for (int each = 0; each < BRANCHES; each++) {
                Branch.Opened unused =
                        group.client(branch(each))
                                .ask(new Branch.Open("all", CENTS), Branch.Opened.class)
                                .get(2, TimeUnit.MINUTES);
                expected[each] = CENTS;
            }
            Client client = group.client(TransferProcess.TRANSFERS);
            List<CompletableFuture<Transfers.Outcome>> outcomes = new ArrayList<>();
            for (int number = 0; number < TRANSFERS; number++) {
                outcomes.add(client.ask(move(number), Transfers.Outcome.class));
                if (number % 15 == 14) {
                    GroupProcesses.waitFor(outcomes.get(number - 5)::isDone);
                    // Each of them once.
                    group.of(names.get(number / 15)).killAndStart();
                }
            }
            for (int number = 0; number < TRANSFERS; number++) {
                Transfers.Outcome outcome = outcomes.get(number).get(2, TimeUnit.MINUTES);
                assertThat(outcome.committed()).as(outcome.toString()).isEqualTo(number % 3 != 2);
                if (outcome.committed()) {
                    long cents = move(number).parts().get(1).cents();
                    expected[number % BRANCHES] -= cents;
                    expected[(number + 1) % BRANCHES] += cents;
                }
            }
            GroupProcesses.waitFor(
                    () ->
                            group.answer(
                                                    TransferProcess.TRANSFERS,
                                                    new Transfers.Ask(),
                                                    Transfers.Count.class)
                                            .open()
                                    == 0);
            for (int each = 0; each < BRANCHES; each++) {
                assertThat(group.answer(branch(each), new Branch.Ask(), Branch.Books.class))
                        .isEqualTo(new Branch.Books(expected[each], 0));
            }
        }
    }
}
