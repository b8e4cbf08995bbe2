package io.saucr.services.examples.auction;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Auction house and bank as processes that are killed. */
class AuctionIT {

    @Test
    void nothingIsSoldTwiceAndNoCentIsLost(@TempDir Path work) throws Exception {
        AuctionDemo.Result result =
                new AuctionDemo(work, new PrintWriter(new StringWriter()), 1)
                        .durable(Duration.ofSeconds(10));
        assertThat(result.violations()).isEmpty();
        assertThat(result.kills()).isGreaterThanOrEqualTo(2);
        assertThat(result.offered()).isPositive();
    }
}
