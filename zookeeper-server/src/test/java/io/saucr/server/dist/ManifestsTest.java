package io.saucr.server.dist;

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

/**
 * What the manifests of {@code packaging/kubernetes} must say so that an ensemble serves, stays
 * fast and loses nothing: names, ports and numbers that stand in several places, and what SAUCR
 * needs of a node. Their form is the subject of PackagingLintIT.
 */
class ManifestsTest {
    private static final Path PROJECT = Path.of("").toAbsolutePath().getParent();
    private static final Path FOLDER = PROJECT.resolve("packaging/kubernetes");
    private static final Pattern SERVER = Pattern.compile("([^:]+):(\\d+):(\\d+)");

    /** By kind and name. */
    private static final Map<String, JsonNode> manifests = new TreeMap<>();

    private static JsonNode set;
    private static JsonNode pod;
    private static JsonNode container;
    private static Properties config;

    @TempDir Path folder;

    @BeforeAll
    static void read() throws Exception {
        manifests.putAll(manifests());
        set = manifests.get("StatefulSet zookeeper").path("spec");
        pod = set.path("template").path("spec");
        assertThat(pod.path("containers")).hasSize(1);
        container = pod.path("containers").get(0);
        config = new Properties();
        config.load(new StringReader(configuration()));
    }

    /** All documents of all files, by kind and name. */
    static Map<String, JsonNode> manifests() throws Exception {
        Map<String, JsonNode> found = new TreeMap<>();
        List<Path> files;
        try (Stream<Path> entries = Files.list(FOLDER)) {
            files = entries.sorted().toList();
        }
        for (Path file : files) {
            YAMLMapper mapper = new YAMLMapper();
            try (MappingIterator<JsonNode> documents =
                    mapper.readerFor(JsonNode.class).readValues(file.toFile())) {
                while (documents.hasNext()) {
                    JsonNode document = documents.next();
                    String name =
                            document.path("kind").asText()
                                    + " "
                                    + document.path("metadata").path("name").asText();
                    assertThat(found.put(name, document)).as(name).isNull();
                }
            }
        }
        return found;
    }

    /** The file {@code zoo.cfg} of the ConfigMap. */
    static String configuration() throws Exception {
        return manifests().get("ConfigMap zookeeper").path("data").path("zoo.cfg").asText();
    }

    /** The path that a probe of the container asks for; its port is the AdminServer's. */
    static String path(String probe) throws Exception {
        JsonNode containers =
                manifests().get("StatefulSet zookeeper").at("/spec/template/spec/containers");
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

    @Test
    void thereIsOneOfEach() {
        assertThat(manifests.keySet())
                .containsExactly(
                        "ConfigMap zookeeper",
                        "PodDisruptionBudget zookeeper",
                        "Service zookeeper",
                        "Service zookeeper-servers",
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
    void aPlannedOutageLeavesAMajority() {
        int replicas = set.path("replicas").asInt();
        JsonNode budget = manifests.get("PodDisruptionBudget zookeeper").path("spec");
        assertThat(budget.path("maxUnavailable").asInt()).isEqualTo(1);
        assertThat(replicas - 1).isGreaterThanOrEqualTo(Quorums.bareMajority(replicas));
        // Else a server that waits for a quorum, and so is not ready, would keep the others away.
        assertThat(set.path("podManagementPolicy").asText()).isEqualTo("Parallel");
        assertThat(set.path("updateStrategy").path("type").asText()).isEqualTo("RollingUpdate");
        assertThat(set.path("minReadySeconds").asInt()).isPositive();
    }

    @Test
    void everyPodHasALineWithItsNameAndItsNumber() {
        int replicas = set.path("replicas").asInt();
        String headless = set.path("serviceName").asText();
        int first =
                Integer.parseInt(
                        named(container.path("env"), "SAUCR_FIRST_ID").path("value").asText());
        assertThat(config.stringPropertyNames().stream().filter(key -> key.startsWith("server.")))
                .hasSize(replicas);
        for (int ordinal = 0; ordinal < replicas; ordinal++) {
            Matcher server = SERVER.matcher(config.getProperty("server." + (first + ordinal)));
            assertThat(server.matches()).isTrue();
            assertThat(server.group(1)).isEqualTo("zookeeper-" + ordinal + "." + headless);
            assertThat(server.group(2)).isEqualTo(port("quorum"));
            assertThat(server.group(3)).isEqualTo(port("election"));
        }
        assertThat(service(headless).path("clusterIP").asText()).isEqualTo("None");
        assertThat(service(headless).path("publishNotReadyAddresses").asBoolean()).isTrue();
        assertThat(config.getProperty("quorumListenOnAllIPs")).isEqualTo("true");
    }

    private static String port(String name) {
        return named(container.path("ports"), name).path("containerPort").asText();
    }

    @Test
    void thePortsAreThoseOfTheConfiguration() {
        assertThat(port("client")).isEqualTo(config.getProperty("clientPort"));
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
        assertThat(each(service("zookeeper-servers").path("ports"))).hasSize(3);
    }

    @Test
    void theServerAcceptsTheConfiguration() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        Files.writeString(data.resolve("myid"), "1\n");
        // Nobody is asked for addresses of names that do not exist.
        String text =
                configuration()
                        .replace("dataDir=/data", "dataDir=" + data)
                        .replaceAll("zookeeper-(\\d)\\.zookeeper-servers", "127.0.0.1$1");
        QuorumPeerConfig parsed = new QuorumPeerConfig();
        parsed.parse(Files.writeString(folder.resolve("zoo.cfg"), text).toString());
        SaucrSettings settings = SaucrSettings.parse("zoo.cfg", System.getProperties());
        assertThat(settings.enabled()).isTrue();
        assertThat(config.getProperty("saucr.ensembleName")).isEqualTo("zookeeper");
        assertThat(parsed.getQuorumVerifier().getVotingMembers())
                .hasSize(set.path("replicas").asInt());
        // A configuration in a volume that cannot be written is not for reconfiguration.
        assertThat(config.getProperty("reconfigEnabled")).isNull();
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
                .isEqualTo("/conf/zoo.cfg");
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
