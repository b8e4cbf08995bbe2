package org.apache.zookeeper.server.persistence;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A directory whose power can be cut before any of its operations. What was written and not forced
 * is then on disk, or not, or in part; of the names that were made, renamed or removed in a
 * directory since that was forced, a prefix in their order is (as in a journal).
 *
 * <p>Real files lie behind it, for those who read through {@link Path#toFile()}. Forces cost
 * nothing. Not thread-safe.
 */
final class PowerCutDisk extends FileSystem {
    private static final FileSystem REAL = FileSystems.getDefault();

    /** The power is gone: nobody may catch this. */
    static final class PowerCut extends Error {
        private static final long serialVersionUID = 1;

        PowerCut(String operation) {
            super("power cut before: " + operation);
        }
    }

    /** How much of what was not forced is on disk after all. */
    enum Unforced {
        KEPT,
        LOST,
        IN_PART
    }

    private static final class Inode {
        private byte[] forced = new byte[0];
        private byte[] now = new byte[0];
        private Map<String, Inode> forcedNames;
        private Map<String, Inode> names;
        private final List<Map<String, Inode>> history = new ArrayList<>();

        static Inode directory() {
            Inode inode = new Inode();
            inode.forcedNames = new TreeMap<>();
            inode.names = new TreeMap<>();
            return inode;
        }

        boolean isDirectory() {
            return names != null;
        }

        void namesChanged() {
            history.add(new TreeMap<>(names));
        }

        void force() {
            if (isDirectory()) {
                forcedNames = new TreeMap<>(names);
                history.clear();
            } else {
                forced = now;
            }
        }
    }

    private final Path realRoot;
    private final Inode root;
    private final Provider provider = new Provider();
    private int operations;
    private int cutBefore = Integer.MAX_VALUE;

    /**
     * @param realRoot an existing directory; what is in it counts as forced
     */
    PowerCutDisk(Path realRoot) throws IOException {
        this.realRoot = realRoot;
        this.root = load(realRoot);
    }

    private static Inode load(Path real) throws IOException {
        if (!Files.isDirectory(real)) {
            Inode file = new Inode();
            file.now = Files.readAllBytes(real);
            file.force();
            return file;
        }
        Inode directory = Inode.directory();
        try (Stream<Path> files = Files.list(real)) {
            for (Path file : files.toList()) {
                directory.names.put(file.getFileName().toString(), load(file));
            }
        }
        directory.force();
        return directory;
    }

    /** The directory, as those see it whose power is to be cut. */
    Path root() {
        return wrap(realRoot);
    }

    /** How many operations there were that change something or force it. */
    int operations() {
        return operations;
    }

    /** Cuts the power before this operation, counted from 0. */
    void cutBefore(int operation) {
        cutBefore = operation;
    }

    /** Writes to an empty directory what is on disk after a power cut now. */
    void afterPowerCut(Path empty, Unforced files, Unforced names, Random random)
            throws IOException {
        write(root, empty, files, names, random);
    }

    private static void write(
            Inode directory, Path to, Unforced files, Unforced names, Random random)
            throws IOException {
        Files.createDirectories(to);
        List<Map<String, Inode>> states = new ArrayList<>();
        states.add(directory.forcedNames);
        states.addAll(directory.history);
        Map<String, Inode> onDisk =
                switch (names) {
                    case KEPT -> directory.names;
                    case LOST -> directory.forcedNames;
                    case IN_PART -> states.get(random.nextInt(states.size()));
                };
        for (Map.Entry<String, Inode> entry : onDisk.entrySet()) {
            Path path = to.resolve(entry.getKey());
            Inode inode = entry.getValue();
            if (inode.isDirectory()) {
                write(inode, path, files, names, random);
            } else {
                Files.write(
                        path,
                        switch (files) {
                            case KEPT -> inode.now;
                            case LOST -> inode.forced;
                            case IN_PART -> torn(inode, random);
                        });
            }
        }
    }

    /** New bytes up to somewhere; from there on old ones, zeros or nothing. */
    private static byte[] torn(Inode file, Random random) {
        if (Arrays.equals(file.now, file.forced)) {
            return file.now;
        }
        int at = random.nextInt(file.now.length + 1);
        byte[] rest = random.nextBoolean() ? file.forced : new byte[file.now.length];
        byte[] torn = Arrays.copyOf(file.now, Math.max(at, rest.length));
        if (rest.length > at) {
            System.arraycopy(rest, at, torn, at, rest.length - at);
        }
        return torn;
    }

    private void operation(String what) {
        if (operations == cutBefore) {
            throw new PowerCut(what);
        }
        operations++;
    }

    private Inode inode(Path real) {
        Inode inode = root;
        for (Path name : realRoot.relativize(real)) {
            if (!name.toString().isEmpty()) {
                inode = inode.names.get(name.toString());
            }
        }
        return inode;
    }

    private Inode parent(Path real) {
        return inode(real.getParent());
    }

    private static String name(Path real) {
        return real.getFileName().toString();
    }

    // ---- Paths ----

    private final class WrappedPath implements InvocationHandler {
        private final Path real;

        WrappedPath(Path real) {
            this.real = real;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("getFileSystem")) {
                return PowerCutDisk.this;
            }
            Object[] unwrapped = arguments == null ? new Object[0] : arguments.clone();
            for (int i = 0; i < unwrapped.length; i++) {
                if (unwrapped[i] instanceof Path path) {
                    unwrapped[i] = unwrap(path);
                }
            }
            try {
                Object result = method.invoke(real, unwrapped);
                return result instanceof Path path ? wrap(path) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private Path wrap(Path real) {
        return (Path)
                Proxy.newProxyInstance(
                        PowerCutDisk.class.getClassLoader(),
                        new Class<?>[] {Path.class},
                        new WrappedPath(real));
    }

    private static Path unwrap(Path path) {
        return Proxy.isProxyClass(path.getClass())
                ? ((WrappedPath) Proxy.getInvocationHandler(path)).real
                : path;
    }

    // ---- Operations ----

    private final class Provider extends FileSystemProvider {
        @Override
        public FileChannel newFileChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            Path real = unwrap(path);
            boolean writes = options.contains(StandardOpenOption.WRITE);
            if (writes && !Files.exists(real) && options.contains(StandardOpenOption.CREATE)) {
                operation("create " + real);
                parent(real).names.put(name(real), new Inode());
                parent(real).namesChanged();
            } else if (writes && options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                operation("empty " + real);
                inode(real).now = new byte[0];
            }
            FileChannel channel = FileChannel.open(real, options);
            return new Channel(real, inode(real), channel);
        }

        @Override
        public SeekableByteChannel newByteChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            return newFileChannel(path, options, attributes);
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(
                Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
            List<Path> found = new ArrayList<>();
            try (Stream<Path> files = Files.list(unwrap(directory))) {
                for (Path file : files.toList()) {
                    found.add(wrap(file));
                }
            }
            return new DirectoryStream<>() {
                @Override
                public Iterator<Path> iterator() {
                    return found.iterator();
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
            Path real = unwrap(path);
            operation("create directory " + real);
            Files.createDirectory(real);
            parent(real).names.put(name(real), Inode.directory());
            parent(real).namesChanged();
        }

        @Override
        public void delete(Path path) throws IOException {
            Path real = unwrap(path);
            operation("delete " + real);
            Files.delete(real);
            parent(real).names.remove(name(real));
            parent(real).namesChanged();
        }

        @Override
        public void copy(Path source, Path target, CopyOption... options) throws IOException {
            operation("copy " + source);
            Path real = unwrap(target);
            Files.copy(unwrap(source), real, options);
            Inode copy = new Inode();
            copy.now = inode(unwrap(source)).now;
            parent(real).names.put(name(real), copy);
            parent(real).namesChanged();
        }

        @Override
        public void move(Path source, Path target, CopyOption... options) throws IOException {
            operation("move " + source + " to " + target);
            Path from = unwrap(source);
            Path to = unwrap(target);
            if (!from.getParent().equals(to.getParent())) {
                throw new IOException("this disk moves nothing between directories");
            }
            Files.move(from, to, options);
            Inode directory = parent(to);
            directory.names.put(name(to), directory.names.remove(name(from)));
            directory.namesChanged();
        }

        @Override
        public boolean isSameFile(Path one, Path other) throws IOException {
            return Files.isSameFile(unwrap(one), unwrap(other));
        }

        @Override
        public boolean isHidden(Path path) throws IOException {
            return Files.isHidden(unwrap(path));
        }

        @Override
        public FileStore getFileStore(Path path) throws IOException {
            return Files.getFileStore(unwrap(path));
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            REAL.provider().checkAccess(unwrap(path), modes);
        }

        @Override
        public <V extends FileAttributeView> V getFileAttributeView(
                Path path, Class<V> type, LinkOption... options) {
            return Files.getFileAttributeView(unwrap(path), type, options);
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(
                Path path, Class<A> type, LinkOption... options) throws IOException {
            return Files.readAttributes(unwrap(path), type, options);
        }

        @Override
        public Map<String, Object> readAttributes(
                Path path, String attributes, LinkOption... options) throws IOException {
            return Files.readAttributes(unwrap(path), attributes, options);
        }

        @Override
        public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String getScheme() {
            return "powercut";
        }

        @Override
        public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileSystem getFileSystem(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Path getPath(URI uri) {
            throw new UnsupportedOperationException();
        }
    }

    private final class Channel extends FileChannel {
        private final Path path;
        private final Inode inode;
        private final FileChannel real;

        Channel(Path path, Inode inode, FileChannel real) {
            this.path = path;
            this.inode = inode;
            this.real = real;
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            long at = real.position();
            int written = write(source, at);
            real.position(at + written);
            return written;
        }

        @Override
        public int write(ByteBuffer source, long position) throws IOException {
            operation("write to " + path);
            int from = (int) position;
            int length = source.remaining();
            byte[] content = Arrays.copyOf(inode.now, Math.max(inode.now.length, from + length));
            source.duplicate().get(content, from, length);
            inode.now = content;
            int written = real.write(source, position);
            if (written != length) {
                throw new IOException("wrote " + written + " of " + length + " bytes");
            }
            return written;
        }

        @Override
        public FileChannel truncate(long size) throws IOException {
            operation("truncate " + path);
            real.truncate(size);
            inode.now = Arrays.copyOf(inode.now, (int) Math.min(size, inode.now.length));
            return this;
        }

        @Override
        public void force(boolean metaData) {
            operation("force " + path);
            inode.force();
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return real.read(target);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return real.read(target, position);
        }

        @Override
        public long position() throws IOException {
            return real.position();
        }

        @Override
        public FileChannel position(long position) throws IOException {
            real.position(position);
            return this;
        }

        @Override
        public long size() throws IOException {
            return real.size();
        }

        @Override
        protected void implCloseChannel() throws IOException {
            real.close();
        }

        @Override
        public long read(ByteBuffer[] targets, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long write(ByteBuffer[] sources, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long transferTo(long position, long count, WritableByteChannel target) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long transferFrom(ReadableByteChannel source, long position, long count) {
            throw new UnsupportedOperationException();
        }

        @Override
        public MappedByteBuffer map(MapMode mode, long position, long size) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileLock lock(long position, long size, boolean shared) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileLock tryLock(long position, long size, boolean shared) {
            throw new UnsupportedOperationException();
        }
    }

    // ---- The rest of a file system ----

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    @Override
    public void close() {}

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return REAL.getSeparator();
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return List.of();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return List.of();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return Set.of("basic");
    }

    @Override
    public Path getPath(String first, String... more) {
        return wrap(REAL.getPath(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw new UnsupportedOperationException();
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException();
    }
}
