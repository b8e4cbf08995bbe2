package io.saucr.server;

import io.saucr.server.runtime.FolderLock;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog.DatadirException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folders of a server that runs without SAUCR, which no other process uses meanwhile. A folder
 * in which no lock can be had does not stop the server, as it stops none of Apache's: whether the
 * folder can be used is for ZooKeeper to find.
 */
final class UsedFolders implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(UsedFolders.class);

    private final List<FolderLock> locks = new ArrayList<>();

    private UsedFolders() {}

    /**
     * @throws DatadirException if another process uses one of the folders
     */
    static UsedFolders lock(File dataLogDir, File dataDir) throws IOException {
        UsedFolders used = new UsedFolders();
        Set<Path> folders = new TreeSet<>();
        for (File each : List.of(dataLogDir, dataDir)) {
            folders.add(each.toPath().resolve(StartCheck.VERSION_FOLDER).toAbsolutePath());
        }
        try {
            for (Path folder : folders) {
                used.lock(folder);
            }
        } catch (FolderLock.InUseException e) {
            used.close();
            System.err.println(e.getMessage());
            throw new DatadirException(e.getMessage(), e);
        }
        return used;
    }

    private void lock(Path folder) throws FolderLock.InUseException {
        try {
            if (mayBeMade()) {
                Files.createDirectories(folder);
            }
            locks.add(FolderLock.take(folder, FolderLock.PATIENCE));
        } catch (FolderLock.InUseException e) {
            throw e;
        } catch (IOException e) {
            LOG.warn("Nothing keeps a second process off {}", folder, e);
        }
    }

    /** ZooKeeper makes the folder then, else it refuses to start without it. */
    private static boolean mayBeMade() {
        return Boolean.parseBoolean(
                System.getProperty(FileTxnSnapLog.ZOOKEEPER_DATADIR_AUTOCREATE, "true"));
    }

    @Override
    public void close() throws IOException {
        for (FolderLock lock : locks) {
            lock.close();
        }
    }
}
