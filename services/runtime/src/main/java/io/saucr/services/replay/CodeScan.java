package io.saucr.services.replay;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for what can not be replayed in the byte code of a service: clocks, random numbers,
 * threads, locks that are not recorded, I/O, and state that lanes share outside of {@link
 * LaneState}. It follows calls from the constructors and from {@link LaneService#handlers}, without
 * the handlers of queries, to classes of the same jar or folder. What libraries do in other jars,
 * and what is called by reflection, it does not see: a divergence is found by X14.
 *
 * <p>One thread; runs nothing of the service.
 */
public final class CodeScan {

    /** What can not be replayed. */
    record Finding(String where, String what) {

        @Override
        public String toString() {
            return where + " " + what;
        }
    }

    private record Method(String owner, String name, String descriptor) {}

    private static final Logger LOG = LoggerFactory.getLogger(CodeScan.class);

    private static final String LIBRARY = "io/saucr/services/";

    private final Class<?> service;
    private final String root;
    private final Map<String, Optional<ScannedClass>> classes = new HashMap<>();

    /** The class of the service, and those above it. */
    private final Set<String> chain = new HashSet<>();

    private final Set<Method> seen = new HashSet<>();
    private final Deque<Method> open = new ArrayDeque<>();
    private final List<Finding> findings = new ArrayList<>();

    private CodeScan(Class<?> service, String root) {
        this.service = service;
        this.root = root;
    }

    /**
     * Refuses a service whose code does what can not be replayed.
     *
     * @throws IllegalArgumentException says which class, method and line does what, and what to do
     */
    public static void check(Class<?> service) {
        List<Finding> findings = findings(service);
        if (!findings.isEmpty()) {
            StringBuilder text =
                    new StringBuilder(
                            service.getName()
                                    + " does what another member would do otherwise as it"
                                    + " replays:");
            findings.forEach(it -> text.append("\n  ").append(it));
            throw new IllegalArgumentException(
                    text
                            + "\nTake what LaneState and LaneTurn offer. withoutScan() runs it all"
                            + " the same");
        }
    }

    /** All that was found, in the order of calls. */
    static List<Finding> findings(Class<?> service) {
        Optional<String> root = root(service);
        if (root.isEmpty()) {
            LOG.warn(
                    "{} has no class file, so its code is not looked at: declare a class that"
                            + " implements LaneService",
                    service.getName());
            return List.of();
        }
        CodeScan scan = new CodeScan(service, root.get());
        scan.run();
        LOG.debug("{}: {} methods were looked at", service.getName(), scan.seen.size());
        return scan.findings;
    }

    /** Where the class files of a service are; empty if it has none, as a lambda. */
    private static Optional<String> root(Class<?> service) {
        if (service.isHidden() || service.getClassLoader() == null) {
            return Optional.empty();
        }
        String file = service.getName().replace('.', '/') + ".class";
        URL url = service.getClassLoader().getResource(file);
        return url == null || !url.toString().endsWith(file)
                ? Optional.empty()
                : Optional.of(url.toString().substring(0, url.toString().length() - file.length()));
    }

    private void run() {
        for (String name = internal(service); ; ) {
            Optional<ScannedClass> code = code(name);
            if (code.isEmpty()) {
                break;
            }
            chain.add(name);
            sharedFields(code.get());
            for (ScannedClass.Code method : code.get().methods()) {
                if (method.name().equals("<init>") || method.name().equals("handlers")) {
                    add(new Method(name, method.name(), method.descriptor()));
                }
            }
            name = code.get().superName();
        }
        while (!open.isEmpty()) {
            look(open.remove());
        }
    }

    private static String internal(Class<?> type) {
        return type.getName().replace('.', '/');
    }

    /** A class of the service, and not of the library or the JDK. */
    private Optional<ScannedClass> code(String name) {
        return classes.computeIfAbsent(name, it -> isOwn(it) ? read(it) : Optional.empty());
    }

    private boolean isOwn(String name) {
        if (name.startsWith("[")) {
            return false;
        }
        // In one jar with the library, what is in another package of it is the library's.
        String own = internal(service);
        String at = own.substring(0, own.lastIndexOf('/') + 1);
        return !name.startsWith(LIBRARY) || name.startsWith(at);
    }

    private Optional<ScannedClass> read(String name) {
        String file = name + ".class";
        URL url = service.getClassLoader().getResource(file);
        if (url == null || !url.toString().equals(root + file)) {
            return Optional.empty();
        }
        try (InputStream bytes = url.openStream()) {
            ScannedClass code = new ScannedClass();
            new ClassReader(bytes).accept(code, ClassReader.SKIP_FRAMES);
            return Optional.of(code);
        } catch (IOException | IllegalArgumentException e) {
            // Such as a class file of a newer Java than this release knows.
            LOG.warn("{} can not be read, so its code is not looked at: {}", name, e.getMessage());
            return Optional.empty();
        }
    }

    private void add(Method method) {
        if (seen.add(method)) {
            open.add(method);
        }
    }

    private void sharedFields(ScannedClass code) {
        for (ScannedClass.Field field : code.fields()) {
            if (!field.isStatic()) {
                field.problem()
                        .ifPresent(
                                it ->
                                        found(
                                                code.name() + "." + field.name(),
                                                "is " + it + ", which lanes share"));
            }
        }
    }

    private void look(Method method) {
        Optional<ScannedClass> of = code(method.owner());
        if (of.isEmpty()) {
            return;
        }
        Optional<ScannedClass.Code> found = of.get().method(method.name(), method.descriptor());
        if (found.isEmpty()) {
            // It is inherited.
            String above = of.get().superName();
            if (above != null) {
                add(new Method(above, method.name(), method.descriptor()));
            }
            of.get()
                    .interfaces()
                    .forEach(it -> add(new Method(it, method.name(), method.descriptor())));
            return;
        }
        initializes(method.owner());
        ScannedClass.Code code = found.get();
        if (code.isSynchronized()) {
            found(
                    where(method, code.firstLine()),
                    "is synchronized, which is not recorded: take LaneState.lock");
        }
        for (ScannedClass.Step step : code.steps()) {
            look(method, step);
        }
    }

    private void look(Method method, ScannedClass.Step step) {
        String where = where(method, step.line());
        switch (step.kind()) {
            case MONITOR ->
                    found(where, "is synchronized, which is not recorded: take LaneState.lock");
            case MAKES -> makes(step.owner());
            case READS_STATIC, WRITES_STATIC -> {
                initializes(step.owner());
                staticField(method, step, where);
            }
            case CALLS -> {
                Unrepeatable.problem(step.owner(), step.name(), step.descriptor())
                        .ifPresent(it -> found(where, it));
                add(new Method(step.owner(), step.name(), step.descriptor()));
                if (chain.contains(step.owner())) {
                    // The service may override it.
                    add(new Method(internal(service), step.name(), step.descriptor()));
                }
            }
        }
    }

    /** An own class is made: its methods may be called by an interface. */
    private void makes(String type) {
        code(type)
                .ifPresent(
                        made ->
                                made.methods().stream()
                                        .filter(it -> !it.name().startsWith("lambda$"))
                                        .forEach(
                                                it ->
                                                        add(
                                                                new Method(
                                                                        type,
                                                                        it.name(),
                                                                        it.descriptor()))));
    }

    private void initializes(String type) {
        if (code(type).flatMap(it -> it.method("<clinit>", "()V")).isPresent()) {
            add(new Method(type, "<clinit>", "()V"));
        }
    }

    private void staticField(Method method, ScannedClass.Step step, String where) {
        boolean sets = method.name().equals("<clinit>") && method.owner().equals(step.owner());
        code(step.owner())
                .flatMap(it -> it.field(step.name()))
                .filter(it -> !sets)
                .flatMap(ScannedClass.Field::problem)
                .ifPresent(
                        it ->
                                found(
                                        where,
                                        "uses the static "
                                                + step.name()
                                                + ", which is "
                                                + it
                                                + ": keep it in a LaneMap"));
    }

    private static String where(Method method, int line) {
        return method.owner().replace('/', '.')
                + "."
                + method.name()
                + (line > 0 ? ", line " + line + "," : "");
    }

    private void found(String where, String what) {
        findings.add(new Finding(where.replace('/', '.'), what));
    }
}
