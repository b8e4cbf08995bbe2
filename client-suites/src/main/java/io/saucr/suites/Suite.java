package io.saucr.suites;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.suites.Outcome.Result;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The suites. Each is fetched with the ordinary client of its language's registry into a folder,
 * where it stays, and runs there against the servers of a column.
 */
enum Suite {
    GO("go-zookeeper 1.0.4") {
        @Override
        void fetch(Path folder) throws IOException, InterruptedException {
            Path module = Files.createDirectories(folder.resolve("module"));
            if (!Files.exists(module.resolve("go.mod"))) {
                Programs.read(module, "go", "mod", "init", "suites");
            }
            String found =
                    Programs.read(
                            module,
                            "go",
                            "mod",
                            "download",
                            "-json",
                            "github.com/go-zookeeper/zk@v1.0.4");
            Programs.copy(
                    Path.of(JSON.readTree(found).get("Dir").asText()), folder.resolve("tests"));
            readNewDates(folder.resolve("tests/flw.go"));
        }

        /**
         * ZooKeeper writes the date of its build in another form since 3.6. The client cannot read
         * it, and the tests, which wait for a reply to {@code srvr}, would not begin.
         */
        private void readNewDates(Path file) throws IOException {
            String source = Files.readString(file);
            String changed =
                    source.replace(
                                    "(\\d\\d/\\d\\d/\\d\\d\\d\\d \\d\\d:\\d\\d ",
                                    "(\\S+ \\d\\d:\\d\\d ")
                            .replace(
                                    "buildTime, err := time.Parse(\"01/02/2006 15:04 MST\","
                                            + " match[1])\n",
                                    "buildTime, err := time.Parse(\"01/02/2006 15:04 MST\","
                                            + " match[1])\n"
                                            + "if err != nil {\n"
                                            + "buildTime, err = time.Parse(\"2006-01-02 15:04 MST\","
                                            + " match[1])\n"
                                            + "}\n");
            Files.writeString(file, changed);
        }

        @Override
        Map<String, Result> run(Path folder, Path work, String tests, SharedEnsemble ensemble)
                throws IOException, InterruptedException {
            Programs.script("zkServer.sh", work);
            Map<String, String> environment = new HashMap<>(ensemble.servers().environment());
            environment.put("ZOOKEEPER_BIN_PATH", work.toString());
            Path output = work.resolve("output");
            Programs.run(
                    folder.resolve("tests"),
                    environment,
                    output,
                    List.of("go", "test", "-json", "-vet=off", "-timeout=60m", "-run", tests, "."));
            Map<String, Result> results = new TreeMap<>();
            for (String line : Files.readAllLines(output)) {
                if (line.startsWith("{")) {
                    JsonNode event = JSON.readTree(line);
                    String action = event.path("Action").asText();
                    if (event.has("Test") && List.of("pass", "fail", "skip").contains(action)) {
                        results.put(event.get("Test").asText(), result(action));
                    }
                }
            }
            return results;
        }
    },

    KAZOO("kazoo 2.11.0") {
        private static final String PORTS = "26100";

        @Override
        void fetch(Path folder) throws IOException, InterruptedException {
            Programs.read(
                    folder,
                    "python3",
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--no-deps",
                    "--no-binary",
                    ":all:",
                    "kazoo==2.11.0");
            Programs.read(folder, "tar", "xzf", "kazoo-2.11.0.tar.gz");
            Programs.read(
                    folder,
                    "python3",
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--target",
                    "packages",
                    "--upgrade",
                    "./kazoo-2.11.0[test,sasl]",
                    // Later ones lack what the tests make certificates with.
                    "pyopenssl==24.2.1");
        }

        @Override
        Map<String, Result> run(Path folder, Path work, String tests, SharedEnsemble ensemble)
                throws IOException, InterruptedException {
            Programs.script("java", work.resolve("bin"));
            Path pids = Files.createDirectories(work.resolve("pids"));
            Map<String, String> environment = onPath(work.resolve("bin"), ensemble);
            environment.put("SAUCR_SUITES_PIDS", pids.toString());
            environment.put("ZOOKEEPER_CLASSPATH", ensemble.servers().classPath());
            environment.put("ZOOKEEPER_VERSION", "3.9.5");
            environment.put("ZOOKEEPER_PORT_OFFSET", PORTS);
            environment.put("PYTHONPATH", folder.resolve("packages").toString());
            Path report = work.resolve("report.xml");
            List<String> command =
                    List.of(
                            "python3",
                            "-m",
                            "pytest",
                            "-k",
                            tests.equals(".") ? "" : tests,
                            "-q",
                            "-p",
                            "no:cacheprovider",
                            "--timeout=300",
                            "--junitxml=" + report,
                            "kazoo/tests");
            Killer killer =
                    ensemble.column() == Column.KILLED
                            ? new Killer(random -> killOne(pids, random))
                            : null;
            try {
                Programs.run(
                        folder.resolve("kazoo-2.11.0"),
                        environment,
                        work.resolve("output"),
                        command);
            } finally {
                if (killer != null) {
                    killer.close();
                }
            }
            return JUnitReport.read(report);
        }

        @Override
        boolean sharesServers() {
            return false;
        }

        /** Of the three servers that run as long as the suite. */
        private void killOne(Path pids, Random random) throws IOException, InterruptedException {
            List<Path> files;
            try (Stream<Path> all = Files.list(pids)) {
                files = all.sorted().toList();
            }
            if (files.size() == 3) {
                String pid = Files.readString(files.get(random.nextInt(3))).trim();
                ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
                Thread.sleep(5000);
            }
        }
    },

    /** Its test jars are among the libraries of this program. */
    CURATOR("Curator 5.9.0, recipes") {
        private static final Pattern CLASS =
                Pattern.compile("(org/apache/curator/framework/recipes/\\w+/Test\\w+)\\.class");

        @Override
        void fetch(Path folder) {}

        /** Its classes, as the whole takes most of an hour. */
        @Override
        List<String> parts(String tests) throws IOException {
            for (String library : System.getProperty("java.class.path").split(":")) {
                if (library.matches(".*/curator-recipes-[^/]*-tests\\.jar")) {
                    try (JarFile jar = new JarFile(library)) {
                        return jar.stream()
                                .map(entry -> CLASS.matcher(entry.getName()))
                                .filter(Matcher::matches)
                                .map(found -> found.group(1).replace('/', '.'))
                                .filter(Pattern.compile(tests).asPredicate())
                                .sorted()
                                .toList();
                    }
                }
            }
            throw new IOException("the tests of curator-recipes are not on the class path");
        }

        @Override
        Map<String, Result> run(Path folder, Path work, String tests, SharedEnsemble ensemble)
                throws IOException, InterruptedException {
            Programs.run(
                    work,
                    ensemble.servers().environment(),
                    work.resolve("output"),
                    List.of(
                            TestServers.java(),
                            "-Xmx512m",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            "org.junit.platform.console.ConsoleLauncher",
                            "execute",
                            "--disable-banner",
                            "--disable-ansi-colors",
                            "--details=tree",
                            "--select-class=" + tests,
                            "--reports-dir=" + work));
            return JUnitReport.read(work.resolve("TEST-junit-jupiter.xml"));
        }
    },

    RUST("zookeeper-async 5.0.0") {
        private static final Pattern FILE = Pattern.compile(" +Running (?:unittests )?(\\S+) .*");
        private static final Pattern TEST =
                Pattern.compile("test (\\S+) (?:- should panic )?\\.\\.\\. (ok|FAILED|ignored).*");

        @Override
        void fetch(Path folder) throws IOException, InterruptedException {
            Path user = folder.resolve("user");
            if (!Files.exists(user)) {
                Programs.read(folder, "cargo", "new", "--quiet", "--lib", "--vcs", "none", "user");
                Programs.read(user, "cargo", "add", "--quiet", "zookeeper-async@=5.0.0");
            }
            JsonNode packages =
                    JSON.readTree(Programs.read(user, "cargo", "metadata", "--format-version", "1"))
                            .get("packages");
            for (JsonNode each : packages) {
                if (each.get("name").asText().equals("zookeeper-async")) {
                    Path manifest = Path.of(each.get("manifest_path").asText());
                    Programs.copy(manifest.getParent(), folder.resolve("tests"));
                }
            }
        }

        @Override
        Map<String, Result> run(Path folder, Path work, String tests, SharedEnsemble ensemble)
                throws IOException, InterruptedException {
            Programs.script("java", work.resolve("bin"));
            List<String> command =
                    new ArrayList<>(List.of("cargo", "test", "--no-fail-fast", "--lib", "--tests"));
            if (!tests.equals(".")) {
                command.add(tests);
            }
            command.addAll(List.of("--", "--test-threads=1"));
            Map<String, String> environment = onPath(work.resolve("bin"), ensemble);
            environment.put("RUST_LOG", "off"); // Its lines would be among the tests' names.
            Path output = work.resolve("output");
            Programs.run(folder.resolve("tests"), environment, output, command);
            Map<String, Result> results = new TreeMap<>();
            String file = "";
            for (String line : Files.readAllLines(output)) {
                Matcher running = FILE.matcher(line);
                Matcher test = TEST.matcher(line);
                if (running.matches()) {
                    file = running.group(1);
                } else if (test.matches()) {
                    results.put(file + " " + test.group(1), result(test.group(2)));
                }
            }
            return results;
        }
    };

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String version;

    Suite(String version) {
        this.version = version;
    }

    /** Name and version of what is tested. */
    String version() {
        return version;
    }

    /**
     * Whether its tests meet the servers of a {@link SharedEnsemble}; otherwise it starts its own.
     */
    boolean sharesServers() {
        return true;
    }

    /** Brings the suite into a folder of its own, with what it is tested with. */
    abstract void fetch(Path folder) throws IOException, InterruptedException;

    /**
     * The parts in which it runs, one after the other, so that a run that is stopped has the
     * results of those before.
     *
     * @param tests as in {@link #run}
     */
    List<String> parts(String tests) throws IOException {
        return List.of(tests);
    }

    /**
     * Runs it.
     *
     * @param folder what was fetched
     * @param work an empty folder for this run's files
     * @param tests what the names of tests must contain, {@code .} for all; how exactly is the
     *     suite's own way
     */
    abstract Map<String, Result> run(Path folder, Path work, String tests, SharedEnsemble ensemble)
            throws IOException, InterruptedException;

    /** Runs what was fetched, or is fetched now. */
    Outcome outcome(Path out, Path work, String tests, SharedEnsemble ensemble)
            throws IOException, InterruptedException {
        Path folder = Files.createDirectories(out.resolve(this.toString())).toRealPath();
        Path fetched = folder.resolve("fetched");
        if (!Files.exists(fetched)) {
            fetch(folder);
            Files.writeString(fetched, version);
        }
        return new Outcome(run(folder, work, tests, ensemble));
    }

    private static Map<String, String> onPath(Path scripts, SharedEnsemble ensemble) {
        Map<String, String> environment = new HashMap<>(ensemble.servers().environment());
        environment.put("PATH", scripts + File.pathSeparator + System.getenv("PATH"));
        return environment;
    }

    private static Result result(String word) {
        return switch (word) {
            case "pass", "ok" -> Result.PASSED;
            case "skip", "ignored" -> Result.SKIPPED;
            default -> Result.FAILED;
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
