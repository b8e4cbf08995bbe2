package io.saucr.tests.ensemble;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.jute.InputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateTTLRequest;
import org.apache.zookeeper.proto.MultiHeader;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.Test;

/**
 * What a leader logs every server can read, and all make the same of it, at once and after a
 * restart; or it is refused before it is logged. Apache's servers fail in each of these.
 */
class OwnLogIT {
    private static final int SESSION_MILLIS = 600_000;
    private static final int NODES = 500;
    private static final long TTL_MILLIS = 600_000;

    /** With a character beyond the basic plane, which Java has as two. */
    private static final String USER = "\ud83d\ude00:secret";

    private static void restartAll(SaucrEnsemble ensemble) throws Exception {
        Integer[] all = ensemble.all().toArray(Integer[]::new);
        ensemble.terminate(all);
        ensemble.restart(all);
        ensemble.awaitServing();
    }

    /** The path, the data and the owner of each node that tests made, by one server. */
    private static Map<String, String> tree(SaucrEnsemble ensemble, int id) throws Exception {
        Map<String, String> tree = new TreeMap<>();
        try (Client client = ensemble.connect(id)) {
            client.sync("/", (code, path, context) -> {}, null);
            for (String each : client.getChildren("/", false)) {
                Stat stat = new Stat();
                if (!each.equals("zookeeper")) {
                    byte[] data = client.getData("/" + each, false, stat);
                    tree.put(
                            each,
                            new String(data, UTF_8)
                                    + " "
                                    + stat.getEphemeralOwner()
                                    + " "
                                    + stat.getCzxid());
                }
            }
        }
        return tree;
    }

    /** The names are those up to the hyphen, behind which servers put a number. */
    private static void assertSameTrees(SaucrEnsemble ensemble, Set<String> names)
            throws Exception {
        Map<String, String> first = tree(ensemble, 1);
        assertThat(
                        first.keySet().stream()
                                .map(each -> each.replaceFirst("-[0-9]+$", "-"))
                                .collect(Collectors.toSet()))
                .isEqualTo(names);
        for (int id : ensemble.all()) {
            assertThat(tree(ensemble, id)).as("tree of server " + id).isEqualTo(first);
            assertThat(ensemble.metric(id, "zk_digest_mismatches_count")).isZero();
        }
    }

    @Test
    void theEndOfALargeSessionIsReadByEveryServer() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describePatient("own-log-session", 3)
                                .jvmFlag("-Djute.maxbuffer=20000")
                                .set("maxSessionTimeout", Integer.toString(SESSION_MILLIS)))) {
            int leader = ensemble.leader();
            int away = ensemble.followers().get(0);
            int stays = ensemble.followers().get(1);
            try (RawSession session =
                    RawSession.ask(ensemble.server(stays).address().clientPort(), SESSION_MILLIS)) {
                assertThat(session.awaitSession()).isNotZero();
                for (int i = 0; i < NODES; i++) {
                    session.createEphemeral("/" + "n".repeat(80) + i);
                }
                for (int i = 0; i < NODES; i++) {
                    assertThat(session.awaitAnswer()).isZero();
                }
                ensemble.kill(away);
                session.request(OpCode.closeSession);
                assertThat(session.awaitAnswer()).isZero();
            }
            try (Client client = ensemble.connect(leader, stays)) {
                client.create("/next", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            assertThat(ensemble.leader()).isEqualTo(leader);
            ensemble.restart(away);
            ensemble.awaitServing();
            assertSameTrees(ensemble, Set.of("next"));
            restartAll(ensemble);
            assertSameTrees(ensemble, Set.of("next"));
        }
    }

    private static Record request(int type, String path, int flag, long ttl) {
        return type == OpCode.createTTL
                ? new CreateTTLRequest(path, new byte[0], Ids.OPEN_ACL_UNSAFE, flag, ttl)
                : new CreateRequest(path, new byte[0], Ids.OPEN_ACL_UNSAFE, flag);
    }

    /** A multi of one operation; ZooKeeper's client makes none whose flag is another kind's. */
    private static Record multi(int type, Record operation) {
        return new Record() {
            @Override
            public void serialize(OutputArchive archive, String tag) throws IOException {
                new MultiHeader(type, false, -1).serialize(archive, tag);
                operation.serialize(archive, tag);
                new MultiHeader(-1, true, -1).serialize(archive, tag);
            }

            @Override
            public void deserialize(InputArchive archive, String tag) {
                throw new UnsupportedOperationException("a request");
            }
        };
    }

    /**
     * In a multi ZooKeeper turns some operations into those that the flag says. A create alone with
     * the flag of a container makes a persistent node.
     */
    private static boolean isAllowed(int type, int flag, long ttl, boolean alone) {
        boolean usual = flag >= 0 && flag <= 3;
        boolean container = flag == 4;
        return switch (type) {
            case OpCode.create, OpCode.create2 -> usual || container;
            case OpCode.createContainer -> container;
            default ->
                    (flag == 5 || flag == 6) ? ttl == TTL_MILLIS : ((usual || container) && !alone);
        };
    }

    @Test
    void aNodeIsOfTheSameKindAtEveryServer() throws Exception {
        int[] types = {OpCode.create, OpCode.create2, OpCode.createContainer, OpCode.createTTL};
        Set<String> names = new TreeSet<>();
        List<RawSession> sessions = new ArrayList<>();
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describePatient("own-log-kinds", 3)
                                .jvmFlag("-Dzookeeper.extendedTypesEnabled=true")
                                .jvmFlag("-Dznode.container.checkIntervalMs=86400000")
                                .set("maxSessionTimeout", Integer.toString(SESSION_MILLIS)))) {
            int leader = ensemble.leader();
            int number = 0;
            for (int id : List.of(leader, ensemble.followers().get(0))) {
                RawSession session =
                        RawSession.ask(ensemble.server(id).address().clientPort(), SESSION_MILLIS);
                sessions.add(session);
                assertThat(session.awaitSession()).isNotZero();
                for (int type : types) {
                    for (int flag = -1; flag <= 7; flag++) {
                        for (long ttl : new long[] {-1, 0, TTL_MILLIS, Long.MAX_VALUE}) {
                            for (boolean alone : new boolean[] {true, false}) {
                                String name = "n" + number++ + "-";
                                Record request = request(type, "/" + name, flag, ttl);
                                session.request(
                                        alone ? type : OpCode.multi,
                                        alone ? request : multi(type, request));
                                boolean allowed = isAllowed(type, flag, ttl, alone);
                                int code = session.awaitAnswer();
                                if (alone) {
                                    assertThat(code == 0)
                                            .as(type + ", flag " + flag + ", TTL " + ttl)
                                            .isEqualTo(allowed);
                                }
                                if (allowed) {
                                    names.add(name);
                                }
                            }
                        }
                    }
                }
            }
            assertThat(ensemble.leader()).isEqualTo(leader);
            assertSameTrees(ensemble, names);
            restartAll(ensemble);
            assertSameTrees(ensemble, names);
        } finally {
            for (RawSession each : sessions) {
                each.close();
            }
        }
    }

    /** Whether the client may do what only the user may, at each of the paths. */
    private static void assertAccess(SaucrEnsemble ensemble, List<String> paths) throws Exception {
        for (int id : ensemble.all()) {
            try (Client owner = ensemble.connect(id);
                    Client other = ensemble.connect(id)) {
                owner.addAuthInfo("digest", USER.getBytes(UTF_8));
                owner.sync("/", (code, path, context) -> {}, null);
                other.sync("/", (code, path, context) -> {}, null);
                for (String path : paths) {
                    assertThat(owner.getData(path, false, null)).as(path).isEmpty();
                    owner.setData(path, new byte[0], -1);
                    assertThatThrownBy(() -> other.getData(path, false, null))
                            .isInstanceOf(KeeperException.NoAuthException.class);
                }
            }
        }
    }

    @Test
    void aUserOfAnyNameKeepsItsRights() throws Exception {
        List<ACL> explicit =
                Collections.singletonList(
                        new ACL(
                                ZooDefs.Perms.ALL,
                                new Id(
                                        "digest",
                                        DigestAuthenticationProvider.generateDigest(USER))));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describePatient("own-log-user", 3))) {
            List<String> paths = new ArrayList<>();
            for (int id : ensemble.all()) {
                try (Client owner = ensemble.connect(id)) {
                    owner.addAuthInfo("digest", USER.getBytes(UTF_8));
                    for (List<ACL> acl : List.of(Ids.CREATOR_ALL_ACL, explicit)) {
                        String path = "/n" + paths.size();
                        paths.add(path);
                        owner.create(path, new byte[0], acl, CreateMode.PERSISTENT);
                        String inMulti = "/n" + paths.size();
                        paths.add(inMulti);
                        owner.multi(
                                List.of(
                                        Op.create(
                                                inMulti, new byte[0], acl, CreateMode.PERSISTENT)));
                        String later = "/n" + paths.size();
                        paths.add(later);
                        owner.create(
                                later, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                        owner.setACL(later, acl, -1);
                    }
                }
            }
            assertAccess(ensemble, paths);
            restartAll(ensemble);
            assertAccess(ensemble, paths);
        }
    }
}
