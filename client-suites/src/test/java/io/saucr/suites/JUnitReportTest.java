package io.saucr.suites;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.suites.Outcome.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JUnitReportTest {
    @TempDir Path folder;

    @Test
    void eachTestHasItsResult() throws Exception {
        Path file =
                Files.writeString(
                        folder.resolve("report.xml"),
                        """
<testsuites><testsuite name="s">
<testcase classname="kazoo.tests.test_lock.Lock" name="passes"/>
<testcase classname="kazoo.tests.test_lock.Lock" name="fails"><failure/></testcase>
<testcase classname="kazoo.tests.test_lock.Lock" name="breaks"><error/></testcase>
<testcase classname="kazoo.tests.test_lock.Lock" name="waits"><skipped/></testcase>
<testcase classname="kazoo.tests.test_lock.Lock" name="twice"><error/></testcase>
<testcase classname="kazoo.tests.test_lock.Lock" name="twice"/>
</testsuite></testsuites>
""");
        Outcome outcome = new Outcome(JUnitReport.read(file));
        assertThat(outcome.tests())
                .isEqualTo(
                        Map.of(
                                "Lock.passes", Result.PASSED,
                                "Lock.fails", Result.FAILED,
                                "Lock.breaks", Result.FAILED,
                                "Lock.waits", Result.SKIPPED,
                                "Lock.twice", Result.FAILED));
        assertThat(outcome.count(Result.FAILED)).isEqualTo(3);

        ObjectMapper json = new ObjectMapper();
        assertThat(json.readValue(json.writeValueAsString(outcome), Outcome.class))
                .isEqualTo(outcome);
    }
}
