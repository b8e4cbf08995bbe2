package io.saucr.server.tool;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.saucr.core.Zxid;
import io.saucr.core.config.ZooCfg;
import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.StartAssessment.Verdict;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.zookeeper.server.persistence.StoppedServer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code bin/saucr-recovery}: looks at a stopped server's disk, and lets an operator accept a loss
 * (R19).
 */
@Command(
        name = "saucr-recovery",
        mixinStandardHelpOptions = true,
        description = "Looks at the disk of a stopped server, or accepts that it has lost writes.",
        subcommands = {RecoveryCommand.Inspect.class, RecoveryCommand.AcceptLoss.class})
public final class RecoveryCommand {
    private static final int REFUSED = 1;
    private static final int NOT_COMPLETE = 3;

    /**
     * Exit codes: 0 done, 1 refused or not confirmed, 2 wrong arguments; of {@code inspect} also 3:
     * the disk lacks something that the server acknowledged, or may lack it.
     */
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new RecoveryCommand());
        line.getCommandSpec().versionProvider(RecoveryCommand::version);
        line.getSubcommands()
                .values()
                .forEach(each -> each.getCommandSpec().versionProvider(RecoveryCommand::version));
        return line.setExecutionExceptionHandler(
                (exception, command, parsed) -> {
                    command.getErr().println(exception.getMessage());
                    return REFUSED;
                });
    }

    /** Of the jar, as the build gave it. */
    private static String[] version() {
        return new String[] {
            "saucr " + RecoveryCommand.class.getPackage().getImplementationVersion()
        };
    }

    private abstract static class OfStoppedServer implements Callable<Integer> {
        @Spec private CommandSpec spec;

        @Parameters(
                paramLabel = "DATADIR",
                arity = "0..1",
                description = "dataDir of the server's zoo.cfg.")
        private Path dataDir;

        @Option(
                names = "--log-dir",
                paramLabel = "DIR",
                description = "dataLogDir of the server's zoo.cfg, if it has one.")
        private Path logDir;

        @Option(
                names = "--config",
                paramLabel = "FILE",
                description = "The server's zoo.cfg, instead of the folders.")
        private Path config;

        PrintWriter out() {
            return spec.commandLine().getOut();
        }

        StoppedServer server() throws IOException {
            if ((config == null) == (dataDir == null) || (config != null && logDir != null)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "Give either DATADIR, with --log-dir if zoo.cfg has a dataLogDir, or --config");
            }
            if (config == null) {
                return new StoppedServer(
                        dataDir, logDir == null ? dataDir : logDir, Optional.empty());
            }
            Map<String, String> keys = ZooCfg.load(config);
            String data = keys.get("dataDir");
            if (data == null) {
                throw new IOException(config + ": dataDir is missing");
            }
            String logs = keys.getOrDefault("dataLogDir", data);
            String ensemble = keys.getOrDefault("saucr.ensembleName", "");
            return new StoppedServer(Path.of(data), Path.of(logs), Optional.of(ensemble));
        }
    }

    @Command(
            name = "inspect",
            mixinStandardHelpOptions = true,
            description = {
                "Prints what the disk is worth: markers, LLE map, last logged zxid, damage.",
                "Changes nothing. Exits with 0 if the disk holds all that the server acknowledged,",
                "else with 3: it may lack acknowledged writes, the page cache alone has the last of",
                "them, the disk is empty, or it is another server's."
            })
    static final class Inspect extends OfStoppedServer {
        @Option(names = "--json", description = "Prints JSON.")
        private boolean json;

        @Override
        public Integer call() throws IOException {
            StoppedServer.Findings findings = server().inspect();
            Map<String, Object> facts = describe(findings);
            if (json) {
                out().println(
                                new ObjectMapper()
                                        .enable(SerializationFeature.INDENT_OUTPUT)
                                        .writeValueAsString(facts));
            } else {
                facts.forEach((name, value) -> out().printf("%-22s %s%n", name, value));
            }
            return findings.assessment().verdict() == Verdict.COMPLETE ? 0 : NOT_COMPLETE;
        }
    }

    @Command(
            name = "accept-loss",
            mixinStandardHelpOptions = true,
            description = {
                "Lets a server that may lack acknowledged writes vote with what its disk holds.",
                "Only for an ensemble that cannot recover otherwise: acknowledged writes may be lost."
            })
    static final class AcceptLoss extends OfStoppedServer {
        @Option(
                names = "--yes-i-accept-losing-acknowledged-writes",
                description = "Does not ask for confirmation.")
        private boolean confirmed;

        @Override
        public Integer call() throws IOException {
            StoppedServer server = server();
            StoppedServer.Findings findings = server.inspect();
            if (!findings.assessment().mustRecover()
                    && findings.assessment().verdict() != Verdict.EMPTY) {
                out().println(
                                "There is no loss to accept on this server: "
                                        + findings.assessment().reason()
                                        + ".");
                return REFUSED;
            }
            out().println(explain(findings));
            if (!confirmed && !confirm()) {
                out().println("Nothing was changed.");
                return REFUSED;
            }
            out().println(server.acceptLoss());
            return 0;
        }

        private static String explain(StoppedServer.Findings findings) {
            return "This server may lack acknowledged writes: "
                    + findings.assessment().reason()
                    + ".\nIts disk holds what there is through "
                    + Zxid.toString(findings.lastLogged())
                    + ".\nIt may have acknowledged writes after that which are on no disk here. If you"
                    + " continue, it votes as if\nthey had never been; should no other server have them, they"
                    + " are lost for ever.\nFirst start every other server: as soon as enough of them are"
                    + " complete, this one recovers on its own\n(mntr: zk_saucr_recovery_missing names those"
                    + " it waits for).";
        }

        private boolean confirm() throws IOException {
            out().print("Accept the loss? Type yes to continue: ");
            out().flush();
            String answer =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
                            .readLine();
            return "yes".equals(answer);
        }
    }

    private static Map<String, Object> describe(StoppedServer.Findings findings) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("state", findings.assessment().verdict());
        facts.put("because", findings.assessment().reason());
        facts.put("crashedInFastMode", findings.markers().crashedInFastMode());
        facts.put("fastSwitch", Zxid.toString(findings.markers().fastSwitch()));
        facts.put("latestOnDisk", Zxid.toString(findings.markers().latestOnDisk()));
        facts.put("lastLogged", Zxid.toString(findings.lastLogged()));
        facts.put(
                "newestSnapshot",
                findings.snapshot() < 0 ? "none" : Zxid.toString(findings.snapshot()));
        facts.put("damage", findings.damage());
        facts.put("currentEpoch", findings.currentEpoch());
        facts.put("acceptedEpoch", findings.acceptedEpoch());
        Map<String, String> map = new LinkedHashMap<>();
        LleMap lleMap = findings.markers().lleMap();
        for (long sid : lleMap.sids()) {
            map.put(Long.toString(sid), Zxid.toString(lleMap.get(sid)));
        }
        facts.put("lleMap", map);
        View view = findings.markers().view();
        facts.put("view", view.isFirst() ? "all voters" : view.members());
        facts.put("viewZxid", Zxid.toString(view.seal()));
        return facts;
    }
}
