package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution that is tested if none is given. */
class SystemOptionsTest {
    @TempDir Path root;

    @AfterEach
    void forgetTheRoot() {
        System.clearProperty(SystemOptions.ROOT);
        System.clearProperty(SystemOptions.HOME);
    }

    @Test
    void theNewestOneThatWasBuiltIsTested() throws Exception {
        System.setProperty(SystemOptions.ROOT, root.toString());
        Files.createDirectories(root.resolve("crash-framework/target"));
        build("3.9.4", 1000);
        Path first = SystemOptions.distribution(null);
        assertThat(SystemOptions.distribution(null)).isEqualTo(first).startsWith(root);
        build("3.9.5", 2000);
        Distribution tested = new SystemOptions().system("saucr", root).distribution();
        assertThat(tested.version()).isEqualTo("3.9.5");
        assertThat(first.resolve("lib/zookeeper-3.9.4.jar")).exists();
    }

    @Test
    void aFolderThatIsGivenIsTaken() throws Exception {
        System.setProperty(SystemOptions.ROOT, root.toString());
        build("3.9.5", 1000);
        Path given = root.resolve("given");
        assertThat(SystemOptions.distribution(given)).isEqualTo(given);
    }

    @Test
    void theTesterOfADistributionTestsThatOne() throws Exception {
        System.setProperty(SystemOptions.HOME, root.toString());
        assertThat(SystemOptions.distribution(null)).isEqualTo(root);
        Path given = root.resolve("given");
        assertThat(SystemOptions.distribution(given)).isEqualTo(given);
    }

    @Test
    void withoutOneItSaysWhatIsNeeded() {
        System.setProperty(SystemOptions.ROOT, root.toString());
        assertThatThrownBy(() -> new SystemOptions().system("saucr", root))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("--distribution");
    }

    /** Makes a tarball that looks like one of the build. */
    private void build(String version, long millis) throws Exception {
        Path content = root.resolve("content-" + version);
        Files.createDirectories(content.resolve("saucr/lib"));
        Files.createFile(content.resolve("saucr/lib/zookeeper-" + version + ".jar"));
        Files.createDirectories(content.resolve("saucr/bin"));
        Path script = Files.createFile(content.resolve("saucr/bin/zkServer.sh"));
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Path target = Files.createDirectories(root.resolve("zookeeper-server/target"));
        Path tarball = target.resolve(version + "-bin.tar.gz");
        UnpackedDistribution.run(
                "tar", "-czf", tarball.toString(), "-C", content.toString(), "saucr");
        Files.setLastModifiedTime(tarball, FileTime.fromMillis(millis));
    }
}
