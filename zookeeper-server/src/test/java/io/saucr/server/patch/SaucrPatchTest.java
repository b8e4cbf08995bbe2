package io.saucr.server.patch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.pool.TypePool;
import org.junit.jupiter.api.Test;

/** The classes of this module beside the released ones that they are made from. */
class SaucrPatchTest {
    private static final String REPLACED = "org/apache/zookeeper/server/admin/JettyAdminServer";
    private static final String MAIN = "org/apache/zookeeper/server/quorum/QuorumPeerMain.class";

    @Test
    void everyReleasedClassIsThereButOneAndOnlyThePatchedOnesDiffer() throws Exception {
        Path built = builtClasses();
        Set<String> differing = new TreeSet<>();
        int compared = 0;
        try (JarFile released = releasedJar()) {
            for (JarEntry entry : Collections.list(released.entries())) {
                if (!entry.getName().endsWith(".class") || entry.getName().startsWith(REPLACED)) {
                    continue;
                }
                compared++;
                byte[] original = released.getInputStream(entry).readAllBytes();
                byte[] ours = Files.readAllBytes(built.resolve(entry.getName()));
                if (!Arrays.equals(original, ours)) {
                    differing.add(entry.getName().replace('/', '.').replaceFirst("\\.class$", ""));
                }
            }
        }
        assertThat(compared).isGreaterThan(700);
        assertThat(differing).isEqualTo(new TreeSet<>(SaucrPatch.patchedTypes()));
    }

    @Test
    void patchedClassesCallTheBootClassAndNothingOfTheBuild() throws Exception {
        for (String type : SaucrPatch.patchedTypes()) {
            Path file = builtClasses().resolve(type.replace('.', '/') + ".class");
            String constants = new String(Files.readAllBytes(file), ISO_8859_1);
            assertThat(constants).as(type).contains("io/saucr/server/");
            assertThat(constants).as(type).doesNotContain("bytebuddy");
            assertThat(constants).as(type).doesNotContain("io/saucr/server/patch");
        }
    }

    @Test
    void theReplacedClassNeedsNoJetty() throws Exception {
        assertThat(Files.readString(builtClasses().resolve(REPLACED + ".class"), ISO_8859_1))
                .contains("io/saucr/server/http/")
                .doesNotContain("eclipse");
    }

    @Test
    void aPointThatWasNotAppliedEndsTheBuild() {
        assertThatThrownBy(() -> new SaucrPatch().close())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("QuorumPeerMain")
                .hasMessageContaining("not applied");
    }

    @Test
    void aClassThatComesTwiceEndsTheBuild() throws Exception {
        SaucrPatch patch = new SaucrPatch();
        try (JarFile jar = releasedJar();
                ClassFileLocator locator = new ClassFileLocator.ForJarFile(jar)) {
            TypeDescription type =
                    TypePool.Default.of(locator)
                            .describe(MAIN.replace('/', '.').replaceFirst("\\.class$", ""))
                            .resolve();
            DynamicType.Builder<?> builder = new ByteBuddy().decorate(type, locator);
            patch.apply(builder, type, locator);
            assertThatThrownBy(() -> patch.apply(builder, type, locator))
                    .hasMessageContaining("applied twice");
        }
    }

    private static Path builtClasses() throws URISyntaxException, IOException {
        for (URL url : copiesOf(MAIN)) {
            if (url.getProtocol().equals("file")) {
                Path path = Path.of(url.toURI());
                for (int i = 0; i < Path.of(MAIN).getNameCount(); i++) {
                    path = path.getParent();
                }
                return path;
            }
        }
        throw new AssertionError("the patched classes are not on the class path");
    }

    private static JarFile releasedJar() throws IOException, URISyntaxException {
        for (URL url : copiesOf(MAIN)) {
            if (url.getProtocol().equals("jar")) {
                String file = url.getPath().substring(0, url.getPath().indexOf("!/"));
                return new JarFile(Path.of(new URL(file).toURI()).toFile());
            }
        }
        throw new AssertionError("Apache's released jar is not on the class path");
    }

    private static List<URL> copiesOf(String resource) throws IOException {
        Enumeration<URL> urls = SaucrPatchTest.class.getClassLoader().getResources(resource);
        return new ArrayList<>(Collections.list(urls));
    }
}
