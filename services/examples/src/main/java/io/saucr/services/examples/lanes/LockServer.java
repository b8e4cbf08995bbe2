package io.saucr.services.examples.lanes;

import io.saucr.services.Asks;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneMap;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import java.util.List;
import java.util.concurrent.locks.Lock;

/**
 * Leases of names, as a lock server gives them: a name has one holder until its lease ends. Each
 * new holder of a name gets a larger token, so that what the lock protects can refuse a holder that
 * was slow ("fencing").
 *
 * <p>Handlers of different slices of the names run at the same time.
 */
public final class LockServer implements LaneService {

    private static final int LONGEST_TEXT = 200;
    private static final long LONGEST_LEASE_MILLIS = 3_600_000;
    private static final int SLICES = 256;
    private static final String NOBODY = "";

    /**
     * Asks for the lease of a name; the holder prolongs it.
     *
     * @param name 1 to 200 characters, as {@code owner}
     * @param leaseMillis from 1 ms to an hour, from when the server begins the request
     */
    public record Acquire(String name, String owner, long leaseMillis) implements Asks<Lease> {
        public Acquire {
            check("name", name);
            check("owner", owner);
            if (leaseMillis < 1 || leaseMillis > LONGEST_LEASE_MILLIS) {
                throw new IllegalArgumentException(
                        "a lease takes 1 to "
                                + LONGEST_LEASE_MILLIS
                                + " ms, not "
                                + leaseMillis
                                + " ms");
            }
        }
    }

    /**
     * Gives a lease back.
     *
     * @param token of the lease; another one changes nothing
     */
    public record Release(String name, long token) implements Asks<Lease> {
        public Release {
            check("name", name);
        }
    }

    /** Asks who holds a name. */
    public record Look(String name) implements Asks<Lease> {
        public Look {
            check("name", name);
        }
    }

    /**
     * Who holds a name.
     *
     * @param owner empty text for nobody
     * @param token of the newest holder; from 1, and 0 if there was none
     * @param untilMillis when its lease ends, in milliseconds since 1970 of the server's clock
     */
    public record Lease(String owner, long token, long untilMillis) {

        boolean isHeld(long nowMillis) {
            return !owner.equals(NOBODY) && nowMillis < untilMillis;
        }

        Lease at(long nowMillis) {
            return isHeld(nowMillis) ? this : new Lease(NOBODY, token, untilMillis);
        }
    }

    private static final Lease NONE = new Lease(NOBODY, 0, 0);

    private final List<Lock> slices;
    private final LaneMap<String, Lease> leases;

    /** Declares the state. */
    public LockServer(LaneState state) {
        slices = state.locks("slice", SLICES);
        leases = state.map("leases", String.class, Lease.class, SLICES);
    }

    @Override
    public void handlers(LaneHandlers on) {
        on.message(Acquire.class, (acquire, turn) -> acquire(acquire, turn.nowMillis()));
        on.message(Release.class, (release, turn) -> release(release, turn.nowMillis()));
        on.message(
                Look.class,
                (look, turn) -> leases.getOrDefault(look.name(), NONE).at(turn.nowMillis()));
    }

    private Lock slice(String name) {
        // The hash of a text is the same on each member.
        return slices.get(Math.floorMod(name.hashCode(), SLICES));
    }

    private Lease acquire(Acquire acquire, long nowMillis) {
        Lock slice = slice(acquire.name());
        slice.lock();
        try {
            Lease now = leases.getOrDefault(acquire.name(), NONE);
            boolean held = now.isHeld(nowMillis);
            if (held && !now.owner().equals(acquire.owner())) {
                return now;
            }
            Lease lease =
                    new Lease(
                            acquire.owner(),
                            held ? now.token() : now.token() + 1,
                            nowMillis + acquire.leaseMillis());
            leases.put(acquire.name(), lease);
            return lease;
        } finally {
            slice.unlock();
        }
    }

    private Lease release(Release release, long nowMillis) {
        Lock slice = slice(release.name());
        slice.lock();
        try {
            Lease now = leases.getOrDefault(release.name(), NONE);
            if (now.token() != release.token() || !now.isHeld(nowMillis)) {
                return now.at(nowMillis);
            }
            Lease free = new Lease(NOBODY, now.token(), nowMillis);
            leases.put(release.name(), free);
            return free;
        } finally {
            slice.unlock();
        }
    }

    private static void check(String what, String text) {
        if (text == null || text.isEmpty() || text.length() > LONGEST_TEXT) {
            throw new IllegalArgumentException(
                    "the "
                            + what
                            + " has 1 to "
                            + LONGEST_TEXT
                            + " characters, not "
                            + (text == null ? "null" : text.length()));
        }
    }
}
