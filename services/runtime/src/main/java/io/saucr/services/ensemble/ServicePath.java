package io.saucr.services.ensemble;

import io.saucr.services.Credentials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.data.ACL;

/**
 * Where a service is in which ensemble.
 *
 * @param connect servers as for ZooKeeper's client, without a chroot
 * @param path of the service, absolute: "/apps/bank-eu"
 * @param address host:port where it answers, or empty for a service without one
 * @param sessionTimeout of the client; an address of a process that died stays for as long
 * @param credentials who the service is, as for {@code addAuthInfo}; empty for anybody
 * @param acls of all znodes that it makes
 */
public record ServicePath(
        String connect,
        String path,
        Optional<String> address,
        Duration sessionTimeout,
        Optional<Credentials> credentials,
        List<ACL> acls) {

    public ServicePath {
        if (!path.startsWith("/") || path.length() < 2 || path.endsWith("/")) {
            throw new IllegalArgumentException(
                    "a service's path begins with / and does not end with it, as in /apps/bank, not \""
                            + path
                            + "\"");
        }
        // ZooKeeper's client asks whether it contains null, which List.copyOf's lists refuse.
        acls = Collections.unmodifiableList(new ArrayList<>(acls));
    }
}
