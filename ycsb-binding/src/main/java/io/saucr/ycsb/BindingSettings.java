package io.saucr.ycsb;

import java.util.List;
import java.util.Properties;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import site.ycsb.DBException;

/**
 * The properties of the binding, parsed and checked. Immutable, but for {@code client}, which the
 * ZooKeeper client only reads.
 *
 * @param servers HOST:PORT, separated by commas
 * @param tableNode path of the node whose children are the records
 * @param fieldCount fields of a whole record, YCSB's own property
 * @param sessionTimeoutMillis what the client asks for
 * @param connectTimeoutMillis how long the first connection may take
 * @param asyncDepth writes under way for each YCSB thread at most; 0: each is waited for
 * @param authScheme null if the client does not authenticate
 * @param acl of every node that is created
 */
record BindingSettings(
        String servers,
        String tableNode,
        int fieldCount,
        int sessionTimeoutMillis,
        int connectTimeoutMillis,
        int asyncDepth,
        String authScheme,
        String authData,
        List<ACL> acl,
        ZKClientConfig client) {

    static final String CONNECT = "zookeeper.connectString";
    static final String CHROOT = "zookeeper.chroot";
    static final String SESSION_TIMEOUT = "zookeeper.sessionTimeout";
    static final String CONNECT_TIMEOUT = "zookeeper.connectTimeout";
    static final String AUTH = "zookeeper.auth";
    static final String ASYNC_DEPTH = "zookeeper.asyncDepth";
    static final String KEY_STORE = "zookeeper.tls.keyStore";
    static final String KEY_STORE_PASSWORD = "zookeeper.tls.keyStorePassword";
    static final String TRUST_STORE = "zookeeper.tls.trustStore";
    static final String TRUST_STORE_PASSWORD = "zookeeper.tls.trustStorePassword";
    static final String VERIFY_HOSTNAME = "zookeeper.tls.verifyHostname";

    /**
     * @throws DBException naming the property, its value and what is allowed
     */
    static BindingSettings parse(Properties properties) throws DBException {
        String connect = properties.getProperty(CONNECT, "127.0.0.1:2181").trim();
        int slash = connect.indexOf('/');
        String servers = slash < 0 ? connect : connect.substring(0, slash);
        String root = slash < 0 ? "" : connect.substring(slash);
        root += properties.getProperty(CHROOT, "").trim();
        String node = (root.equals("/") ? "" : root) + "/" + tableName(properties);
        if (servers.isEmpty()) {
            throw invalid(CONNECT, connect, "HOST:PORT[,HOST:PORT...][/CHROOT]");
        }
        try {
            PathUtils.validatePath(node);
        } catch (IllegalArgumentException e) {
            throw invalid(CHROOT, root, "a path like /bench: " + e.getMessage());
        }
        String auth = properties.getProperty(AUTH);
        int colon = auth == null ? 0 : auth.indexOf(':');
        if (auth != null && colon < 1) {
            throw invalid(AUTH, auth, "SCHEME:CREDENTIALS, for example digest:user:password");
        }
        return new BindingSettings(
                servers,
                node,
                integer(properties, "fieldcount", 10, 1, 100_000),
                integer(properties, SESSION_TIMEOUT, 30_000, 100, 3_600_000),
                integer(properties, CONNECT_TIMEOUT, 30_000, 1, 3_600_000),
                integer(properties, ASYNC_DEPTH, 0, 0, 100_000),
                auth == null ? null : auth.substring(0, colon),
                auth == null ? null : auth.substring(colon + 1),
                auth == null ? ZooDefs.Ids.OPEN_ACL_UNSAFE : ZooDefs.Ids.CREATOR_ALL_ACL,
                client(properties));
    }

    private static String tableName(Properties properties) {
        return properties.getProperty("table", "usertable").trim();
    }

    private static ZKClientConfig client(Properties properties) throws DBException {
        ZKClientConfig config = new ZKClientConfig();
        String trustStore = properties.getProperty(TRUST_STORE);
        String keyStore = properties.getProperty(KEY_STORE);
        if (trustStore == null && keyStore == null) {
            return config;
        }
        if (trustStore == null) {
            throw new DBException(
                    KEY_STORE + " is given without " + TRUST_STORE + ": TLS needs the latter");
        }
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        config.setProperty(
                ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
                "org.apache.zookeeper.ClientCnxnSocketNetty");
        try (ClientX509Util names = new ClientX509Util()) {
            set(config, names.getSslTruststoreLocationProperty(), trustStore);
            set(
                    config,
                    names.getSslTruststorePasswdProperty(),
                    properties.getProperty(TRUST_STORE_PASSWORD));
            set(config, names.getSslKeystoreLocationProperty(), keyStore);
            set(
                    config,
                    names.getSslKeystorePasswdProperty(),
                    properties.getProperty(KEY_STORE_PASSWORD));
            set(
                    config,
                    names.getSslHostnameVerificationEnabledProperty(),
                    flag(properties, VERIFY_HOSTNAME));
        }
        return config;
    }

    private static void set(ZKClientConfig config, String key, String value) {
        if (value != null) {
            config.setProperty(key, value);
        }
    }

    private static String flag(Properties properties, String key) throws DBException {
        String value = properties.getProperty(key, "true").trim();
        if (!value.equals("true") && !value.equals("false")) {
            throw invalid(key, value, "true or false");
        }
        return value;
    }

    private static int integer(Properties properties, String key, int preset, int least, int most)
            throws DBException {
        String value = properties.getProperty(key);
        if (value == null) {
            return preset;
        }
        try {
            int number = Integer.parseInt(value.trim());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw invalid(key, value, "a whole number from " + least + " to " + most);
    }

    private static DBException invalid(String key, String value, String allowed) {
        return new DBException(key + "=" + value + ": expected " + allowed);
    }
}
