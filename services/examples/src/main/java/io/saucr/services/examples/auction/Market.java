package io.saucr.services.examples.auction;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** Sellers and buyers: each offers and bids, a few calls at a time, until it is told to stop. */
final class Market {

    private static final int AT_A_TIME = 4;
    private static final long DEPOSIT_CENTS = 1_000_000;

    private final AtomicInteger offered = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong depositedCents = new AtomicLong();

    /** How a message gets to a service; done once it was taken. */
    interface Post {
        CompletableFuture<?> send(Object message);
    }

    /** Brings money to the bank for one trader, once. */
    void deposit(String trader, Post bank) {
        bank.send(new Bank.Deposit(trader, DEPOSIT_CENTS)).join();
        depositedCents.addAndGet(DEPOSIT_CENTS);
    }

    /** Offers and bids. */
    void trade(String trader, int traders, Post house, BooleanSupplier open) {
        Random random = new Random(trader.hashCode());
        for (int count = 0; open.getAsBoolean(); count++) {
            CompletableFuture<?>[] calls = new CompletableFuture<?>[AT_A_TIME];
            for (int i = 0; i < AT_A_TIME; i += 2) {
                String item = trader + "-" + (count * AT_A_TIME + i);
                calls[i] = house.send(new AuctionHouse.Offer(item, trader, 100));
                calls[i + 1] =
                        house.send(
                                new AuctionHouse.Bid(
                                        item,
                                        "trader" + random.nextInt(traders),
                                        101 + random.nextInt(5_000)));
                offered.incrementAndGet();
            }
            for (CompletableFuture<?> call : calls) {
                try {
                    call.join();
                } catch (RuntimeException e) {
                    failed.incrementAndGet();
                }
            }
        }
    }

    int offered() {
        return offered.get();
    }

    int failed() {
        return failed.get();
    }

    long depositedCents() {
        return depositedCents.get();
    }
}
