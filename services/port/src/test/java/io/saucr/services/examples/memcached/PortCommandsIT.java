package io.saucr.services.examples.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The commands of this module's README file do what the file says. */
class PortCommandsIT extends ReadmeCommands {

    /** With the comparison: what the original loses when it is killed, and the port does not. */
    @Tag("long")
    @Test
    void thePortAnswersAsIfNothingHadBeenKilled() throws Exception {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        Path readme = Path.of("src/main/java/io/saucr/services/examples/memcached/README.md");
        String told = run(commands(readme).replace("11211", Integer.toString(free)));
        assertThat(row("original, not killed", told)).containsExactly(968, 0, 0);
        List<Integer> original = row("original, killed 2 times", told);
        assertThat(original.get(0)).isEqualTo(968);
        assertThat(original.get(1)).isPositive();
        assertThat(original.get(2)).isPositive();
        assertThat(row("port, killed 4 times", told)).containsExactly(968, 0, 0);
        assertThat(row("port with standby, killed 5 times", told)).containsExactly(968, 0, 0);
        assertThat(told.replace("\r", "")).startsWith("STORED\n99\n98\n");
    }

    private static List<Integer> row(String name, String told) {
        Matcher row =
                Pattern.compile("(?m)^" + name + " +([0-9.,]+) +([0-9.,]+) +([0-9.,]+)$")
                        .matcher(told);
        assertThat(row.find()).as("a row of %s in\n%s", name, told).isTrue();
        MatchResult found = row.toMatchResult();
        return List.of(number(found.group(1)), number(found.group(2)), number(found.group(3)));
    }

    private static int number(String shown) {
        return Integer.parseInt(shown.replaceAll("[.,]", ""));
    }
}
