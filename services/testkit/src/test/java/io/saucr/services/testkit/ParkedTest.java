package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** K12: what was put aside, and a person who has it tried again. */
class ParkedTest {

    /** Sell so much of it. */
    public record Order(String thing) {}

    /** Order this at the store. */
    public record Wish(String thing) {}

    /** What came back? */
    public record Asked() {}

    /** That came back. */
    public record Back(List<String> things) {}

    /** Takes back what it ordered, where it can; takes no orders itself. */
    private static final class Shop implements Service {

        private final boolean mended;
        private final ListState<String> back;

        Shop(State state, boolean mended) {
            this.mended = mended;
            back = state.list("back", String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Wish.class, (wish, turn) -> turn.send("store", new Order(wish.thing())));
            on.query(
                    Asked.class,
                    (asked, turn) -> {
                        List<String> all = new ArrayList<>();
                        back.forEach(all::add);
                        return new Back(all);
                    });
            on.returned(
                    Order.class,
                    (returned, turn) -> {
                        if (!mended) {
                            throw new IllegalStateException("no shelf for it");
                        }
                        back.add(returned.message().thing());
                    });
        }
    }

    /** As it was before anybody thought of what comes back. */
    private static final class EarlyShop implements Service {

        EarlyShop(State state) {
            state.list("back", String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Wish.class, (wish, turn) -> turn.send("store", new Order(wish.thing())));
        }
    }

    /** Sells nothing. */
    private static final class Store implements Service {

        Store(State state) {}

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Order.class,
                    (order, turn) -> {
                        throw new IllegalStateException("sold out");
                    });
        }
    }

    private static TestWorld world() {
        Limits limits = new Limits(16, 1, true, 0, 0, 1_024, 3_600_000);
        return new TestWorld(1, TurnOptions.standard().with(limits));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // What it leads to is looked at in the shop.
    private static void wish(TestWorld world) {
        Client ann = world.client("ann", "shop");
        ann.send(new Wish("lamp"));
        world.run();
    }

    /** Its type needs no handler of messages for that: it comes back, and is no message. */
    @Test
    void whatCameBackComesBackAgainOnceItsHandlerIsMended() {
        TestWorld world = world();
        TestService shop = world.service("shop", it -> new Shop(it, false));
        world.service("store", Store::new);
        wish(world);
        assertThat(shop.parked()).containsExactly("Order: IllegalStateException: no shelf for it");
        shop.crash();
        shop.upgrade(it -> new Shop(it, true));
        shop.start();
        shop.retryParked();
        world.run();
        assertThat(shop.parked()).isEmpty();
        assertThat(shop.query(new Asked(), Back.class).things()).containsExactly("lamp");
    }

    @Test
    void whatNobodyTakesBackCannotBeTriedAgain() {
        TestWorld world = world();
        TestService shop = world.service("shop", EarlyShop::new);
        world.service("store", Store::new);
        wish(world);
        assertThat(shop.parked()).singleElement().asString().contains("no handler takes back");
        assertThatThrownBy(shop::retryParked)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no handler for a returned Order")
                .hasMessageContaining("discarded");
        assertThat(shop.parked()).hasSize(1);
    }
}
