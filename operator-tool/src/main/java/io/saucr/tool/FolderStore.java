package io.saucr.tool;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An archive in a folder. A file is written under a name of its own, synced and renamed. If the
 * process is killed meanwhile, {@link Archive#unfinished} has the file.
 */
final class FolderStore implements ArchiveStore {
    private static final Set<PosixFilePermission> OWNER_ALONE =
            PosixFilePermissions.fromString("rwx------");

    private final Path folder;

    /**
     * @param create whether to make the folder if it is missing
     * @throws IOException if there is no such folder
     */
    FolderStore(Path folder, boolean create) throws IOException {
        if (create && !Files.exists(folder)) {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
        }
        if (!Files.isDirectory(folder)) {
            throw new NoSuchFileException(folder.toString(), null, "there is no such folder");
        }
        this.folder = folder;
    }

    @Override
    public String place() {
        return folder.toString();
    }

    @Override
    public List<String> names() throws IOException {
        List<String> names = new ArrayList<>();
        collect(folder, names);
        return names;
    }

    /** Another process may remove files meanwhile. */
    private void collect(Path from, List<String> names) throws IOException {
        List<Path> inside;
        try (Stream<Path> files = Files.list(from)) {
            inside = files.toList();
        } catch (NoSuchFileException e) {
            return;
        }
        for (Path each : inside) {
            if (Files.isDirectory(each)) {
                collect(each, names);
            } else {
                names.add(folder.relativize(each).toString());
            }
        }
    }

    @Override
    public InputStream open(String name) throws IOException {
        return Files.newInputStream(folder.resolve(name));
    }

    @Override
    public void put(String name, Path file) throws IOException {
        Path target = folder.resolve(name);
        List<Path> made = new ArrayList<>();
        for (Path parent = target.getParent();
                !Files.isDirectory(parent);
                parent = parent.getParent()) {
            made.add(0, parent);
        }
        for (Path each : made) {
            Files.createDirectories(each, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
            NewFile.force(each.getParent());
        }
        Path partial =
                target.resolveSibling(
                        target.getFileName() + ".partial-" + ProcessHandle.current().pid());
        try (InputStream in = Files.newInputStream(file)) {
            NewFile.write(in, partial);
            Files.setPosixFilePermissions(partial, PosixFilePermissions.fromString("rw-------"));
            Files.move(
                    partial,
                    target,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            Files.deleteIfExists(partial);
            throw e;
        }
        NewFile.force(target.getParent());
    }

    @Override
    public void delete(String name) throws IOException {
        Path file = folder.resolve(name);
        Files.deleteIfExists(file);
        // A folder with nothing in it goes with its last file.
        for (Path parent = file.getParent(); !parent.equals(folder); parent = parent.getParent()) {
            try {
                Files.deleteIfExists(parent);
            } catch (DirectoryNotEmptyException e) {
                return;
            }
        }
    }
}
