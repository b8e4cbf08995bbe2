package io.saucr.bench.ensemble;

import io.saucr.ensemble.Encryption;
import io.saucr.ensemble.Encryption.Tls;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.zookeeper.server.NettyServerCnxnFactory;

/**
 * Where every ensemble of a run uses TLS, and whether its ports for clients are Netty's. Immutable.
 *
 * @param netty true also if clients use TLS, for which ZooKeeper has no other port
 */
public record Security(Encryption encryption, boolean netty) {
    public static final Security NONE = new Security(Encryption.NONE, false);

    public Security {
        netty |= encryption.ofClients();
    }

    /** Keys of {@code zoo.cfg}, without those of the encryption. */
    Map<String, String> settings() {
        return netty
                ? Map.of("serverCnxnFactory", NettyServerCnxnFactory.class.getName())
                : Map.of();
    }

    /** What differs from the default, as results show it. */
    Map<String, Object> described() {
        Map<String, Object> values = new LinkedHashMap<>();
        if (encryption.tls() != Tls.NONE) {
            values.put("tls", encryption.tls());
        }
        if (netty) {
            values.put("netty", true);
        }
        return values;
    }
}
