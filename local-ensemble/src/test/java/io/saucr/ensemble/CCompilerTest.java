package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CCompilerTest {
    @TempDir Path work;

    private Path source;
    private Path target;
    private Path cache;

    @BeforeEach
    void program() throws IOException {
        assumeTrue(FsyncShim.available(), "no C compiler");
        source = program("hello");
        target = Files.createDirectories(work.resolve("target")).resolve("program");
        cache = work.resolve("cache");
    }

    private Path program(String says) throws IOException {
        return Files.writeString(
                work.resolve("program.c"),
                "#include <stdio.h>\nint main(void) { printf(\"" + says + "\"); return 0; }\n");
    }

    private void compile(String... flags) throws IOException {
        CCompiler.find().compile(source, target, List.of(flags), List.of(), cache);
    }

    private String run() throws IOException {
        Process process = new ProcessBuilder(target.toString()).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private List<Path> kept() throws IOException {
        try (Stream<Path> files = Files.list(cache)) {
            return files.toList();
        }
    }

    @Test
    void theSameIsNotBuiltTwice() throws Exception {
        compile();
        assertThat(run()).isEqualTo("hello");
        assertThat(kept()).hasSize(1);
        Files.writeString(kept().get(0), "kept");
        compile();
        assertThat(target).hasContent("kept");
    }

    @Test
    void anotherSourceOrAnotherOptionIsAnotherProgram() throws Exception {
        compile();
        program("good bye");
        compile();
        assertThat(run()).isEqualTo("good bye");
        compile("-g");
        assertThat(kept()).hasSize(3);
    }

    @Test
    void whatDoesNotCompileLeavesTheCompilersWordsAndNothingElse() throws Exception {
        Files.writeString(source, "this is no C");
        for (int i = 0; i < 2; i++) {
            assertThatIOException()
                    .isThrownBy(this::compile)
                    .withMessageContaining("the C compiler failed")
                    .withMessageContaining("program.c");
        }
        assertThat(kept()).isEmpty();
        assertThat(target).doesNotExist();
    }

    @Test
    void aFolderThatIsNotOursIsNotUsed() throws Exception {
        Files.writeString(cache, "a file");
        compile();
        assertThat(run()).isEqualTo("hello");
        Files.delete(cache);
        Path others = Files.createDirectories(work.resolve("others"));
        Files.setPosixFilePermissions(others, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.createSymbolicLink(cache, others);
        compile();
        assertThat(others).isEmptyDirectory();
        assertThat(run()).isEqualTo("hello");
    }
}
