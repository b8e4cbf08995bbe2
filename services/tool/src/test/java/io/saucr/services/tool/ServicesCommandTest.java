package io.saucr.services.tool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.saucr.services.Handlers;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.checkpoint.FolderStore;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What operators are told where something is wrong, and that nothing was ordered then. */
class ServicesCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BIRTH = "0123456789abcdef0123456789abcdef";

    private final List<String> orders = new ArrayList<>();
    private HttpServer server;
    private String out;
    private String err;

    @AfterEach
    void stopServer() {
        if (server != null) {
            server.stop(0);
        }
    }

    private int execute(String... arguments) {
        StringWriter outText = new StringWriter();
        StringWriter errText = new StringWriter();
        CommandLine command = ServicesCommand.commandLine();
        command.setOut(new PrintWriter(outText, true));
        command.setErr(new PrintWriter(errText, true));
        int code = command.execute(arguments);
        out = outText.toString();
        err = errText.toString();
        return code;
    }

    /** A page that says this, and takes orders with that status. */
    private String page(int status, String body, int orderStatus) throws IOException {
        return page(status, body, body, orderStatus);
    }

    /** The same, which says something else once it was given an order. */
    private String page(int status, String before, String after, int orderStatus)
            throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/",
                exchange -> {
                    boolean order = exchange.getRequestMethod().equals("POST");
                    String body = orders.isEmpty() ? before : after;
                    if (order) {
                        orders.add(
                                exchange.getRequestURI()
                                        + " "
                                        + exchange.getRequestHeaders()
                                                .containsKey("X-Saucr-Services"));
                    }
                    byte[] bytes = (order ? "the disk is full" : body).getBytes(UTF_8);
                    exchange.sendResponseHeaders(order ? orderStatus : status, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
        server.start();
        return "localhost:" + server.getAddress().getPort();
    }

    /** A service with two parked messages, a peer that is there and one that is not. */
    private static String status(String parked, String stopped) {
        String channel =
                "{'peer':'%s','outside':false,'generation':'%s','connected':%s,'sent':4,'unacked':2,"
                        + "'oldestUnackedMillis':61000,'consumed':3,'waiting':1}";
        return ("{'service':'bank','address':'localhost:4000','generation':'"
                        + "f".repeat(32)
                        + "','incarnation':2,'turn':9,'finalTurn':8,'bytesNotFinal':1,"
                        + "'bytesAboveBase':2,'lastFsyncMicros':300,'duplicates':0,'timers':0,"
                        + "'outputs':0,'channels':["
                        + String.format(channel, "shop", BIRTH, "false")
                        + ","
                        + String.format(channel, "mint", "e".repeat(32), "true")
                        + "],'deadLetters':["
                        + parked
                        + "],'stopped':["
                        + stopped
                        + "],'waitsFor':['mint'],'unreachable':{'shop':'no route'},"
                        + "'ofALaterRelease':7}")
                .replace('\'', '"');
    }

    private static final String PARKED =
            "{'id':3,'channel':'shop','type':'Order','bytes':18,'reason':'A: one\\nline'},"
                    + "{'id':5,'channel':'shop','type':'Order','bytes':19,'reason':'B'}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dance | there is no command 'dance'",
                "'' | A command is missing.",
                "status | Missing required option: '--url=HOST:PORT'",
                "status --url localhost | a status page is HOST:PORT or a URL, such as",
                "status --url ftp://localhost:1 | a status page is HOST:PORT or a URL",
                "status --url local host:1 | Unmatched argument",
                "status --url localhost:1 --timeout 0 | '0' is not a time limit",
                "status --url localhost:1 --timeout x | 'x' is not a time limit",
                "status --url localhost:1 -o xml | Invalid value for option '--output'",
                "status --url localhost:1 --kind x | Unknown option",
                "retry --url localhost:1 | (ID... | --all)",
                "retry x --url localhost:1 | Invalid value for positional parameter",
                "retry 1 --url localhost:1,localhost:2 | an order is for one service",
                "discard --url localhost:1 | (ID... | --all)",
                "declare-lost shop --url localhost:1 | Missing required parameter: 'GENERATION'",
                "return-undelivered --url localhost:1 | Missing required parameter: 'PEER'",
                "resume --url localhost:1 | Missing required parameter: 'CHANNEL'",
                "handover | Missing required option: '--url=HOST:PORT'",
                "handover --url localhost:1,localhost:2 | an order is for one service",
                "group | Missing required option: '--ensemble=SERVERS/PATH'",
                "group --ensemble h:1 | names no servers or no path",
                "new-generation | Missing required",
                "new-generation x --client a --without b | mutually exclusive",
                "restore x --from y | Missing required option: '--ensemble=SERVERS/PATH'",
                "restore x --ensemble h:1/a | Missing required argument",
                "accept-data-loss x | Missing required option: '--ensemble=SERVERS/PATH'",
                "accept-data-loss x --ensemble h:1/a --credentials :x | credentials are a scheme and",
                "folder | Which folder?",
                "folder verify | Missing required parameter: 'FOLDER'",
                "help dance | there is no command 'dance'"
            })
    void wrongUsageIsExplained(String line, String expected) {
        assertThat(execute(line.isEmpty() ? new String[0] : line.split(" "))).isEqualTo(2);
        assertThat(err).startsWith("saucr-services: ").contains(expected);
        assertThat(out).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "status",
                "dead-letters",
                "retry",
                "discard",
                "declare-lost",
                "return-undelivered",
                "resume",
                "handover",
                "group",
                "new-generation",
                "restore",
                "accept-data-loss",
                "folder",
                "folder verify"
            })
    void eachCommandHasHelpWithAnExample(String name) {
        List<String> words = new ArrayList<>(List.of(name.split(" ")));
        words.add("--help");
        assertThat(execute(words.toArray(String[]::new))).isZero();
        assertThat(out).contains("Example").contains("  saucr-services " + name + " ");
        String shown = out;
        words.remove("--help");
        words.add(0, "help");
        assertThat(execute(words.toArray(String[]::new))).isZero();
        assertThat(out).isEqualTo(shown);
    }

    @Test
    void whereNothingListensIsSaid() throws Exception {
        String page = page(200, "", 200);
        server.stop(0);
        for (String command : List.of("status", "dead-letters", "retry 3", "resume shop")) {
            List<String> words = new ArrayList<>(List.of(command.split(" ")));
            words.addAll(List.of("--url", page));
            assertThat(execute(words.toArray(String[]::new))).isEqualTo(1);
            assertThat(err).contains("nothing listens at http://" + page + "/", "statusPage(");
        }
        assertThat(execute("status", "--json", "--url", page)).isEqualTo(1);
        assertThat(JSON.readTree(out).get(0).get("problem").asText()).contains("nothing listens");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "404 | there is none | it answered with status 404: there is none",
                "200 | <html>hello</html> | its status.json is something else: <html>hello",
                "200 | {\"service\":1} | its status.json is something else",
                "200 | [] | its status.json is something else",
                "200 | null | its status.json is something else",
                "403 | ask by name | it answered with status 403: ask by name"
            })
    void whatIsNoPageIsNamed(int status, String body, String expected) throws Exception {
        String page = page(status, body, 200);
        assertThat(execute("dead-letters", "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("http://" + page + "/ is not the status page of a service: " + expected);
        assertThat(execute("discard", "--all", "--url", page)).isEqualTo(1);
        assertThat(orders).isEmpty();
    }

    @Test
    void aServiceThatDoesNotAnswerIsNotWaitedForForEver() throws Exception {
        String busy = page(503, "bank does not answer", 200);
        assertThat(execute("status", "--url", busy)).isEqualTo(1);
        assertThat(err).contains("http://" + busy + "/: bank does not answer");
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String url = "http://localhost:" + silent.getLocalPort();
            assertThat(execute("status", "--timeout", "1s", "--url", url)).isEqualTo(1);
            assertThat(err).contains(url + "/ did not answer within 1.0 s", "--timeout");
        }
    }

    @Test
    void statusShowsWhatHoldsAServiceUp() throws Exception {
        String page = page(200, status(PARKED, "'shop'"), 200);
        assertThat(execute("status", "--url", page)).isEqualTo(1);
        assertThat(out)
                .containsPattern("bank +localhost:4000 +f{32} +2 +9 +8 +300 us +4 +2 +1")
                .containsPattern("shop +" + BIRTH + " +no +4 +2 +1:01 min +3 +1")
                .containsPattern("shop +stands still: 'resume'")
                .containsPattern("shop +cannot be reached: no route")
                .containsPattern("mint +takes nothing at the moment")
                .contains("Dead letters: 2");
        assertThat(execute("status", "--url", page, "-o", "json")).isEqualTo(1);
        JsonNode row = JSON.readTree(out).get(0);
        assertThat(row.at("/status/deadLetters/1/id").asLong()).isEqualTo(5);
        assertThat(row.at("/status/ofALaterRelease").asLong()).isEqualTo(7);
    }

    @Test
    void aServiceThatGoesOnIsFine() throws Exception {
        String page = page(200, status("", ""), 200);
        assertThat(execute("status", "--url", page)).isZero();
        assertThat(execute("dead-letters", "--url", page)).isZero();
        assertThat(out).isEqualTo("There are no dead letters." + System.lineSeparator());
        assertThat(execute("retry", "--all", "--url", page)).isEqualTo(1);
        assertThat(err).contains("there are no dead letters at bank");
        assertThat(execute("discard", "4", "--url", page)).isEqualTo(1);
        assertThat(err).contains("no dead letter has the id 4", "Nothing else is, either.");
    }

    @Test
    void parkedListsThemOnALineEach() throws Exception {
        String page = page(200, status(PARKED, ""), 200);
        assertThat(execute("dead-letters", "--url", page)).isEqualTo(1);
        assertThat(out.lines()).hasSize(3);
        assertThat(out).containsPattern("bank +3 +shop +Order +18 +A: one line");
        assertThat(execute("dead-letters", "--json", "--url", page)).isEqualTo(1);
        assertThat(JSON.readTree(out).at("/0/deadLetters/0/bytes").asInt()).isEqualTo(18);
    }

    @Test
    void anUnknownIdStopsTheWholeOrder() throws Exception {
        String page = page(200, status(PARKED, ""), 200);
        assertThat(execute("retry", "3", "4", "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains(
                        "no dead letter has the id 4 at bank",
                        "These are: 3 (Order), 5 (Order)",
                        "Nothing was changed");
        assertThat(orders).isEmpty();
        assertThat(execute("retry", "5", "3", "5", "--url", page)).isZero();
        assertThat(orders).containsExactly("/retry?message=3 true", "/retry?message=5 true");
        orders.clear();
        assertThat(execute("discard", "--all", "--json", "--url", page)).isZero();
        assertThat(orders).containsExactly("/discard?message=3 true", "/discard?message=5 true");
        assertThat(JSON.readTree(out).at("/discard/1/id").asLong()).isEqualTo(5);
    }

    @Test
    void onlyWhoIsKnownAndAwayIsDeclaredGone() throws Exception {
        String page = page(200, status("", ""), 200);
        assertThat(execute("declare-lost", "shop", "e".repeat(32), "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("has met no service shop", "shop " + BIRTH, "'return-undelivered'");
        assertThat(execute("declare-lost", "mint", "e".repeat(32), "--url", page)).isEqualTo(1);
        assertThat(err).contains("mint is connected");
        assertThat(orders).isEmpty();
        assertThat(execute("declare-lost", "shop", BIRTH, "--url", page)).isZero();
        assertThat(out).contains("messages that return to bank: 2");
        assertThat(execute("declare-lost", "mint", "e".repeat(32), "--force", "--url", page))
                .isZero();
        assertThat(execute("declare-lost", "never", BIRTH, "--force", "--url", page)).isEqualTo(1);
        assertThat(err).contains("has met no service never");
        assertThat(orders).hasSize(2).allMatch(it -> it.startsWith("/declare-lost?"));
    }

    @Test
    void onlyWhatWaitsForNobodyIsGivenUp() throws Exception {
        String met = status("", "");
        String page = page(200, met, 200);
        assertThat(execute("return-undelivered", "shop", "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("nothing of bank waits for a name shop", "nor for another one")
                .contains("Nothing was changed");
        assertThat(orders).isEmpty();
        server.stop(0);
        String unmet =
                page(
                        200,
                        met.replace("\"generation\":\"" + BIRTH + "\"", "\"generation\":\"\""),
                        200);
        assertThat(execute("return-undelivered", "shpo", "--url", unmet)).isEqualTo(1);
        assertThat(err).contains("waits for a name shpo", "These wait: shop");
        assertThat(orders).isEmpty();
        assertThat(execute("return-undelivered", "shop", "--url", unmet)).isZero();
        assertThat(out).contains("messages for shop that come back to bank: 2");
        assertThat(orders).containsExactly("/return-undelivered?service=shop true");
    }

    @Test
    void aNewGenerationIsGivenToAFolderThatIsRepeated(@TempDir Path folder) throws Exception {
        String path = folder.resolve("bank").toString();
        assertThat(execute("new-generation", path, "--without", "bank")).isEqualTo(1);
        assertThat(err).contains("there is no service and no client in it", "Name the folder");
        Services services = Services.without("bank", Map.of()).folder(Path.of(path));
        try (RunningService bank = services.run(Nothing::new, Protection.local())) {
            assertThat(bank.name()).isEqualTo("bank");
            assertThat(execute("new-generation", path, "--without", "bank")).isEqualTo(1);
            assertThat(err).contains("in use");
        }
        assertThat(execute("new-generation", path, "--without", "shop")).isEqualTo(1);
        assertThat(err).contains("this folder is that of \"bank\"");
        assertThat(execute("new-generation", path, "--without", "bank")).isZero();
        assertThat(out).contains("is bank, generation ", "Lost: ", "Nothing was changed");
        String shown = out.substring(out.indexOf("--instead-of ") + "--instead-of ".length());
        String birth = shown.strip();
        assertThat(execute("new-generation", path, "--without", "bank", "--instead-of", BIRTH))
                .isNotZero();
        assertThat(err).contains("the order is for generation " + BIRTH, birth);
        assertThat(execute("new-generation", path, "--without", "bank", "--instead-of", birth))
                .isZero();
        assertThat(out).containsPattern("has generation [0-9a-f]{32} now").contains(birth);
        assertThat(execute("new-generation", path, "--without", "bank")).isZero();
        assertThat(out).doesNotContain("bank, generation " + birth);
        try (RunningService bank = services.run(Nothing::new, Protection.local())) {
            assertThat(bank.name()).isEqualTo("bank");
        }
    }

    /** A service that does nothing. */
    private static final class Nothing implements Service {

        Nothing(State state) {}

        @Override
        public void handlers(Handlers on) {}
    }

    @Test
    void onlyWhatWaitsIsResumed() throws Exception {
        String page = page(200, status("", "'shop','a client#7'"), 200);
        assertThat(execute("resume", "mint", "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("no channel mint of bank waits", "these do: shop, a client#7")
                .contains("Nothing was changed");
        assertThat(orders).isEmpty();
        assertThat(execute("resume", "a client#7", "--url", page)).isZero();
        assertThat(orders).containsExactly("/resume?channel=a%20client%237 true");
    }

    private static final String ONE = "00000000000000a1";
    private static final String TWO = "00000000000000b2";

    /** The page of member one. */
    private static String member(String role, long epoch, String primary, String followers) {
        return status("", "")
                .replaceFirst(
                        "\\{",
                        ("{'member':{'member':'"
                                        + ONE
                                        + "','role':'"
                                        + role
                                        + "','epoch':"
                                        + epoch
                                        + ",'primary':'"
                                        + primary
                                        + "','primaryAt':'localhost:9','segment':7,'stored':7,"
                                        + "'applied':7,'copies':'','holders':[],'followers':{"
                                        + followers
                                        + "},'linked':"
                                        + !primary.isEmpty()
                                        + ",'lacks':'','waitingMillis':0,'lastCommitMicros':0,"
                                        + "'store':'','ensemble':true,'stopped':''},")
                                .replace('\'', '"'));
    }

    @Test
    void theOfficeIsHandedOverToOneThatIsThere() throws Exception {
        String before = member("primary", 3, ONE, "'" + TWO + "':7");
        String page = page(200, before, member("standby", 4, TWO, ""), 200);
        assertThat(execute("handover", "--to", ONE, "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("member " + ONE + " is primary already. These are: " + TWO)
                .contains("Nothing was changed");
        assertThat(execute("handover", "--to", "00000000000000cc", "--url", page)).isEqualTo(1);
        assertThat(err).contains("no standby 00000000000000cc of bank is there", TWO);
        assertThat(orders).isEmpty();
        assertThat(execute("handover", "--url", page)).isZero();
        assertThat(out)
                .contains("member " + TWO + " of bank, at localhost:9, is primary in epoch 4, ");
        assertThat(orders).containsExactly("/handover true");
        orders.clear();
        assertThat(execute("handover", "--to", TWO, "--json", "--url", page)).isZero();
        assertThat(orders).containsExactly("/handover?member=" + TWO + " true");
        JsonNode json = JSON.readTree(out);
        assertThat(json.get("from").asText()).isEqualTo(ONE);
        assertThat(json.get("to").asText()).isEqualTo(TWO);
        assertThat(json.get("millis").asLong()).isNotNegative();
    }

    @Test
    void aSuccessorThatDoesNotComeIsAFailure() throws Exception {
        String three = "00000000000000c3";
        String before = member("primary", 3, ONE, "'" + TWO + "':7,'" + three + "':7");
        String page = page(200, before, member("primary", 5, ONE, ""), 200);
        assertThat(execute("handover", "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("the successor did not come: member " + ONE)
                .contains("is primary again in epoch 5");
        server.stop(0);
        orders.clear();
        page = page(200, before, member("standby", 5, three, ""), 200);
        assertThat(execute("handover", "--to", TWO, "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("the successor did not come: member " + three)
                .contains("is primary in epoch 5");
        orders.clear();
        assertThat(execute("handover", "--url", page)).isZero();
    }

    @Test
    void whoCannotHandOverIsNotAskedTo() throws Exception {
        String page = page(200, status("", ""), 200);
        assertThat(execute("handover", "--url", page)).isEqualTo(1);
        assertThat(err).contains("bank has no standbys that could take over");
        server.stop(0);
        page = page(200, member("primary", 3, ONE, ""), 200);
        assertThat(execute("handover", "--url", page)).isEqualTo(1);
        assertThat(err).contains("no standby of bank is there to take over");
        server.stop(0);
        page = page(200, member("standby", 3, TWO, ""), 200);
        assertThat(execute("handover", "--url", page)).isEqualTo(1);
        assertThat(err)
                .contains("the page of member " + ONE + " of bank, which is not primary")
                .contains("Member " + TWO + " is", "run the command with its page");
        server.stop(0);
        page = page(200, member("starting", 0, "", ""), 200);
        assertThat(execute("handover", "--url", page)).isEqualTo(1);
        assertThat(err).contains("Nobody is, as far as it knows");
        assertThat(orders).isEmpty();
        server.stop(0);
        page = page(200, member("primary", 3, ONE, "'" + TWO + "':7"), 503);
        assertThat(execute("handover", "--url", page)).isEqualTo(1);
        assertThat(err).contains("refused: the disk is full");
    }

    @Test
    void whatTheServiceRefusesIsPassedOn() throws Exception {
        String page = page(200, status(PARKED, ""), 503);
        assertThat(execute("retry", "--all", "--url", page)).isEqualTo(1);
        assertThat(err).contains("refused: the disk is full");
        assertThat(execute("retry", "--all", "--json", "--url", page)).isEqualTo(1);
        assertThat(JSON.readTree(out).get("problem").asText()).contains("the disk is full");
    }

    @Test
    void anOrderThatAPageDoesNotKnowIsOfALaterRelease() throws Exception {
        String page = page(200, status(PARKED, ""), 404);
        assertThat(execute("retry", "3", "--url", page)).isEqualTo(1);
        assertThat(err).contains("knows no order retry", "older release");
    }

    @Test
    void whatIsNoFolderIsRefused(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("notes"), "mine");
        assertThat(execute("folder", folder.resolve("nowhere").toString())).isEqualTo(1);
        assertThat(err).contains("there is no such folder");
        assertThat(execute("folder", file.toString())).isEqualTo(1);
        assertThat(err).contains("this is a file");
        assertThat(execute("folder", "verify", folder.toString(), "--json")).isEqualTo(1);
        assertThat(err).contains("this is not the folder of a service or client");
        assertThat(folder.toFile().list()).containsExactly("notes");
    }

    /** A member's folder with three segments and a base; gives its log file. */
    private static Path fill(Path folder) throws IOException {
        Birth birth = new Birth(1, 2);
        Incarnation epoch = new Incarnation(birth, 1, 7);
        SegmentId last = SegmentId.NONE;
        try (MemberFolder member =
                MemberFolder.open(Disk.local(), folder, "bank", new SecureRandom())) {
            member.birth(birth);
            for (long number = 1; number <= 3; number++) {
                Segment segment =
                        Segment.of(
                                new SegmentHeader(
                                        "bank",
                                        epoch,
                                        number,
                                        number,
                                        number,
                                        last.digest(),
                                        number - 1),
                                new byte[40]);
                member.append(segment);
                last = segment.id();
                if (number == 1) {
                    member.base(
                            last,
                            List.of(epoch),
                            writer -> writer.section("state").write(new byte[10]));
                }
            }
            member.force();
        }
        return folder.resolve("segments/0000000000000000001.log");
    }

    @Test
    void aSharedFolderIsRecognisedAndChecked(@TempDir Path work) throws Exception {
        Birth birth = new Birth(1, 2);
        String path = work.toString();
        Path folder = work.resolve(birth.toString());
        try (FolderStore store =
                new FolderStore(Disk.local(), folder, "bank", birth, new SecureRandom())) {
            SegmentId last = SegmentId.NONE;
            for (long number = 1; number <= 2; number++) {
                Segment segment =
                        Segment.of(
                                new SegmentHeader(
                                        "bank",
                                        new Incarnation(birth, 1, 7),
                                        number,
                                        number,
                                        number,
                                        last.digest(),
                                        number - 1),
                                new byte[40]);
                store.append(segment);
                last = segment.id();
            }
        }
        assertThat(execute("folder", "verify", path)).isZero();
        assertThat(out)
                .contains(folder + ": shared by members of bank, whole, up to segment 2 of epoch 1")
                .contains("2 segments, 0 bases");
        assertThat(execute("folder", path, "--json")).isZero();
        JsonNode json = JSON.readTree(out);
        assertThat(json.at("/kind").asText()).isEqualTo("shared");
        assertThat(json.at("/generations/0/last/number").asLong()).isEqualTo(2);
        assertThat(json.at("/generations/0/restoredFrom").asLong()).isZero();
        Path first;
        try (Stream<Path> files = Files.list(folder)) {
            first =
                    files.filter(it -> it.getFileName().toString().startsWith("1-1-"))
                            .findFirst()
                            .orElseThrow();
        }
        byte[] bytes = Files.readAllBytes(first);
        bytes[bytes.length - 60] ^= 1;
        Files.write(first, bytes);
        assertThat(execute("folder", "verify", path)).isEqualTo(1);
        assertThat(out)
                .contains("nothing leads to segment 2")
                .contains("WRONG: " + first)
                .contains("WRONG: segment 1");
        assertThat(execute("folder", path, "--json")).isEqualTo(1);
        assertThat(JSON.readTree(out).at("/generations/0/problems").size()).isEqualTo(2);
        assertThat(Files.readAllBytes(first)).isEqualTo(bytes);
    }

    @Test
    void aMembersFolderIsRecognisedAndChecked(@TempDir Path work) throws Exception {
        Path folder = work.resolve("bank");
        String path = folder.toString();
        Path log = fill(folder);
        assertThat(execute("folder", path)).isZero();
        assertThat(out)
                .containsPattern("name +bank \\(member\\)")
                .containsPattern("newest segment +3 of epoch 1")
                .containsPattern("restored from +the base as of segment 1")
                .containsPattern("0+1.snap +[0-9.]+ K?i?B +up to 1 +whole")
                .containsPattern("0+1.log +[0-9]+ B +1 to 3 +whole");
        assertThat(execute("folder", "verify", path)).isZero();
        assertThat(out).contains("a member's folder, whole, up to segment 3 of epoch 1");
        assertThat(execute("folder", "verify", path, "--json")).isZero();
        assertThat(JSON.readTree(out).at("/last/number").asLong()).isEqualTo(3);
        assertThat(JSON.readTree(out).get("whole").asBoolean()).isTrue();
        try (MemberFolder running =
                MemberFolder.open(Disk.local(), folder, "bank", new SecureRandom())) {
            assertThat(execute("folder", "verify", path)).isZero();
            assertThat(out).contains("in use by ").doesNotContain(running.member());
        }
        byte[] whole = Files.readAllBytes(log);

        Files.write(log, Arrays.copyOf(whole, whole.length - 5));
        assertThat(execute("folder", "verify", path)).isZero();
        assertThat(out)
                .contains("whole, up to segment 2 of epoch 1")
                .contains("note: " + log, "the torn end of a crash");

        byte[] foreign = whole.clone();
        foreign[whole.length / 3 + 60] ^= 8;
        Files.write(log, foreign);
        assertThat(execute("folder", path)).isZero();
        assertThat(out).containsPattern("newest segment +[012] of epoch");
        assertThat(Files.readAllBytes(log)).isEqualTo(foreign);

        Files.write(log, whole);
        Path base = folder.resolve("bases/0000000000000000001.snap");
        byte[] damaged = Files.readAllBytes(base);
        damaged[damaged.length / 2] ^= 1;
        Files.write(base, damaged);
        assertThat(execute("folder", "verify", path, "--json")).isEqualTo(1);
        assertThat(JSON.readTree(out).get("starts").asBoolean()).isTrue();
        assertThat(JSON.readTree(out).at("/problems/0/file").asText()).isEqualTo(base.toString());
        assertThat(execute("folder", path)).isZero();
        assertThat(out).containsPattern("restored from +segment 1 on").contains("DAMAGED");

        Path member = folder.resolve("member");
        Files.writeString(member, "saucr-member-folder 9 " + Files.readString(member));
        assertThat(execute("folder", "verify", path)).isEqualTo(1);
        assertThat(out).contains("WRONG: " + member, "a newer release's");
        Files.delete(member);
        assertThat(execute("folder", path)).isEqualTo(1);
        assertThat(out).contains("WRONG: " + member + ": it is missing");
        assertThat(Files.readAllBytes(log)).isEqualTo(whole);
    }

    @ParameterizedTest
    @CsvSource({"0, 0 B", "1023, 1023 B", "1024, 1.0 KiB", "67108864, 64.0 MiB"})
    void bytesAreForPeople(long bytes, String expected) {
        assertThat(Output.bytes(bytes)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"999, 999 ms", "2500, 2.5 s", "125000, 2:05 min", "7500000, 2:05 h"})
    void timesAreForPeople(long millis, String expected) {
        assertThat(Output.millis(millis)).isEqualTo(expected);
    }
}
