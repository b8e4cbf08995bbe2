package io.saucr.server.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.saucr.core.quorum.Quorums;
import io.saucr.server.config.ParsedProperties;
import io.saucr.server.config.SaucrSettings;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the manifests that the chart of {@code packaging/kubernetes} makes must say so that an
 * ensemble serves, stays fast and loses nothing: names, ports and numbers that stand in several
 * places, and what SAUCR needs of a node. Their form is the subject of PackagingLintIT.
 */
class ManifestsTest {
    private static final Path PROJECT = Path.of("").toAbsolutePath().getParent();
    private static final Path FOLDER = PROJECT.resolve("packaging/kubernetes");

    /** Those that the chart makes by default, by kind and name. */
    private static final Map<String, JsonNode> manifests = new TreeMap<>();

    /** The same of an ensemble with everything that the chart can make. */
    private static final Map<String, JsonNode> all = new TreeMap<>();

    private static JsonNode set;
    private static JsonNode pod;
    private static JsonNode container;
    private static Properties config;

    @TempDir Path folder;

    @BeforeAll
    static void read() throws Exception {
        manifests.putAll(manifests("three"));
        all.putAll(manifests("all"));
        set = manifests.get("StatefulSet zookeeper").path("spec");
        pod = set.path("template").path("spec");
        assertThat(pod.path("containers")).hasSize(1);
        container = pod.path("containers").get(0);
        config = new Properties();
        config.load(new StringReader(configuration("three")));
    }

    /**
     * All documents of a file that the chart has made, by kind and name.
     *
     * @param values name of the file of values, such as three
     */
    static Map<String, JsonNode> manifests(String values) throws Exception {
        Map<String, JsonNode> found = new TreeMap<>();
        try (MappingIterator<JsonNode> documents =
                new YAMLMapper()
                        .readerFor(JsonNode.class)
                        .readValues(FOLDER.resolve("rendered/" + values + ".yaml").toFile())) {
            while (documents.hasNext()) {
                JsonNode document = documents.next();
                String name =
                        document.path("kind").asText()
                                + " "
                                + document.path("metadata").path("name").asText();
                assertThat(found.put(name, document)).as(name).isNull();
            }
        }
        return found;
    }

    /** The file {@code zoo.cfg} of the ConfigMap. */
    static String configuration(String values) throws Exception {
        return manifests(values).get("ConfigMap zookeeper").path("data").path("zoo.cfg").asText();
    }

    /** Variables of the server's container, or of a Job's. */
    static Map<String, String> variables(String values, String object) throws Exception {
        JsonNode containers = manifests(values).get(object).at("/spec/template/spec/containers");
        Map<String, String> variables = new TreeMap<>();
        each(containers.get(0).path("env"))
                .forEach(
                        each ->
                                variables.put(
                                        each.path("name").asText(), each.path("value").asText()));
        return variables;
    }

    /** What the entry point of the server's container, or of a Job's, gets as its command. */
    static List<String> command(String values, String object) throws Exception {
        JsonNode containers = manifests(values).get(object).at("/spec/template/spec/containers");
        return each(containers.get(0).path("args")).map(JsonNode::asText).toList();
    }

    /** The path that a probe of the container asks for; its port is the AdminServer's. */
    static String path(String probe) throws Exception {
        JsonNode containers =
                manifests("three")
                        .get("StatefulSet zookeeper")
                        .at("/spec/template/spec/containers");
        JsonNode asked = containers.get(0).path(probe).path("httpGet");
        assertThat(asked.path("port").asText()).isEqualTo("admin");
        return asked.path("path").asText();
    }

    private static Stream<JsonNode> each(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }

    /** The one element of a list that has this name. */
    private static JsonNode named(JsonNode list, String name) {
        List<JsonNode> found =
                each(list).filter(node -> node.path("name").asText().equals(name)).toList();
        assertThat(found).as(name).hasSize(1);
        return found.get(0);
    }

    private static JsonNode service(String name) {
        return manifests.get("Service " + name).path("spec");
    }

    /**
     * {@code packaging/kubernetes/render} writes the hash of what it has read: the files of the
     * chart, in their order, and the values.
     */
    @ParameterizedTest
    @ValueSource(strings = {"three", "five", "all"})
    void theManifestsAreMadeOfThisChart(String values) throws Exception {
        StringBuilder list = new StringBuilder();
        try (Stream<Path> files = Files.walk(FOLDER.resolve("chart"))) {
            for (Path file :
                    Stream.concat(
                                    files.filter(Files::isRegularFile)
                                            .sorted(
                                                    Comparator.comparing(
                                                            f -> FOLDER.relativize(f).toString())),
                                    Stream.of(FOLDER.resolve("values/" + values + ".yaml")))
                            .toList()) {
                list.append(sha256(Files.readAllBytes(file)))
                        .append("  ")
                        .append(FOLDER.relativize(file))
                        .append('\n');
            }
        }
        String first = Files.readAllLines(FOLDER.resolve("rendered/" + values + ".yaml")).get(0);
        assertThat(first)
                .as("packaging/kubernetes/render makes it anew")
                .isEqualTo("# " + sha256(list.toString().getBytes(UTF_8)));
    }

    private static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    @Test
    void thereIsOneOfEach() throws Exception {
        assertThat(manifests.keySet())
                .containsExactly(
                        "ConfigMap zookeeper",
                        "PodDisruptionBudget zookeeper",
                        "Service zookeeper",
                        "Service zookeeper-servers",
                        "StatefulSet zookeeper");
        assertThat(manifests("five").keySet()).isEqualTo(manifests.keySet());
        assertThat(all.keySet())
                .containsExactly(
                        "Certificate zookeeper",
                        "ConfigMap zookeeper",
                        "Job zookeeper-scale-down",
                        "Job zookeeper-scale-up",
                        "NetworkPolicy zookeeper",
                        "PodDisruptionBudget zookeeper",
                        "Service zookeeper",
                        "Service zookeeper-servers",
                        "ServiceMonitor zookeeper",
                        "StatefulSet zookeeper");
    }

    @Test
    void everySelectorFindsThePods() {
        JsonNode labels = set.path("template").path("metadata").path("labels");
        assertThat(labels).isNotEmpty();
        assertThat(set.path("selector").path("matchLabels")).isEqualTo(labels);
        assertThat(service("zookeeper").path("selector")).isEqualTo(labels);
        assertThat(service("zookeeper-servers").path("selector")).isEqualTo(labels);
        JsonNode budget = manifests.get("PodDisruptionBudget zookeeper").path("spec");
        assertThat(budget.path("selector").path("matchLabels")).isEqualTo(labels);
        each(pod.path("topologySpreadConstraints"))
                .forEach(
                        spread ->
                                assertThat(spread.path("labelSelector").path("matchLabels"))
                                        .isEqualTo(labels));
    }

    @Test
    void thePodsRefuseEachOthersNodes() {
        JsonNode rules =
                pod.path("affinity")
                        .path("podAntiAffinity")
                        .path("requiredDuringSchedulingIgnoredDuringExecution");
        assertThat(rules).hasSize(1);
        assertThat(rules.get(0).path("topologyKey").asText()).isEqualTo("kubernetes.io/hostname");
        assertThat(rules.get(0).path("labelSelector")).isEqualTo(set.path("selector"));
    }

    @Test
    void softAntiAffinityPrefersOtherNodes() {
        JsonNode rules =
                all.get("StatefulSet zookeeper").at("/spec/template/spec/affinity/podAntiAffinity");
        assertThat(rules.has("requiredDuringSchedulingIgnoredDuringExecution")).isFalse();
        JsonNode term =
                rules.path("preferredDuringSchedulingIgnoredDuringExecution")
                        .path(0)
                        .path("podAffinityTerm");
        assertThat(term.path("topologyKey").asText()).isEqualTo("kubernetes.io/hostname");
        assertThat(term.path("labelSelector"))
                .isEqualTo(all.get("StatefulSet zookeeper").at("/spec/selector"));
    }

    @Test
    void aPlannedOutageLeavesAMajority() throws Exception {
        for (String values : List.of("three", "five", "all")) {
            JsonNode budget = manifests(values).get("PodDisruptionBudget zookeeper").path("spec");
            assertThat(budget.path("maxUnavailable").asInt()).isEqualTo(1);
        }
        int replicas = set.path("replicas").asInt();
        assertThat(replicas).isEqualTo(3);
        assertThat(replicas - 1).isGreaterThanOrEqualTo(Quorums.bareMajority(replicas));
        // Else a server that waits for a quorum, and so is not ready, would keep the others away.
        assertThat(set.path("podManagementPolicy").asText()).isEqualTo("Parallel");
        assertThat(set.path("updateStrategy").path("type").asText()).isEqualTo("RollingUpdate");
        assertThat(set.path("minReadySeconds").asInt()).isPositive();
    }

    /** The size at the beginning, and the size now. */
    @ParameterizedTest
    @CsvSource({"three, 3, 3", "five, 5, 5", "all, 3, 5"})
    void theValuesChooseTheSize(String values, String initial, int replicas) throws Exception {
        JsonNode made = manifests(values).get("StatefulSet zookeeper");
        assertThat(made.at("/spec/replicas").asInt()).isEqualTo(replicas);
        assertThat(variables(values, "StatefulSet zookeeper"))
                .containsEntry("POD_INITIAL_SERVERS", initial);
        assertThat(command(values, "StatefulSet zookeeper")).containsExactly("pod.sh", "start");
    }

    /** Members leave before their pods do, and join after their pods are there. */
    @Test
    void theJobsChangeTheMembersInTheRightOrder() throws Exception {
        for (String[] each :
                new String[][] {
                    {"scale-down", "pre-upgrade"}, {"scale-up", "post-install,post-upgrade"}
                }) {
            String name = "Job zookeeper-" + each[0];
            JsonNode job = all.get(name);
            assertThat(job.path("metadata").path("annotations").path("helm.sh/hook").asText())
                    .isEqualTo(each[1]);
            assertThat(command("all", name)).containsExactly("pod.sh", each[0], "5");
            Map<String, String> variables = variables("all", name);
            assertThat(variables("all", "StatefulSet zookeeper")).containsAllEntriesOf(variables);
            JsonNode spec = job.at("/spec/template/spec");
            JsonNode server = all.get("StatefulSet zookeeper").at("/spec/template/spec");
            assertThat(spec.path("containers").get(0).path("image"))
                    .isEqualTo(server.path("containers").get(0).path("image"));
            assertThat(spec.path("securityContext")).isEqualTo(server.path("securityContext"));
            // A Service must not take a Job's pod for a server.
            assertThat(job.at("/spec/template/metadata/labels"))
                    .isNotEqualTo(
                            all.get("StatefulSet zookeeper").at("/spec/selector/matchLabels"));
        }
    }

    @Test
    void everyPodHasAName() throws Exception {
        String headless = set.path("serviceName").asText();
        assertThat(variables("three", "StatefulSet zookeeper").get("POD_MEMBER"))
                .isEqualTo(
                        "server.{id}=zookeeper-{ordinal}.%s:%s:%s"
                                .formatted(headless, port("quorum"), port("election")));
        // The members are in the volumes, and change there.
        assertThat(config.stringPropertyNames())
                .noneMatch(key -> key.matches("server\\..*|dynamicConfigFile|peerType"));
        assertThat(service(headless).path("clusterIP").asText()).isEqualTo("None");
        assertThat(service(headless).path("publishNotReadyAddresses").asBoolean()).isTrue();
        assertThat(config.getProperty("quorumListenOnAllIPs")).isEqualTo("true");
        assertThat(config.getProperty("reconfigEnabled")).isEqualTo("true");
        assertThat(config.getProperty("standaloneEnabled")).isEqualTo("false");
    }

    private static String port(String name) {
        return named(container.path("ports"), name).path("containerPort").asText();
    }

    @Test
    void thePortsAreThoseOfTheConfiguration() throws Exception {
        assertThat(port("client")).isEqualTo(config.getProperty("clientPort"));
        assertThat(variables("three", "StatefulSet zookeeper"))
                .containsEntry("POD_CLIENT_PORT", port("client"));
        assertThat(port("metrics")).isEqualTo(config.getProperty("metricsProvider.httpPort"));
        assertThat(port("admin")).isEqualTo(config.getProperty("admin.serverPort"));
        for (String service : List.of("zookeeper", "zookeeper-servers")) {
            each(service(service).path("ports"))
                    .forEach(
                            open -> {
                                String target = open.path("targetPort").asText();
                                assertThat(open.path("port").asText()).isEqualTo(port(target));
                                assertThat(open.path("name").asText()).isEqualTo(target);
                            });
        }
        assertThat(each(service("zookeeper").path("ports"))).hasSize(1);
        assertThat(each(service("zookeeper-servers").path("ports"))).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"three", "five", "all"})
    void theServerAcceptsTheConfiguration(String values) throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        Path stores = Files.createDirectories(folder.resolve("tls"));
        Files.writeString(stores.resolve("server.pem"), "key");
        Files.writeString(stores.resolve("authority.pem"), "certificate");
        Files.writeString(data.resolve("myid"), "1\n");
        StringBuilder text =
                new StringBuilder(
                        configuration(values)
                                .replace("dataDir=/data", "dataDir=" + data)
                                .replace("dataLogDir=/datalog", "dataLogDir=" + data)
                                .replace("=/tls/", "=" + stores + "/"));
        int initial =
                Integer.parseInt(
                        variables(values, "StatefulSet zookeeper").get("POD_INITIAL_SERVERS"));
        for (int id = 1; id <= initial; id++) {
            text.append("\nserver.%d=127.0.0.1%d:2888:3888".formatted(id, id));
        }
        QuorumPeerConfig parsed = new QuorumPeerConfig();
        parsed.parse(Files.writeString(folder.resolve("zoo.cfg"), text).toString());
        SaucrSettings settings = SaucrSettings.parse("zoo.cfg", System.getProperties());
        assertThat(settings.enabled()).isTrue();
        assertThat(config.getProperty("saucr.ensembleName")).isEqualTo("zookeeper");
        assertThat(parsed.getQuorumVerifier().getVotingMembers()).hasSize(initial);
    }

    @AfterEach
    void forgetProperties() {
        ParsedProperties.forget();
    }

    @Test
    void aServerIsReadyWhenItServesAndIsEndedOnlyWhenItDoesNotAnswer() throws Exception {
        assertThat(path("readinessProbe")).isEqualTo("/readyz");
        assertThat(path("livenessProbe")).isEqualTo("/livez");
        assertThat(path("startupProbe")).isEqualTo("/livez");
        assertThat(named(container.path("ports"), "admin").path("containerPort").asText())
                .isEqualTo(config.getProperty("admin.serverPort"));
        JsonNode start = container.path("startupProbe");
        assertThat(start.path("periodSeconds").asInt() * start.path("failureThreshold").asInt())
                .as("seconds to load a large tree")
                .isGreaterThanOrEqualTo(3600);
    }

    @Test
    void whatAServerKeepsIsOnAVolumeThatStays() {
        assertThat(config.getProperty("dataLogDir")).isNull();
        JsonNode mount = named(container.path("volumeMounts"), "data");
        assertThat(mount.path("mountPath").asText()).isEqualTo(config.getProperty("dataDir"));
        assertThat(set.path("volumeClaimTemplates")).hasSize(1);
        JsonNode claim = set.path("volumeClaimTemplates").get(0);
        assertThat(claim.path("metadata").path("name").asText()).isEqualTo("data");
        assertThat(each(pod.path("volumes")).map(volume -> volume.path("name").asText()))
                .doesNotContain("data");
        JsonNode retention = set.path("persistentVolumeClaimRetentionPolicy");
        assertThat(retention.path("whenDeleted").asText()).isEqualTo("Retain");
        assertThat(retention.path("whenScaled").asText()).isEqualTo("Retain");
        assertThat(pod.path("terminationGracePeriodSeconds").asInt()).isGreaterThanOrEqualTo(60);
    }

    /** The log may have a volume of its own, and nothing else is written outside of /data. */
    @Test
    void theLogMayHaveAVolumeOfItsOwn() throws Exception {
        JsonNode made = all.get("StatefulSet zookeeper").path("spec");
        assertThat(configuration("all")).contains("\ndataLogDir=/datalog\n");
        JsonNode mounts = made.at("/template/spec/containers/0/volumeMounts");
        assertThat(named(mounts, "datalog").path("mountPath").asText()).isEqualTo("/datalog");
        assertThat(
                        each(made.path("volumeClaimTemplates"))
                                .map(c -> c.at("/metadata/name").asText()))
                .containsExactly("data", "datalog");
    }

    /** The server stops sending clients here, hands over and syncs, before it is killed. */
    @Test
    void thereIsTimeToDrain() {
        JsonNode drain = container.at("/lifecycle/preStop/exec/command");
        assertThat(drain.get(0).asText()).isEqualTo("sleep");
        assertThat(pod.path("terminationGracePeriodSeconds").asInt() - drain.get(1).asInt())
                .isGreaterThanOrEqualTo(60);
    }

    /** The stores of zoo.cfg are what pod.sh makes of the Secret that cert-manager writes. */
    @Test
    void theStoresAreThoseOfTheSecret() throws Exception {
        JsonNode certificate = all.get("Certificate zookeeper").path("spec");
        JsonNode tlsPod = all.get("StatefulSet zookeeper").at("/spec/template/spec");
        assertThat(named(tlsPod.path("volumes"), "tls-secret").at("/secret/secretName"))
                .isEqualTo(certificate.path("secretName"));
        JsonNode mounts = tlsPod.at("/containers/0/volumeMounts");
        assertThat(named(mounts, "tls-secret").path("mountPath").asText()).isEqualTo("/tls-secret");
        assertThat(named(mounts, "tls").path("mountPath").asText()).isEqualTo("/tls");
        assertThat(named(tlsPod.path("volumes"), "tls").at("/emptyDir/medium").asText())
                .isEqualTo("Memory");
        assertThat(certificate.at("/privateKey/encoding").asText()).isEqualTo("PKCS8");
        Properties stores = new Properties();
        stores.load(new StringReader(configuration("all")));
        for (String prefix : List.of("ssl.", "ssl.quorum.")) {
            assertThat(stores.getProperty(prefix + "keyStore.location"))
                    .isEqualTo("/tls/server.pem");
            assertThat(stores.getProperty(prefix + "trustStore.location"))
                    .isEqualTo("/tls/authority.pem");
        }
        assertThat(stores.getProperty("sslQuorum")).isEqualTo("true");
        assertThat(stores.getProperty("sslQuorumReloadCertFiles")).isEqualTo("true");
        assertThat(stores.getProperty("client.certReload")).isEqualTo("true");
        // Clients without TLS have no port.
        Map<String, String> variables = variables("all", "StatefulSet zookeeper");
        assertThat(stores.getProperty("clientPort")).isNull();
        assertThat(variables.get("POD_TLS_SECRET")).isEqualTo("/tls-secret");
        assertThat(variables.get("POD_CLIENT_PORT"))
                .isEqualTo(stores.getProperty("secureClientPort"))
                .isEqualTo(
                        named(tlsPod.at("/containers/0/ports"), "client")
                                .path("containerPort")
                                .asText())
                .isEqualTo(all.get("Service zookeeper").at("/spec/ports/0/port").asText());
        // A peer is verified by the name in its line.
        assertThat(each(certificate.path("dnsNames")).map(JsonNode::asText))
                .contains("*.zookeeper-servers", "zookeeper.default.svc.cluster.local");
    }

    /** Only the ports of clients and of metrics are open to others. */
    @Test
    void theNetworkPolicyLetsClientsInAndNobodyElse() {
        JsonNode rules = all.get("NetworkPolicy zookeeper").at("/spec/ingress");
        assertThat(rules).hasSize(3);
        JsonNode within = rules.get(0).at("/from/0/podSelector/matchLabels");
        assertThat(within.path("app.kubernetes.io/instance").asText()).isEqualTo("zookeeper");
        for (String name : List.of("Job zookeeper-scale-up", "StatefulSet zookeeper")) {
            JsonNode labels = all.get(name).at("/spec/template/metadata/labels");
            within.fields()
                    .forEachRemaining(
                            label ->
                                    assertThat(labels.get(label.getKey()))
                                            .isEqualTo(label.getValue()));
        }
        assertThat(rules.get(1).at("/ports")).hasSize(1);
        assertThat(rules.get(1).at("/ports/0/port").asText()).isEqualTo("client");
        assertThat(rules.get(2).at("/ports")).hasSize(1);
        assertThat(rules.get(2).at("/ports/0/port").asText()).isEqualTo("metrics");
    }

    @Test
    void theHeapFitsAndTheProcessorIsNotLimited() {
        JsonNode limits = container.path("resources").path("limits");
        assertThat(limits.has("cpu")).isFalse();
        int heap =
                Integer.parseInt(
                        named(container.path("env"), "ZK_SERVER_HEAP").path("value").asText());
        Matcher memory = Pattern.compile("(\\d+)Gi").matcher(limits.path("memory").asText());
        assertThat(memory.matches()).isTrue();
        assertThat(Integer.parseInt(memory.group(1)) * 1024).isGreaterThanOrEqualTo(heap * 3 / 2);
        assertThat(limits.path("memory"))
                .isEqualTo(container.path("resources").path("requests").path("memory"));
    }

    @Test
    void theImageIsThatOfTheDockerfile() throws Exception {
        String dockerfile = Files.readString(PROJECT.resolve("packaging/docker/Dockerfile"));
        String version = version();
        assertThat(container.path("image").asText()).isEqualTo("saucr-zookeeper:" + version);
        JsonNode security = pod.path("securityContext");
        String user = security.path("runAsUser").asText();
        assertThat(security.path("runAsNonRoot").asBoolean()).isTrue();
        assertThat(security.path("fsGroup").asText()).isEqualTo(user);
        assertThat(dockerfile)
                .contains("USER " + user + ":" + security.path("runAsGroup").asText() + "\n")
                .contains("ARG VERSION=" + version + "\n")
                .contains("-t saucr-zookeeper:" + version)
                .contains("WORKDIR /opt/saucr-zookeeper\n");
        for (String name : List.of("client", "quorum", "election", "admin")) {
            assertThat(dockerfile).containsPattern("EXPOSE .*\\b" + port(name) + "\\b");
        }
        // The root of the container is read-only; what is written has a volume.
        assertThat(container.path("securityContext").path("readOnlyRootFilesystem").asBoolean())
                .isTrue();
        assertThat(named(container.path("volumeMounts"), "logs").path("mountPath").asText())
                .isEqualTo("/logs");
        assertThat(named(container.path("volumeMounts"), "config").path("mountPath").asText())
                .isEqualTo("/config");
        assertThat(named(container.path("volumeMounts"), "tmp").path("mountPath").asText())
                .isEqualTo("/tmp");
        assertThat(FOLDER.resolve("backup.yaml"))
                .content()
                .contains("image: saucr-zookeeper:" + version + "\n");
        String chart = Files.readString(FOLDER.resolve("chart/Chart.yaml"));
        assertThat(chart)
                .contains("\nversion: " + version + "\n", "\nappVersion: " + version + "\n");
    }

    /** Of the project. */
    private static String version() throws Exception {
        Matcher version =
                Pattern.compile("<artifactId>saucr-zookeeper</artifactId>\\s*<version>(.*?)<")
                        .matcher(Files.readString(PROJECT.resolve("pom.xml")));
        assertThat(version.find()).isTrue();
        return version.group(1);
    }
}
