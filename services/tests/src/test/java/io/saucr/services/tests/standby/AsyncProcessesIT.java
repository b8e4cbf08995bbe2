package io.saucr.services.tests.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Lost;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Member;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two real members of an asynchronous service, whose primary is killed (C7, C9, C11). */
class AsyncProcessesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final int TICK_MILLIS = 500;

    /** So long that the primary is killed before what was told last is covered, as a rule. */
    private static final long EVERY_MILLIS = 1_000;

    private static final int MOST_STRIKES = 5;
    private static final int CALLS = 10;

    @TempDir private Path work;

    private final List<MemberProcess> members = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private String place;

    @BeforeEach
    void start() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        place = "127.0.0.1:" + ensemble.getLocalPort() + "/registers";
        for (String name : List.of("a", "b")) {
            members.add(
                    new MemberProcess(
                            place, work.resolve(name), 2, false, EVERY_MILLIS, Member.SMALL_JVM));
        }
    }

    @AfterEach
    void end() throws Exception {
        for (MemberProcess each : members) {
            each.close();
        }
        ensemble.shutdown();
    }

    private MemberProcess primary() {
        return await().atMost(PATIENCE)
                .until(
                        () -> {
                            for (MemberProcess each : members) {
                                if (each.isPrimary()
                                        && each.status().get("followers").equals("1")) {
                                    return each;
                                }
                            }
                            return null;
                        },
                        it -> it != null);
    }

    private static <T> T done(CompletableFuture<T> call) throws Exception {
        return call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static CompletableFuture<Registers.Counted> count(Client client, long number) {
        return client.ask(new Registers.Count("repeats", number), Registers.Counted.class);
    }

    private static CompletableFuture<Registers.Value> write(Client client, String key) {
        return client.ask(new Registers.Write(key, key), Registers.Value.class);
    }

    private static String read(Client client, String key) throws Exception {
        return done(client.ask(new Registers.Read(key), Registers.Value.class)).value();
    }

    /** What one client is told of. */
    private static final class Told implements Client.LossHandler {
        final List<Lost> lost = new CopyOnWriteArrayList<>();
        final Lost.Decision decision;

        Told(Lost.Decision decision) {
            this.decision = decision;
        }

        @Override
        public Lost.Decision lost(Lost reply) {
            lost.add(reply);
            return decision;
        }

        List<String> keys() {
            return lost.stream().map(it -> ((Registers.Write) it.request()).key()).toList();
        }
    }

    @Test
    void whatIsLostIsAnnouncedAndRepeatedOrDropped() throws Exception {
        Told repeated = new Told(Lost.Decision.REPEAT);
        Told dropped = new Told(Lost.Decision.DROP);
        Told plain = new Told(Lost.Decision.REPEAT);
        List<String> keys = new ArrayList<>();
        long counted = 0;
        try (Client repeats = Services.at(place).client("repeats");
                Client drops = Services.at(place).client("drops");
                Client nameless = Services.at(place).client()) {
            repeats.onLost(repeated);
            drops.onLost(dropped);
            nameless.onLost(plain);
            // Their pairs begin together.
            CompletableFuture<?> begun = write(drops, "begun");
            done(count(repeats, ++counted));
            done(begun);
            for (int strike = 0;
                    repeated.lost.isEmpty() || dropped.lost.isEmpty() || plain.lost.isEmpty();
                    strike++) {
                assertThat(strike).isLessThan(MOST_STRIKES);
                MemberProcess struck = primary();
                for (int i = 0; i < CALLS; i++) {
                    String key = strike + "-" + i;
                    keys.add(key);
                    assertThat(done(count(repeats, ++counted)).number()).isEqualTo(counted);
                    done(write(drops, "d" + key));
                    done(write(nameless, "n" + key));
                }
                struck.kill();
                // Whoever lost something hears so before this.
                assertThat(done(count(repeats, ++counted)).number()).isEqualTo(counted);
                done(write(drops, "next"));
                await().atMost(PATIENCE).until(() -> isAnswered(nameless));
                struck.start();
            }

            for (Lost each : repeated.lost) {
                long number = ((Registers.Count) each.request()).number();
                assertThat(done(each.again())).isEqualTo(new Registers.Counted(number));
                assertThat(each.turn()).isGreaterThan(each.survived());
            }
            for (Lost each : plain.lost) {
                assertThat(done(each.again())).isInstanceOf(Registers.Value.class);
            }
            List<String> gone = dropped.keys();
            for (String key : keys) {
                assertThat(read(drops, "d" + key))
                        .isEqualTo(gone.contains("d" + key) ? "" : "d" + key);
                assertThat(read(drops, "n" + key)).isEqualTo("n" + key);
            }
            assertThat(repeats.lostReplies()).isEqualTo(repeated.lost.size());
            Registers.Books books = done(repeats.ask(new Registers.Ask(), Registers.Books.class));
            assertThat(books.counts()).containsEntry("repeats", counted);
            assertThat(books.disorder()).isZero();
        }
    }

    /** A request that was under way when its connection ended has no answer. */
    private static boolean isAnswered(Client nameless) {
        try {
            read(nameless, "next");
            return true;
        } catch (Exception e) {
            return false;
        }
    }
}
