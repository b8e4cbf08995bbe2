package io.saucr.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;

/** Loads a class of Apache's, and its parts, that ours replaces; all others are shared. */
public final class ReleasedClasses extends ClassLoader {
    private final String replaced;

    public ReleasedClasses(String replaced) {
        super(ReleasedClasses.class.getClassLoader());
        this.replaced = replaced;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            if (!name.startsWith(replaced)) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try {
            for (URL url : Collections.list(getResources(name.replace('.', '/') + ".class"))) {
                if (url.getProtocol().equals("jar")) {
                    try (InputStream in = url.openStream()) {
                        byte[] bytes = in.readAllBytes();
                        return defineClass(name, bytes, 0, bytes.length);
                    }
                }
            }
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
        throw new ClassNotFoundException(name);
    }
}
