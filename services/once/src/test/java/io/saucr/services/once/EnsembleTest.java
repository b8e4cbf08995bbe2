package io.saucr.services.once;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EnsembleTest {

    /** With and without the chroot in the result, and where the path looks like the chroot. */
    @ParameterizedTest
    @CsvSource({
        "/app, /q-,   /app/q-0000000007,   /q-0000000007",
        "/app, /q-,   /q-0000000007,       /q-0000000007",
        "'',   /q-,   /q-0000000007,       /q-0000000007",
        "/a,   /a/,   /a/a/0000000007,     /a/0000000007",
        "/a,   /a/,   /a/0000000007,       /a/0000000007",
        "/a,   /a/a,  /a/a/a-2147483648,   /a/a-2147483648",
    })
    void theNameOfAChildIsWithoutTheChroot(
            String chroot, String asked, String result, String told) {
        Ensemble ensemble =
                new Ensemble(
                        "zk1:2181",
                        chroot,
                        "c",
                        Duration.ofSeconds(1),
                        Optional.empty(),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        () -> {});

        assertThat(ensemble.withoutChroot(result, asked)).isEqualTo(told);
    }
}
