package io.saucr.services.examples.product;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Client;
import io.saucr.services.testkit.CrashPoints;
import io.saucr.services.testkit.TestService;
import io.saucr.services.testkit.TestWorld;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ProductTest {

    private static final int SIZE = 6;
    private static final long SEED = 4;

    private static TestService product(TestWorld world) {
        return world.service("product", state -> new Product(state, "product", SIZE, SEED));
    }

    @Test
    void theSumIsThatOfThePlainOneWhereverItCrashes() {
        double plain = new PlainProduct(SIZE, SEED).multiply();
        int crashes =
                CrashPoints.everywhere(
                        5,
                        world -> {
                            TestService product = product(world);
                            Client client = world.client("client", "product");
                            Product.Sum sum =
                                    world.await(
                                            client.ask(new Product.Multiply(), Product.Sum.class));
                            assertThat(sum.sum()).isEqualTo(plain);
                            assertThat(product.query(new Product.Ask(), Product.Progress.class))
                                    .isEqualTo(new Product.Progress(SIZE));
                        });
        assertThat(crashes).isGreaterThan(SIZE);
    }

    @Test
    void thereIsOneJobAtATime() {
        TestWorld world = new TestWorld(1);
        TestService product = product(world);
        Client client = world.client("client", "product");
        CompletableFuture<Product.Sum> first =
                client.ask(new Product.Multiply(), Product.Sum.class);
        CompletableFuture<Product.Busy> second =
                client.ask(new Product.Multiply(), Product.Busy.class);
        assertThat(world.await(second)).isEqualTo(new Product.Busy());
        double plain = new PlainProduct(SIZE, SEED).multiply();
        assertThat(world.await(first).sum()).isEqualTo(plain);
        Product.Sum again = world.await(client.ask(new Product.Multiply(), Product.Sum.class));
        assertThat(again.sum()).isEqualTo(plain);
        assertThat(product.query(new Product.Ask(), Product.Progress.class).rows()).isEqualTo(SIZE);
    }
}
