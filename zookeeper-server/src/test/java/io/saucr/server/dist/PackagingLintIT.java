package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The files of {@code packaging}, and those with which {@code jepsen} makes its nodes, read by the
 * programs that their users have: hadolint, the schemas of Kubernetes and of Compose, yamllint,
 * shellcheck. Each of them must find a mistake that is put in, too. They are installed by pip,
 * below {@code target}.
 */
@Tag("trial")
class PackagingLintIT {
    private static final Path PACKAGING = Path.of("").toAbsolutePath().resolveSibling("packaging");
    private static final Path JEPSEN = PACKAGING.resolveSibling("jepsen");
    private static final Path REQUIREMENTS =
            Path.of("src/test/python/requirements.txt").toAbsolutePath();
    private static final Path PROGRAMS = Path.of("target/lint").toAbsolutePath();
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir Path folder;

    @BeforeAll
    static void install() throws Exception {
        Path done = PROGRAMS.resolve("requirements.txt");
        if (Files.exists(done) && Files.mismatch(done, REQUIREMENTS) == -1) {
            return;
        }
        assumeTrue(hasPip(), "no python3 with pip on the PATH");
        Scripts.Result installed =
                run(
                        "python3",
                        "-m",
                        "pip",
                        "install",
                        "--quiet",
                        "--disable-pip-version-check",
                        "--upgrade",
                        "--target",
                        PROGRAMS.toString(),
                        "-r",
                        REQUIREMENTS.toString());
        assertThat(installed.exitCode()).as(installed.output()).isZero();
        Files.copy(REQUIREMENTS, done, StandardCopyOption.REPLACE_EXISTING);
    }

    private static boolean hasPip() throws InterruptedException {
        try {
            return run("python3", "-m", "pip", "--version").exitCode() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static Scripts.Result run(String... command) throws IOException, InterruptedException {
        ProcessBuilder program = new ProcessBuilder(command);
        program.environment().put("PYTHONPATH", PROGRAMS.toString());
        return Scripts.run(program, LIMIT);
    }

    private static void passes(String... command) throws Exception {
        Scripts.Result result = run(command);
        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    /** The same with a mistake: the file that the last word names is changed. */
    private void finds(String mistake, String right, String wrong, String... command)
            throws Exception {
        Path file = Path.of(command[command.length - 1]);
        Path changed = folder.resolve(file.getFileName());
        String text = Files.readString(file);
        assertThat(text).contains(right);
        Files.writeString(changed, text.replace(right, wrong));
        String[] instead = command.clone();
        instead[command.length - 1] = changed.toString();
        Scripts.Result result = run(instead);
        assertThat(result.exitCode()).as(result.output()).isNotZero();
        assertThat(result.output()).contains(mistake);
    }

    private static String[] words(List<String> first, Object... rest) {
        List<String> all = new ArrayList<>(first);
        Stream.of(rest).map(Object::toString).forEach(all::add);
        return all.toArray(String[]::new);
    }

    private static final Path KUBERNETES = PACKAGING.resolve("kubernetes");

    private static Object[] manifests() throws IOException {
        try (Stream<Path> files = Files.list(KUBERNETES.resolve("rendered"))) {
            Object[] found =
                    Stream.concat(files.sorted(), Stream.of(KUBERNETES.resolve("backup.yaml")))
                            .toArray();
            assertThat(found).hasSize(4);
            return found;
        }
    }

    /**
     * Without the objects of cert-manager and of the Prometheus operator, whose schemas are not
     * there.
     */
    private Object[] ownManifests() throws IOException {
        List<Object> own = new ArrayList<>();
        for (Object file : manifests()) {
            String[] documents = Files.readString((Path) file).split("(?m)^---$");
            String text =
                    Stream.of(documents)
                            .filter(
                                    document ->
                                            !document.contains("\napiVersion: cert-manager.io/")
                                                    && !document.contains(
                                                            "\napiVersion: monitoring.coreos.com/"))
                            .collect(Collectors.joining("---"));
            assertThat(text).contains("\nkind: ");
            own.add(Files.writeString(folder.resolve(((Path) file).getFileName()), text));
        }
        return own.toArray();
    }

    @Test
    void theDockerfile() throws Exception {
        List<String> hadolint = List.of(PROGRAMS.resolve("bin/hadolint").toString(), "--no-color");
        Path file = PACKAGING.resolve("docker/Dockerfile");
        passes(words(hadolint, file));
        finds("DL3007", "bookworm-slim\n# Debian", "latest\n# Debian", words(hadolint, file));
    }

    /** Compose itself is no program of Python; its schema is. */
    @Test
    void theNodesOfJepsen() throws Exception {
        Path compose = JEPSEN.resolve("docker/docker-compose.yml");
        List<String> validate =
                List.of(
                        "python3",
                        "-m",
                        "check_jsonschema",
                        "--builtin-schema",
                        "vendor.compose-spec");
        passes(words(validate, compose));
        finds("'privilege' was unexpected", "privileged:", "privilege:", words(validate, compose));
        assertThat(compose)
                .content()
                .contains(
                        Files.readAllLines(JEPSEN.resolve("nodes")).stream()
                                .map(n -> "\n  " + n + ": {<<: *node, hostname: " + n + "}\n")
                                .toList());
        passes(
                PROGRAMS.resolve("bin/hadolint").toString(),
                "--ignore=DL3008", // Debian removes old versions.
                JEPSEN.resolve("docker/node.Dockerfile").toString(),
                JEPSEN.resolve("docker/control.Dockerfile").toString());
        passes(
                PROGRAMS.resolve("bin/shellcheck").toString(),
                JEPSEN.resolve("namespaces").toString());
    }

    /**
     * The oldest release whose fields the manifests use, and the newest that there are schemas of.
     */
    @ParameterizedTest
    @ValueSource(strings = {"1.27", "1.37"})
    void theManifestsAreWhatKubernetesTakes(String release) throws Exception {
        List<String> validate =
                List.of("python3", "-m", "kubernetes_validate", "--strict", "-k", release);
        passes(words(validate, ownManifests()));
        Path three = KUBERNETES.resolve("rendered/three.yaml");
        finds(
                "podManagmentPolicy",
                "podManagementPolicy",
                "podManagmentPolicy",
                words(validate, three));
        finds("'one' is not of type", "replicas: 3", "replicas: one", words(validate, three));
    }

    /** The values of the chart, and those that nobody may set; Helm reads the same schema. */
    @Test
    void theSchemaOfTheValues() throws Exception {
        List<String> validate =
                List.of(
                        "python3",
                        "-m",
                        "check_jsonschema",
                        "--schemafile",
                        KUBERNETES.resolve("chart/values.schema.json").toString());
        Path defaults = KUBERNETES.resolve("chart/values.yaml");
        passes(words(validate, defaults));
        passes(words(validate, KUBERNETES.resolve("values/all.yaml")));
        finds("4 is not one of", "replicas: null", "replicas: 4", words(validate, defaults));
        finds("4 is not one of", "Servers: 3", "Servers: 4", words(validate, defaults));
        finds("9 is not one of", "Servers: 3", "Servers: 9", words(validate, defaults));
        finds("'antiAfinity'", "antiAffinity:", "antiAfinity:", words(validate, defaults));
        finds("'firm'", "antiAffinity: hard", "antiAffinity: firm", words(validate, defaults));
        finds("'-1h'", "duration: 2160h", "duration: -1h", words(validate, defaults));
        finds("'ten'", "  size: 10Gi", "  size: ten", words(validate, defaults));
        finds("server.9", "config: {}", "config: {server.9: a}", words(validate, defaults));
        finds("dataDir", "config: {}", "config: {dataDir: /}", words(validate, defaults));
        finds("200", "config: {}", "config: {maxClientCnxns: 200}", words(validate, defaults));
    }

    @Test
    void theFormOfTheManifests() throws Exception {
        List<String> yamllint =
                List.of(
                        "python3",
                        "-m",
                        "yamllint",
                        "--strict",
                        "-d",
                        "{extends: default, rules: {document-start: disable, line-length: {max: 120}}}");
        passes(words(yamllint, manifests()));
        finds(
                "duplication of key",
                "serviceName:",
                "replicas:",
                words(yamllint, KUBERNETES.resolve("rendered/three.yaml")));
    }

    @Test
    void theScripts() throws Exception {
        List<String> shellcheck = List.of(PROGRAMS.resolve("bin/shellcheck").toString());
        Path entry = PACKAGING.resolve("docker/docker-entrypoint.sh");
        passes(
                words(
                        shellcheck,
                        Stream.concat(
                                        Stream.of(
                                                entry,
                                                PACKAGING.resolve("docker/pod.sh"),
                                                KUBERNETES.resolve("render"),
                                                PACKAGING.resolve("release")),
                                        Stream.of(
                                                        "build",
                                                        "postinst",
                                                        "postrm",
                                                        "prerm",
                                                        "zookeeper-env.sh")
                                                .map(PACKAGING.resolve("debian")::resolve))
                                .toArray()));
        finds("SC2086", "-- \"$1\")\" !=", "-- $1)\" !=", words(shellcheck, entry));
    }
}
