package io.saucr.services.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.crash.fault.Backend;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real services, killed and without power at some of the points that matter, on both back ends of
 * the crash framework; {@link ServicesCampaign} does it at each, both ways. Here either back end
 * has the rows that tell most on it.
 */
class ServicesCrashIT {
    @TempDir Path work;

    @Test
    void withRightsAndRealFileSystems() throws Exception {
        assumeTrue(
                Backend.ROOT.obstacle().isEmpty(),
                () -> "not here: " + Backend.ROOT.obstacle().get());
        assertThat(campaign("root", "forced,halted", "power")).isZero();
    }

    @Tag("long")
    @Test
    void withoutRights() throws Exception {
        assumeTrue(
                Backend.UNPRIVILEGED.obstacle().isEmpty(),
                () -> Backend.UNPRIVILEGED.obstacle().get());
        assertThat(campaign("unprivileged", "appended,late", "power")).isZero();
        assertThat(work.resolve(Ledger.PAYER + ".log")).isNotEmptyFile();
    }

    @Test
    void whatIsTypedWronglyIsRefusedBeforeAnythingRuns() throws Exception {
        Path file = Files.writeString(work.resolve("kept"), "kept");
        assertThat(campaign("unprivileged", "appended", "power")).isEqualTo(2);
        assertThat(work).isDirectoryContaining(each -> each.equals(file));
        assertThat(campaign("unprivileged", "nowhere", "power")).isEqualTo(2);
    }

    private int campaign(String backend, String rows, String ways) {
        return ServicesCampaign.execute(
                "--backend",
                backend,
                "--rows",
                rows,
                "--ways",
                ways,
                "--places",
                "1",
                "--seconds",
                "0",
                "--out",
                work.toString());
    }
}
