package io.saucr.ensemble;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The machine's C compiler: {@code $CC}, else the first of cc, gcc and clang on the path. What it
 * has built is kept in a folder of this user below {@code java.io.tmpdir}: an ensemble needs the
 * same library for each of its servers. Immutable.
 */
public final class CCompiler {
    private final String command;

    private CCompiler(String command) {
        this.command = command;
    }

    /**
     * @throws IOException if there is none
     */
    public static CCompiler find() throws IOException {
        String chosen = System.getenv("CC");
        List<String> names =
                chosen == null || chosen.isBlank()
                        ? List.of("cc", "gcc", "clang")
                        : List.of(chosen);
        for (String name : names) {
            for (String folder :
                    System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
                if (Files.isExecutable(Path.of(folder).resolve(name))) {
                    return new CCompiler(Path.of(folder).resolve(name).toString());
                }
            }
        }
        throw new IOException(
                "no C compiler ("
                        + String.join(", ", names)
                        + ") on the PATH: install gcc, or set CC; it builds the small native parts"
                        + " of the crash tester");
    }

    /**
     * Builds {@code target}, or takes what was built before from the same source in the same way.
     * The target appears complete or not at all.
     *
     * @throws IOException with the compiler's words if it fails
     */
    public void compile(Path source, Path target, List<String> flags, List<String> libraries)
            throws IOException {
        compile(source, target, flags, libraries, Folders.ofThisUser("native"));
    }

    /** The same, with what was built before in another folder. */
    void compile(Path source, Path target, List<String> flags, List<String> libraries, Path cache)
            throws IOException {
        try {
            Folders.own(cache);
        } catch (IOException e) {
            build(source, target, flags, libraries);
            return;
        }
        Path kept = cache.resolve(name(source, flags, libraries));
        if (!Files.exists(kept)) {
            build(source, kept, flags, libraries);
        }
        Path partial = Files.createTempFile(target.toAbsolutePath().getParent(), "copy", ".tmp");
        Files.copy(kept, partial, StandardCopyOption.REPLACE_EXISTING);
        Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
    }

    /** By the source, the options and the state of the compiler. */
    private String name(Path source, List<String> flags, List<String> libraries)
            throws IOException {
        Path compiler = Path.of(command).toRealPath();
        String how =
                String.join(
                        "\n",
                        compiler.toString(),
                        Files.getLastModifiedTime(compiler).toString(),
                        flags.toString(),
                        libraries.toString());
        return Folders.digest(how.getBytes(StandardCharsets.UTF_8))
                + "-"
                + Folders.digest(Files.readAllBytes(source));
    }

    private void build(Path source, Path target, List<String> flags, List<String> libraries)
            throws IOException {
        Path partial = Files.createTempFile(target.toAbsolutePath().getParent(), "build", ".tmp");
        List<String> line = new ArrayList<>(List.of(command, "-O2", "-pthread"));
        line.addAll(flags);
        line.addAll(List.of("-o", partial.toString(), source.toString()));
        line.addAll(libraries);
        try {
            String unused = Command.run(line.toArray(String[]::new));
        } catch (IOException e) {
            Files.delete(partial);
            throw new IOException("the C compiler failed: " + e.getMessage(), e);
        }
        Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
    }
}
