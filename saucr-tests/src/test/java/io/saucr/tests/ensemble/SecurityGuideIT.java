package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.ensemble.ServerAddress;
import io.saucr.tests.ensemble.Documentation.Block;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Follows docs/operate/security.md from its beginning to its end: its commands are typed and its
 * configuration is written as they stand on the page, apart from hosts, ports and folders, on three
 * servers that start from a sample configuration. In between it does what must be refused. The last
 * test fails if the page has a block that was not used.
 */
@Tag("trial")
@Tag("long")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SecurityGuideIT {
    private static final Path ROOT = BuiltDistribution.target().getParent().getParent();
    private static final List<Integer> SERVERS = List.of(1, 2, 3);
    private static final int STRANGER = 3;
    private static final String REFUSED = "refused";

    @TempDir static Path folder;

    private static List<Block> page;
    private static final Set<Block> used = new LinkedHashSet<>();
    private static LoopbackHosting hosting;
    private static Shell shell;

    @BeforeAll
    static void install() throws Exception {
        for (String program : List.of("openssl", "curl")) {
            assumeTrue(Shell.knows(program), () -> "no " + program + " on the PATH");
        }
        page = new Documentation(ROOT).securityGuide();
        hosting = new LoopbackHosting(folder, SERVERS.size(), Disk.PLAIN);
        shell = new Shell(folder);
        for (String name : List.of("bin", "lib")) {
            Files.createSymbolicLink(work().resolve(name), BuiltDistribution.home().resolve(name));
        }
        for (int id : SERVERS) {
            Files.createDirectories(etc(id));
            Files.writeString(hosting.dataDirectory(id).resolve("myid"), id + "\n");
            write(conf(id).resolve("zoo.cfg"), sample(id));
            copyLogback(conf(id));
        }
        copyLogback(clientConf());
    }

    @AfterAll
    static void leaveNoProcess() throws Exception {
        try {
            for (int id : SERVERS) {
                if (Files.exists(pidFile(id))) {
                    ProcessHandle.of(Long.parseLong(Files.readString(pidFile(id)).trim()))
                            .ifPresent(ProcessHandle::destroyForcibly);
                }
            }
        } finally {
            if (hosting != null) {
                hosting.close();
            }
        }
    }

    // ---- Where things are ----

    /** The current folder of whoever types, and the distribution's. */
    private static Path work() {
        return folder;
    }

    /** What is /etc/zookeeper on a server's machine. */
    private static Path etc(int id) {
        return folder.resolve("server-" + id + "/etc");
    }

    private static Path conf(int id) {
        return folder.resolve("server-" + id + "/conf");
    }

    private static Path clientConf() {
        return folder.resolve("client-conf");
    }

    private static Path pidFile(int id) {
        return folder.resolve("server-" + id + "/zk.pid");
    }

    private static Path log(int id) {
        return folder.resolve("server-" + id + "/log/zookeeper.log");
    }

    private static void copyLogback(Path conf) throws IOException {
        Files.createDirectories(conf);
        Files.copy(
                BuiltDistribution.home().resolve("conf/logback.xml"), conf.resolve("logback.xml"));
    }

    /** The sample for three servers, with places of this machine. */
    private static String sample(int id) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String line :
                Files.readAllLines(BuiltDistribution.home().resolve("conf/samples/lan-3.cfg"))) {
            // The guide says to take the clients' open port away.
            if (!line.matches(
                    "(dataDir|dataLogDir|clientPort|admin\\.serverPort|server\\.\\d)=.*")) {
                text.append(line).append('\n');
            }
        }
        text.append("dataDir=").append(hosting.dataDirectory(id)).append('\n');
        text.append("secureClientPortAddress=127.0.0.1\n");
        text.append("admin.serverAddress=127.0.0.1\n");
        text.append("admin.serverPort=").append(hosting.address(id).adminPort()).append('\n');
        List<String> adminServers = new ArrayList<>();
        for (int other : SERVERS) {
            String peer = hosting.address(other).peer().replace("127.0.0.1", "localhost");
            text.append("server.").append(other).append('=').append(peer).append('\n');
            adminServers.add(other + "=localhost:" + hosting.address(other).adminPort());
        }
        text.append("saucr.adminServers=").append(String.join(",", adminServers)).append('\n');
        return text.toString();
    }

    /** With the reader's own values, on the machine of this server. */
    private static String onMachine(int id, String text) {
        Map<String, String> places = new LinkedHashMap<>();
        places.put("/etc/zookeeper", etc(id).toString());
        places.put("secureClientPort=2281", "secureClientPort=" + hosting.address(id).clientPort());
        places.put("install -m 600 zk1.pem", "install -m 600 zk" + id + ".pem");
        for (int other : SERVERS) {
            ServerAddress address = hosting.address(other);
            places.put("zk" + other + ".example:2281", "localhost:" + address.clientPort());
            places.put("zk" + other + ".example:8080", "localhost:" + address.adminPort());
            places.put("zk" + other + ".example", "localhost");
        }
        String result = text;
        for (Map.Entry<String, String> place : places.entrySet()) {
            result = result.replace(place.getKey(), place.getValue());
        }
        return result;
    }

    // ---- The page ----

    /** The only block of this language that has these words. */
    private static String block(String language, String words) {
        List<Block> found =
                page.stream()
                        .filter(
                                block ->
                                        block.language().equals(language)
                                                && block.text().contains(words))
                        .toList();
        assertThat(found).as("blocks with '%s'", words).hasSize(1);
        used.addAll(found);
        return found.get(0).text();
    }

    /** Writes a block of the page into the zoo.cfg of every server. */
    private static void configure(String words) throws IOException {
        for (int id : SERVERS) {
            append(conf(id).resolve("zoo.cfg"), onMachine(id, block("properties", words)));
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static void append(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** A client's file, made of Alice's. */
    private static void clientFile(String name) throws IOException {
        write(
                work().resolve(name + ".properties"),
                block("properties", "alice.pem").replace("alice", name));
    }

    // ---- Commands ----

    /** On the machine of a client. */
    private static Shell.Result typed(String command) throws IOException, InterruptedException {
        return shell.run(work(), variables(clientConf()), onMachine(1, command));
    }

    private static String accepted(String command) throws IOException, InterruptedException {
        Shell.Result result = typed(command);
        assertThat(result.status()).as("%s%n%s", command, result.output()).isZero();
        return result.output();
    }

    private static String refused(String command) throws IOException, InterruptedException {
        Shell.Result result = typed(command);
        assertThat(result.status()).as("%s%n%s", command, result.output()).isNotZero();
        return result.output();
    }

    /** On the machine of a server. */
    private static Shell.Result onServer(int id, String command)
            throws IOException, InterruptedException {
        Map<String, String> variables = variables(conf(id));
        variables.put("ZOOPIDFILE", pidFile(id).toString());
        variables.put("ZOO_LOG_DIR", log(id).getParent().toString());
        variables.put("ZOO_LOG_FILE", log(id).getFileName().toString());
        variables.put("JMXDISABLE", "true");
        return shell.run(work(), variables, onMachine(id, command));
    }

    private static Map<String, String> variables(Path conf) {
        Map<String, String> variables = new HashMap<>();
        Path java = Path.of(System.getProperty("java.home"));
        variables.put("JAVA_HOME", java.toString());
        variables.put("PATH", java.resolve("bin") + ":" + System.getenv("PATH"));
        variables.put("ZOOCFGDIR", conf.toString());
        variables.put("ZK_SERVER_HEAP", "128");
        variables.put("JVMFLAGS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto");
        return variables;
    }

    private static void onEach(List<Integer> ids, String command) throws Exception {
        List<Callable<Shell.Result>> calls = new ArrayList<>();
        for (int id : ids) {
            calls.add(() -> onServer(id, command));
        }
        ExecutorService threads = Executors.newFixedThreadPool(ids.size());
        try {
            for (Future<Shell.Result> call : threads.invokeAll(calls)) {
                Shell.Result result = call.get();
                assertThat(result.status()).as("%s%n%s", command, result.output()).isZero();
            }
        } finally {
            threads.shutdown();
        }
    }

    private static void awaitLogged(int id, String words) {
        SaucrEnsemble.await(
                "'" + words + "' in the log of server " + id,
                () -> Files.exists(log(id)) && Files.readString(log(id)).contains(words));
    }

    // ---- The guide, step by step ----

    @Test
    @Order(1)
    void keys() throws Exception {
        accepted(block("sh", "umask 077"));
        for (int id : SERVERS) {
            accepted("cd tls && " + onMachine(id, block("sh", "install -m 600")));
            assertThat(etc(id).resolve("tls/server.pem"))
                    .hasSameTextualContentAs(work().resolve("tls/zk" + id + ".pem"));
        }
        // Nobody has signed this one.
        accepted(
                "cd tls && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
                        + " -days 2 -subj /CN=admin -addext subjectAltName=DNS:localhost"
                        + " -keyout unsigned.key -out unsigned.crt"
                        + " && cat unsigned.key unsigned.crt > unsigned.pem");
    }

    @Test
    @Order(2)
    void aServerWhoseKeyNobodySignedIsNotLetIn() throws Exception {
        configure("sslQuorum=true");
        configure("secureClientPort=2281");
        configure("X509AuthenticationProvider.superUser");
        configure("DigestAuthenticationProvider.superDigest");
        configure("admin.forceHttps=true");
        for (int id : SERVERS) {
            append(
                    conf(id).resolve("java.env"),
                    onMachine(id, block("sh", "zookeeper.client.secure=true")));
        }
        accepted("cp tls/unsigned.pem " + etc(STRANGER).resolve("tls/server.pem"));
        onEach(SERVERS, "bin/zkServer.sh start");
        onEach(List.of(1, 2), "bin/zkServer.sh await 120");
        awaitLogged(STRANGER, "SSLHandshakeException");
        awaitLogged(1, "SSLHandshakeException");
        assertThat(onServer(STRANGER, "bin/zkServer.sh status").output()).doesNotContain("Mode: ");
        onEach(List.of(STRANGER), "bin/zkServer.sh stop");
        accepted("cp tls/zk3.pem " + etc(STRANGER).resolve("tls/server.pem"));
        onEach(List.of(STRANGER), "bin/zkServer.sh start");
        onEach(SERVERS, "bin/zkServer.sh await 120");
        for (int id : SERVERS) {
            assertThat(Files.readString(log(id))).doesNotContain("ports between servers are open");
        }
    }

    @Test
    @Order(3)
    void clientsNeedASignedKey() throws Exception {
        for (String name : List.of("alice", "bob", "admin", "unsigned")) {
            clientFile(name);
        }
        String ls = block("sh", "zk1.example:2281,zk2.example:2281 ls /");
        assertThat(accepted(ls)).contains("[zookeeper]");
        assertThat(refused(ls.replace("alice.properties", "unsigned.properties")))
                .contains("ConnectionLoss")
                .doesNotContain("[zookeeper]");
        assertThat(refused(ls.replace("-client-configuration ./alice.properties", "")))
                .contains("ConnectionLoss")
                .doesNotContain("[zookeeper]");
    }

    @Test
    @Order(4)
    void permissions() throws Exception {
        assertThat(accepted(block("sh", "create /orders confidential")))
                .contains("Created /orders");
        String mayNot = block("sh", "get /orders    # refused");
        assertThat(mayNot).contains(REFUSED);
        assertThat(refused(mayNot))
                .contains("Insufficient permission")
                .doesNotContain("confidential");
        assertThat(accepted(block("sh", "alice.properties -server zk1.example:2281 get /orders")))
                .contains("confidential");

        assertThat(accepted(block("sh", "addauth digest carol")))
                .contains("Created /bills", "'digest,'carol:", "'x509,'CN=bob");
        assertThat(accepted(block("sh", "getAcl /orders"))).contains("'x509,'CN=alice");
        String digest = accepted(block("sh", "DigestAuthenticationProvider super:super-secret"));
        assertThat(digest.trim()).endsWith("->" + superDigest());
        String byPassword = block("sh", "addauth digest super:super-secret");
        assertThat(accepted(byPassword)).contains("confidential");
        assertThat(refused(byPassword.replace("super-secret", "guessed")))
                .contains("Insufficient permission")
                .doesNotContain("confidential");

        accepted(block("sh", "setAcl /"));
        String stranger =
                "printf '%s\\n' 'addauth digest carol:guessed' 'get /bills' 'set /bills mine'"
                        + " 'create /mine' 'delete /orders' | bin/zkCli.sh"
                        + " -client-configuration ./alice.properties -server zk1.example:2281";
        String answers = refused(stranger);
        assertThat(answers).doesNotContain("confidential");
        assertThat(answers.split("Insufficient permission", -1)).hasSize(1 + 4);
    }

    private static String superDigest() {
        return block("properties", "superDigest").replaceFirst("(?s)^.*superDigest=", "").trim();
    }

    @Test
    @Order(5)
    void orders() throws Exception {
        String question = block("sh", "--cert tls/alice.pem https");
        assertThat(accepted(question)).contains("\"role\"");
        for (String instead : List.of("", "--cert tls/unsigned.pem")) {
            assertThat(refused(question.replace("--cert tls/alice.pem", instead)))
                    .doesNotContain("\"role\"");
        }
        assertThat(refused(question.replace("https", "http"))).doesNotContain("\"role\"");
        assertThat(accepted(question.replace("/saucr", "/saucr/ensemble")))
                .as("every server is asked with the key of the one that asks")
                .doesNotContain("\"error\" : \"", "\"warning\"")
                .contains("\"role\" : \"leading\"")
                .satisfies(answer -> assertThat(answer.split("\"role\"", -1)).hasSize(1 + 3));

        String flush = block("sh", "--cert tls/admin.pem -X POST");
        assertThat(accepted(flush)).contains("on disk through");
        String mayNot = block("sh", "--cert tls/alice.pem -X POST");
        assertThat(mayNot).contains(REFUSED);
        for (String order : List.of("flush", "pin", "unpin")) {
            assertThat(typed(mayNot.replace("saucr/flush", "saucr/" + order)).output())
                    .contains("Not authorized");
        }
        assertThat(accepted(question)).containsPattern("\"pinnedSlow\" : null");
        String byPassword = "Authorization: digest super:super-secret";
        assertThat(Files.readString(ROOT.resolve("docs/operate/security.md"))).contains(byPassword);
        assertThat(accepted(mayNot.replace("Authorization: x509", byPassword)))
                .contains("on disk through");
    }

    @Test
    @Order(6)
    void clientsNeedAPassword() throws Exception {
        configure("enforce.auth.schemes=sasl");
        configure("quorum.auth.enableSasl=true");
        String logins = block("jaas", "user_alice") + block("jaas", "QuorumLearner");
        for (int id : SERVERS) {
            append(
                    conf(id).resolve("java.env"),
                    onMachine(id, block("sh", "java.security.auth.login.config=/etc")));
            String own = "username=\"peer\" password=\"peer-secret\"";
            assertThat(logins).contains(own);
            write(
                    etc(id).resolve("server.jaas"),
                    id == STRANGER ? logins.replace(own, own.replace("secret", "guess")) : logins);
        }
        onEach(SERVERS, "bin/zkServer.sh restart");
        onEach(List.of(1, 2), "bin/zkServer.sh await 120");

        append(work().resolve("alice.properties"), "zookeeper.fips-mode=false\n");
        write(work().resolve("alice.jaas"), block("jaas", "username=\"alice\""));
        String create = block("sh", "create /orders/1");
        assertThat(accepted(create)).contains("Created /orders/1");
        String get = create.replaceFirst("create /orders/1.*", "get /orders/1");
        assertThat(accepted(get)).contains("confidential");
        write(
                work().resolve("alice.jaas"),
                block("jaas", "username=\"alice\"").replace("alice-secret", "guessed"));
        assertThat(refused(get)).contains("AuthFailed").doesNotContain("confidential");
        assertThat(refused(get.replaceFirst("export CLIENT_JVMFLAGS.*\n", "")))
                .contains("Session closed because client failed to authenticate")
                .doesNotContain("confidential");
        // Who may log in is not yet who may read.
        write(
                work().resolve("alice.jaas"),
                block("jaas", "username=\"alice\"").replace("alice", "bob"));
        assertThat(refused(get)).contains("Insufficient permission").doesNotContain("confidential");
    }

    @Test
    @Order(7)
    void serversNeedAPassword() throws Exception {
        awaitLogged(1, "SaslException");
        assertThat(onServer(STRANGER, "bin/zkServer.sh status").output()).doesNotContain("Mode: ");
        Files.copy(
                etc(1).resolve("server.jaas"),
                etc(STRANGER).resolve("server.jaas"),
                StandardCopyOption.REPLACE_EXISTING);
        onEach(List.of(STRANGER), "bin/zkServer.sh restart");
        onEach(List.of(STRANGER), "bin/zkServer.sh await 120");
    }

    @Test
    @Order(8)
    void nothingElseIsOnThePage() {
        assertThat(page).hasSizeGreaterThan(20).containsExactlyInAnyOrderElementsOf(used);
    }
}
