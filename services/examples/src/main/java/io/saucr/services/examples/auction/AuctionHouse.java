package io.saucr.services.examples.auction;

import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import java.time.Duration;

/**
 * Sells items: takes bids for a while, then has the bank move the price from the buyer to the
 * seller. An item whose buyer cannot pay is not sold.
 */
public final class AuctionHouse implements Service {

    /** So long bids are taken. */
    static final Duration OPEN = Duration.ofMillis(200);

    private final String bank;
    private final MapState<String, Item> items;
    private final MapState<String, Integer> sold;
    private final MapState<String, Integer> refused;

    /** An item is for sale. */
    public record Offer(String item, String seller, long leastCents) {}

    /** Somebody wants it. */
    public record Bid(String item, String buyer, long cents) {}

    /** To the one that offered or bid: that counts now. */
    public record Noted(String item) {}

    /** Bids for the item end. */
    public record Close(String item) {}

    /** What is known of an item: the best bid so far, of nobody at first. */
    public record Item(String seller, String buyer, long cents, boolean open) {}

    /** How far the house is. */
    public record Ask() {}

    /**
     * How far it is.
     *
     * @param offered items
     * @param open or being paid
     * @param sold items
     * @param refused items whose buyers could not pay, or that nobody wanted
     * @param twice items that were sold more than once, or sold and refused
     * @param soldCents prices of all that was sold
     */
    public record Progress(
            int offered, int open, int sold, int refused, int twice, long soldCents) {}

    /** A house whose prices are moved by this bank. */
    public AuctionHouse(State state, String bank) {
        this.bank = bank;
        items = state.map("items", String.class, Item.class);
        sold = state.map("sold", String.class, Integer.class);
        refused = state.map("refused", String.class, Integer.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Offer.class,
                (offer, turn) -> {
                    items.put(offer.item(), new Item(offer.seller(), "", offer.leastCents(), true));
                    turn.after(OPEN, new Close(offer.item()));
                    turn.reply(new Noted(offer.item()));
                });
        on.message(
                Bid.class,
                (bid, turn) -> {
                    Item item = items.get(bid.item());
                    if (item != null && item.open() && bid.cents() > item.cents()) {
                        items.put(
                                bid.item(),
                                new Item(item.seller(), bid.buyer(), bid.cents(), true));
                    }
                    turn.reply(new Noted(bid.item()));
                });
        on.message(
                Close.class,
                (close, turn) -> {
                    Item item = items.get(close.item());
                    items.put(
                            close.item(),
                            new Item(item.seller(), item.buyer(), item.cents(), false));
                    if (item.buyer().isEmpty()) {
                        refused.merge(close.item(), 1, Integer::sum);
                    } else {
                        turn.send(
                                bank,
                                new Bank.Pay(
                                        close.item(), item.buyer(), item.seller(), item.cents()));
                    }
                });
        on.message(Bank.Paid.class, (paid, turn) -> sold.merge(paid.item(), 1, Integer::sum));
        on.message(
                Bank.Declined.class,
                (declined, turn) -> refused.merge(declined.item(), 1, Integer::sum));
        on.query(Ask.class, (ask, turn) -> progress());
    }

    private Progress progress() {
        int twice = 0;
        long soldCents = 0;
        for (var entry : sold.entries()) {
            twice += entry.getValue() > 1 || refused.contains(entry.getKey()) ? 1 : 0;
            soldCents += entry.getValue() * items.get(entry.getKey()).cents();
        }
        for (int times : refused.values()) {
            twice += times > 1 ? 1 : 0;
        }
        int decided = sold.size() + refused.size();
        return new Progress(
                items.size(),
                Math.max(0, items.size() - decided),
                sold.size(),
                refused.size(),
                twice,
                soldCents);
    }
}
