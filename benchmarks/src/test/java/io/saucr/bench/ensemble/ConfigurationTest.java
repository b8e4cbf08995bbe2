package io.saucr.bench.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {
    @TempDir Path work;

    private SaucrDistribution none() {
        return new SaucrDistribution(null, work);
    }

    @Test
    void stockComesFromItsReleasedArtifacts() throws Exception {
        Configuration memory = Configuration.parse("memory-durable", none());
        assertThat(memory.settings()).containsEntry("forceSync", "no");
        assertThat(memory.distribution().version()).startsWith("3.9");
        assertThat(memory.situationAware()).isFalse();
        assertThat(Configuration.parse("disk-durable", none()).settings()).isEmpty();
    }

    @Test
    void aFolderHasANameAndKeys() throws Exception {
        Files.createDirectories(work.resolve("old/lib"));
        Files.createFile(work.resolve("old/lib/saucr-zookeeper-server-0.0.9.jar"));
        Configuration old =
                Configuration.parse(
                        "before=" + work.resolve("old") + ",saucr.enabled=true", none());
        assertThat(old.name()).isEqualTo("before");
        assertThat(old.distribution().version()).isEqualTo("0.0.9");
        assertThat(old.situationAware()).isTrue();
    }

    @Test
    void keysOfAKnownConfigurationAreInItsName() throws Exception {
        Configuration tuned = Configuration.parse("disk-durable,snapCount=10", none());
        assertThat(tuned.name()).isEqualTo("disk-durable,snapCount=10");
        assertThat(tuned.settings()).containsEntry("snapCount", "10");
    }

    @Test
    void anEnsembleThatRunsElsewhereHasAConnectString() {
        Configuration named = Configuration.running("prod=a:2181,b:2181/x");
        assertThat(named.name()).isEqualTo("prod");
        assertThat(named.connect()).isEqualTo("a:2181,b:2181/x");
        assertThat(Configuration.running("a:2181").name()).isEqualTo("a:2181");
        assertThatThrownBy(() -> Configuration.running("prod"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("HOST:PORT");
    }

    @Test
    void whatCannotBeMeantIsSaid() {
        assertThatThrownBy(() -> Configuration.parse("fast", none()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'fast'")
                .hasMessageContaining("memory-durable");
        assertThatThrownBy(() -> Configuration.parse("disk-durable,snapCount", none()))
                .hasMessageContaining("'snapCount' is not KEY=VALUE");
        assertThatThrownBy(() -> Configuration.parse("saucr", none()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("--saucr");
        assertThatThrownBy(() -> Configuration.parse("mine=" + work, none()))
                .isInstanceOf(IOException.class);
    }
}
