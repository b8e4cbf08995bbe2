package io.saucr.tests.ensemble;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Netty's threads write at once what they answer themselves, and later what others answer: a read
 * must not overtake the write before it.
 */
class NettyOrderIT {
    @Tag("long")
    @Test
    void answersLeaveInOrder() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("netty-order", 3)
                                .set(
                                        "serverCnxnFactory",
                                        "org.apache.zookeeper.server.NettyServerCnxnFactory"))) {
            BatchesIT.assertOrder(ensemble, BatchesIT.MANY_ROUNDS);
        }
    }
}
