package io.saucr.services.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Partitions;
import io.saucr.services.RunningPartitions;
import io.saucr.services.RunningService;
import io.saucr.services.spring.BankApplication.Balance;
import io.saucr.services.spring.BankApplication.Cents;
import io.saucr.services.spring.BankApplication.Deposit;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The starter in a Boot application with web server and actuator, and an ensemble. */
class StarterTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir private Path folder;

    private NIOServerCnxnFactory ensemble;
    private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

    @BeforeEach
    void startEnsemble() throws Exception {
        ensemble = ensemble(0);
    }

    private NIOServerCnxnFactory ensemble(int port) throws Exception {
        Path data = Files.createDirectories(folder.resolve("zookeeper"));
        NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 100);
        factory.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
        return factory;
    }

    @AfterEach
    void stopAll() {
        applications.forEach(ConfigurableApplicationContext::close);
        ensemble.shutdown();
    }

    private String[] arguments(String member, String... more) {
        List<String> all =
                new ArrayList<>(
                        List.of(
                                "--server.port=0",
                                "--spring.jmx.enabled=false",
                                "--spring.main.banner-mode=off",
                                "--management.endpoints.web.exposure.include=health,metrics",
                                "--management.endpoint.health.show-details=always",
                                "--saucr.services.ensemble=127.0.0.1:"
                                        + ensemble.getLocalPort()
                                        + "/apps",
                                "--saucr.services.folder=" + folder.resolve(member)));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private ConfigurableApplicationContext start(String member, String... more) {
        ConfigurableApplicationContext application =
                new SpringApplicationBuilder(BankApplication.class).run(arguments(member, more));
        applications.add(application);
        return application;
    }

    private static String get(ConfigurableApplicationContext application, String path)
            throws Exception {
        String port = application.getEnvironment().getProperty("local.server.port");
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static RunningService bank(ConfigurableApplicationContext application) {
        return application.getBean(SaucrServices.class).running().get("bank");
    }

    @Test
    void aBeanOfTypeServiceRunsAndItsStateOutlivesTheApplication() throws Exception {
        ConfigurableApplicationContext application = start("one");
        try (Client client = application.getBean(SaucrServices.class).at("bank").client()) {
            assertThat(client.ask(new Deposit("ann", 100)).join()).isEqualTo(new Cents(90));
        }
        assertThat(get(application, "/actuator/health"))
                .startsWith("{\"status\":\"UP\"")
                .contains("\"saucrServices\":{\"status\":\"UP\"")
                .contains("\"bank\":{\"deadLetters\":0");
        assertThat(get(application, "/actuator/metrics/saucr.services.turn.run"))
                .contains("\"statistic\":\"COUNT\"")
                .contains("bank");
        assertThat(folder.resolve("one/bank/identity")).exists();
        application.close();
        ConfigurableApplicationContext again = start("one");
        try (Client client = again.getBean(SaucrServices.class).at("bank").client()) {
            assertThat(client.ask(new Balance("ann")).join()).isEqualTo(new Cents(90));
        }
    }

    /** Nobody waits for a session to expire: the one that ends has handed over. */
    @Test
    void anApplicationThatEndsHandsItsServiceOver() throws Exception {
        String[] standby = {
            "--saucr.services.protection=standby", "--saucr.services.session-timeout=40s"
        };
        ConfigurableApplicationContext one = start("one", standby);
        ConfigurableApplicationContext two = start("two", standby);
        assertThat(bank(one).status().member().role()).isEqualTo("primary");
        try (Client client = two.getBean(SaucrServices.class).at("bank").client()) {
            assertThat(client.ask(new Deposit("ann", 100)).join()).isEqualTo(new Cents(90));
            await().atMost(LONG).until(() -> bank(one).status().member().followers().size() == 1);
            await().atMost(LONG).until(() -> bank(two).status().member().ready());
            assertThat(get(two, "/actuator/health"))
                    .contains("\"ready\":true,\"role\":\"standby\"");
            long began = System.nanoTime();
            one.close();
            assertThat(client.ask(new Balance("ann")).join()).isEqualTo(new Cents(90));
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .isLessThan(Duration.ofSeconds(35));
        }
        assertThat(bank(two).status().member().role()).isEqualTo("primary");
        assertThat(get(two, "/actuator/health")).contains("\"role\":\"primary\"");
    }

    @Test
    void theServicesOfAnApplicationAreMembersOfAGroup() throws Exception {
        ConfigurableApplicationContext application =
                start(
                        "one",
                        "--saucr.services.protection=speculative",
                        "--saucr.services.group=/groups/banks",
                        "--saucr.services.every=5ms",
                        "--saucr.services.grace=2s",
                        "--saucr.services.speculation=false",
                        "--saucr.services.members=localhost:0");
        try (Client client = application.getBean(SaucrServices.class).at("bank").client()) {
            assertThat(client.ask(new Deposit("ann", 100)).join()).isEqualTo(new Cents(90));
        }
        assertThat(bank(application).status().group().members()).containsExactly("bank");
        assertThat(bank(application).status().group().waits()).isEqualTo("it is off");
        assertThat(get(application, "/actuator/health")).contains("\"group\":\"/groups/banks\"");
    }

    @Test
    void aServiceInPartitionsRunsAndOneOfThemMoves() throws Exception {
        String three = "--saucr.services.partitions.bank=3";
        ConfigurableApplicationContext one = start("one", three);
        SaucrServices services = one.getBean(SaucrServices.class);
        assertThat(services.running()).containsOnlyKeys("bank.0", "bank.1", "bank.2");
        Partitions bank = services.partitions("bank");
        String ann = owner(bank, 1);
        String bob = owner(bank, 2);
        try (Client client = bank.client("web")) {
            assertThat(client.ask(new Deposit(ann, 100)).join()).isEqualTo(new Cents(90));
            assertThat(client.ask(new Deposit(bob, 10)).join()).isEqualTo(new Cents(9));
            assertThat(get(one, "/actuator/health"))
                    .startsWith("{\"status\":\"UP\"")
                    .contains("\"bank.1\":{\"deadLetters\":0");
            assertThat(get(one, "/actuator/metrics/saucr.services.turn.run"))
                    .contains("bank.0", "bank.1", "bank.2");

            RunningPartitions here = services.runningPartitions("bank").orElseThrow();
            here.release(1);
            assertThat(services.running()).containsOnlyKeys("bank.0", "bank.2");
            assertThat(get(one, "/actuator/metrics/saucr.services.stopped"))
                    .contains("bank.0", "bank.2")
                    .doesNotContain("bank.1");
            Path moved = Files.createDirectories(folder.resolve("two/bank")).resolve("1");
            Path unused = Files.move(folder.resolve("one/bank/1"), moved);
            ConfigurableApplicationContext two =
                    start("two", three, "--saucr.services.partitions-here.bank=1");
            assertThat(two.getBean(SaucrServices.class).running()).containsOnlyKeys("bank.1");
            assertThat(client.ask(new Balance(ann)).join()).isEqualTo(new Cents(90));
            assertThat(client.ask(new Balance(bob)).join()).isEqualTo(new Cents(9));

            RunningPartitions there =
                    two.getBean(SaucrServices.class).runningPartitions("bank").orElseThrow();
            there.release(1);
            unused = Files.move(moved, folder.resolve("one/bank/1"));
            here.take(1);
            assertThat(get(one, "/actuator/health")).contains("\"bank.1\":{\"deadLetters\":0");
            assertThat(get(one, "/actuator/metrics/saucr.services.stopped?tag=service:bank.1"))
                    .contains("\"value\":0.0");
            assertThat(client.ask(new Balance(ann)).join()).isEqualTo(new Cents(90));
        }
    }

    private static String owner(Partitions of, int partition) {
        int number = 0;
        while (of.of("owner" + number) != partition) {
            number++;
        }
        return "owner" + number;
    }

    @Test
    void anApplicationThatEndsHandsItsPartitionsOver() throws Exception {
        String[] both = {
            "--saucr.services.partitions.bank=2",
            "--saucr.services.protection=standby",
            "--saucr.services.session-timeout=40s"
        };
        ConfigurableApplicationContext one = start("one", both);
        ConfigurableApplicationContext two = start("two", both);
        Partitions bank = two.getBean(SaucrServices.class).partitions("bank");
        String ann = owner(bank, 0);
        String bob = owner(bank, 1);
        try (Client client = bank.client("web")) {
            assertThat(client.ask(new Deposit(ann, 100)).join()).isEqualTo(new Cents(90));
            assertThat(client.ask(new Deposit(bob, 10)).join()).isEqualTo(new Cents(9));
            for (RunningService each : one.getBean(SaucrServices.class).running().values()) {
                await().atMost(LONG).until(() -> each.status().member().followers().size() == 1);
            }
            long began = System.nanoTime();
            one.close();
            assertThat(client.ask(new Balance(ann)).join()).isEqualTo(new Cents(90));
            assertThat(client.ask(new Balance(bob)).join()).isEqualTo(new Cents(9));
            // Nobody waited for a session to expire.
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .isLessThan(Duration.ofSeconds(35));
        }
        assertThat(two.getBean(SaucrServices.class).running().values())
                .allMatch(it -> it.status().member().role().equals("primary"));
    }

    /** K8: one partition of the application halts, and health names it. */
    @Test
    void aPartitionThatHaltsTurnsHealthRed() throws Exception {
        ConfigurableApplicationContext one = start("one", "--saucr.services.partitions.bank=2");
        ZooKeeper admin =
                new ZooKeeper("127.0.0.1:" + ensemble.getLocalPort(), 10_000, event -> {});
        admin.delete("/apps/bank.1/head", -1);
        admin.close();
        await().atMost(LONG)
                .until(() -> get(one, "/actuator/health").startsWith("{\"status\":\"DOWN\""));
        assertThat(get(one, "/actuator/health"))
                .contains("\"bank.0\":{\"deadLetters\":0")
                .containsPattern("\"bank.1\":\"[^\"]*head");
        assertThat(one.isActive()).isTrue();
    }

    /** K8: a head that is another's halts the service; the application goes on, and says so. */
    @Test
    void aServiceThatHaltsTurnsHealthRed() throws Exception {
        ConfigurableApplicationContext application = start("one");
        assertThat(get(application, "/actuator/health")).startsWith("{\"status\":\"UP\"");
        // A service whose head was deleted has none: it does not make another (C17).
        ZooKeeper admin =
                new ZooKeeper("127.0.0.1:" + ensemble.getLocalPort(), 10_000, event -> {});
        admin.delete("/apps/bank/head", -1);
        admin.close();
        await().atMost(LONG)
                .until(
                        () ->
                                get(application, "/actuator/health")
                                        .startsWith("{\"status\":\"DOWN\""));
        assertThat(get(application, "/actuator/health")).contains("head");
        assertThat(application.isActive()).isTrue();
    }

    @Test
    void anApplicationWhoseEnsembleIsAwayIsUpAndSaysWhatItWaitsFor() throws Exception {
        int port = ensemble.getLocalPort();
        String[] arguments = arguments("one", "--saucr.services.start-wait=100ms");
        ensemble.shutdown();
        ConfigurableApplicationContext application =
                new SpringApplicationBuilder(BankApplication.class).run(arguments);
        applications.add(application);
        assertThat(get(application, "/actuator/health"))
                .startsWith("{\"status\":\"DOWN\"")
                .contains("it waits for the ensemble");
        ensemble = ensemble(port);
        await().atMost(LONG)
                .until(() -> get(application, "/actuator/health").startsWith("{\"status\":\"UP\""));
    }

    @Test
    void whatCannotRunEndsTheStart() {
        SpringApplication application = new SpringApplication(BankApplication.class);
        assertThatThrownBy(() -> application.run("--server.port=0"))
                .hasStackTraceContaining("saucr.services.ensemble is not set");
        isRefused(application, "saucr.services.protection=standby", "copies=2");
        isRefused(application, "saucr.services.protection=standby or speculative", "every=5ms");
        isRefused(application, "saucr.services.protection=speculative", "group=/groups/banks");
        isRefused(application, "saucr.services.protection=speculative", "speculation=false");
        isRefused(application, "needs saucr.services.group", "protection=speculative");
        isRefused(
                application,
                "as in /groups/travel",
                "protection=speculative",
                "group=groups/banks");
        isRefused(
                application,
                "saucr.services.partitions.bank is not: it says how many",
                "partitions-here.bank=1");
        isRefused(application, "bank has 1 to 1024 partitions, not 1025", "partitions.bank=1025");
        isRefused(
                application,
                "bank has partitions, which run with local or standby",
                "partitions.bank=2",
                "protection=speculative",
                "group=/groups/banks");
        assertThatThrownBy(() -> start("one").getBean(SaucrServices.class).partitions("bank"))
                .hasMessageContaining("saucr.services.partitions.bank is not set");
    }

    private void isRefused(SpringApplication application, String reason, String... properties) {
        String[] set =
                Arrays.stream(properties)
                        .map(it -> "--saucr.services." + it)
                        .toArray(String[]::new);
        assertThatThrownBy(() -> application.run(arguments("one", set)))
                .hasStackTraceContaining(reason);
    }
}
