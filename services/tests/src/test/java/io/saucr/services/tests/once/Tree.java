package io.saucr.services.tests.once;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Nodes as a client sees them: either read from an ensemble, or the reference, which takes each
 * {@link Step} exactly once as one server would. The counters of changes belong to it, so that a
 * node that was made and deleted once too often is noticed, too. Used by one thread.
 */
public final class Tree {
    /**
     * @param version how often the data was set
     * @param childChanges creates and deletes of children
     * @param created the transaction that made it
     */
    record Node(String data, int version, int childChanges, long created) {}

    /** Where once clients keep their markers; no part of the comparison. */
    static final String MARKERS = "/once";

    private NavigableMap<String, Node> nodes = new TreeMap<>();
    private NavigableMap<String, Integer> childrenEver = new TreeMap<>();
    private long transactions;

    Tree() {
        nodes.put("/", new Node("", 0, 0, 0));
    }

    /** The nodes below the root that the session sees, without markers. */
    static Tree read(ZooKeeper session) throws KeeperException, InterruptedException {
        Tree tree = new Tree();
        tree.nodes.remove("/");
        List<String> left = new ArrayList<>(List.of("/"));
        while (!left.isEmpty()) {
            String path = left.remove(left.size() - 1);
            Stat stat = new Stat();
            byte[] data = session.getData(path, false, stat);
            tree.nodes.put(
                    withoutProtection(path),
                    new Node(
                            data == null ? "" : new String(data, StandardCharsets.UTF_8),
                            stat.getVersion(),
                            stat.getCversion(),
                            stat.getCzxid()));
            for (String child : session.getChildren(path, false)) {
                String full = path.equals("/") ? "/" + child : path + "/" + child;
                if (!full.equals(MARKERS)) {
                    left.add(full);
                }
            }
        }
        return tree;
    }

    /** Curator finds its nodes by an identity in their names. */
    static String withoutProtection(String path) {
        return path.replaceFirst("/_c_[0-9a-f-]{36}-", "/");
    }

    Map<String, Node> nodes() {
        return nodes;
    }

    /** The node, or null. */
    Node node(String path) {
        return nodes.get(path);
    }

    /** The paths of the node's children, in their order. */
    List<String> children(String path) {
        String below = path.equals("/") ? "/" : path + "/";
        return nodes.tailMap(below, false).keySet().stream()
                .takeWhile(each -> each.startsWith(below))
                .filter(each -> each.indexOf('/', below.length()) < 0)
                .toList();
    }

    /** Takes the step as a server would, and says what the server would answer. */
    Told apply(Step step) {
        transactions++;
        if (!(step instanceof Step.Multi multi)) {
            return applyOne(step);
        }
        NavigableMap<String, Node> before = new TreeMap<>(nodes);
        NavigableMap<String, Integer> everBefore = new TreeMap<>(childrenEver);
        for (Step part : multi.parts()) {
            Told told = applyOne(part);
            if (!told.isDone()) {
                nodes = before;
                childrenEver = everBefore;
                return told;
            }
        }
        return Told.done();
    }

    private Told applyOne(Step step) {
        if (step instanceof Step.Create create) {
            return make(create.path(), create.data(), false);
        } else if (step instanceof Step.CreateSequential create) {
            int number = childrenEver.getOrDefault(parent(create.prefix()), 0);
            return make(
                    String.format(Locale.ROOT, "%s%010d", create.prefix(), number),
                    create.data(),
                    true);
        } else if (step instanceof Step.SetData set) {
            Told told = look(set.path(), set.version());
            if (told.isDone()) {
                Node old = nodes.get(set.path());
                nodes.put(
                        set.path(),
                        new Node(set.data(), old.version() + 1, old.childChanges(), old.created()));
            }
            return told;
        } else if (step instanceof Step.Delete delete) {
            Told told = look(delete.path(), delete.version());
            if (told.isDone() && !children(delete.path()).isEmpty()) {
                return Told.refused(Code.NOTEMPTY);
            }
            if (told.isDone()) {
                nodes.remove(delete.path());
                changeChildren(parent(delete.path()));
            }
            return told;
        } else if (step instanceof Step.Check check) {
            return look(check.path(), check.version());
        }
        throw new IllegalArgumentException("no multi within a multi: " + step);
    }

    private Told make(String path, String data, boolean sequential) {
        String parent = parent(path);
        if (!nodes.containsKey(parent)) {
            return Told.refused(Code.NONODE);
        }
        if (nodes.containsKey(path)) {
            return Told.refused(Code.NODEEXISTS);
        }
        nodes.put(path, new Node(data, 0, 0, transactions));
        childrenEver.merge(parent, 1, Integer::sum);
        changeChildren(parent);
        return sequential ? Told.created(path) : Told.done();
    }

    private void changeChildren(String parent) {
        nodes.computeIfPresent(
                parent,
                (path, node) ->
                        new Node(
                                node.data(),
                                node.version(),
                                node.childChanges() + 1,
                                node.created()));
    }

    private Told look(String path, int version) {
        Node node = nodes.get(path);
        if (node == null) {
            return Told.refused(Code.NONODE);
        }
        return version == -1 || version == node.version()
                ? Told.done()
                : Told.refused(Code.BADVERSION);
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }

    /** Makes an ensemble's nodes those of this tree; the root exists. */
    void writeTo(ZooKeeper session) throws KeeperException, InterruptedException {
        for (Map.Entry<String, Node> each : nodes.entrySet()) {
            if (!each.getKey().equals("/")) {
                session.multi(new Step.Create(each.getKey(), each.getValue().data()).ops());
            }
        }
    }
}
