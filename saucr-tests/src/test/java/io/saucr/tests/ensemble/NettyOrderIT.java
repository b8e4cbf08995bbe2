package io.saucr.tests.ensemble;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Netty's threads write at once what they answer themselves, and later what others answer: a read
 * must not overtake the write before it.
 */
class NettyOrderIT {
    @Test
    void answersLeaveInOrder() throws Exception {
        leaveInOrder("netty-order", BatchesIT.ROUNDS);
    }

    @Tag("long")
    @Test
    void manyAnswersLeaveInOrder() throws Exception {
        leaveInOrder("netty-order-of-many", BatchesIT.MANY_ROUNDS);
    }

    private static void leaveInOrder(String name, int rounds) throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe(name, 3)
                                .set(
                                        "serverCnxnFactory",
                                        "org.apache.zookeeper.server.NettyServerCnxnFactory"))) {
            BatchesIT.assertOrder(ensemble, rounds);
        }
    }
}
