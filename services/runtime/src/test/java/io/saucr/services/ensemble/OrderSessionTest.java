package io.saucr.services.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An admin command is asked again where its outcome is not known, as a service's request is. */
class OrderSessionTest {

    @TempDir Path work;

    private TestServer server;
    private OrderSession session;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        session =
                new OrderSession(
                        new ServicePath(
                                server.connect(),
                                "/apps/numbers",
                                Optional.empty(),
                                Duration.ofSeconds(4),
                                Optional.empty(),
                                ZooDefs.Ids.OPEN_ACL_UNSAFE));
    }

    @AfterEach
    void stop() {
        session.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {
                "CONNECTIONLOSS",
                "OPERATIONTIMEOUT",
                "REQUESTTIMEOUT",
                "SESSIONMOVED",
                "SESSIONEXPIRED"
            })
    void whatIsNotKnownIsAskedAgain(Code code) throws Exception {
        AtomicInteger asked = new AtomicInteger();
        boolean there =
                session.until(
                        zk -> {
                            if (asked.incrementAndGet() == 1) {
                                throw KeeperException.create(code);
                            }
                            return zk.exists("/", false) != null;
                        });
        assertThat(there).isTrue();
        assertThat(asked).hasValue(2);
    }

    @Test
    void whatIsRefusedIsNot() {
        assertThatThrownBy(
                        () ->
                                session.until(
                                        zk -> {
                                            throw KeeperException.create(Code.NOAUTH);
                                        }))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("refused");
    }
}
