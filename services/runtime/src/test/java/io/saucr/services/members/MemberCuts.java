package io.saucr.services.members;

import io.saucr.services.Address;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.net.Awaited;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Two members that send segments and small frames to each other through a proxy which cuts and
 * stalls their connections at random: {@code MemberCuts SECONDS SEED}. What a link brings must be
 * what was sent on its other end, each frame whole, in order, without gap or repetition, as far as
 * it came; up first, down last, each once; no link may end for bytes that are no frame. In the end
 * the proxy is calm, and everything sent then must arrive.
 */
public final class MemberCuts {

    private static final int HEADER_BYTES = 20;

    /** What happened. */
    record Outcome(int links, long segments, long bytes, long smallFrames, int cuts, int stalls) {

        @Override
        public String toString() {
            return links
                    + " links, "
                    + segments
                    + " segments of "
                    + (bytes >> 20)
                    + " MB and "
                    + smallFrames
                    + " small frames arrived; "
                    + cuts
                    + " cuts, "
                    + stalls
                    + " stalls";
        }
    }

    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private final AtomicInteger links = new AtomicInteger();
    private final AtomicLong segments = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong smallFrames = new AtomicLong();
    private volatile boolean sending = true;

    private MemberCuts() {}

    public static void main(String[] args) throws Exception {
        Duration time = Duration.ofSeconds(Long.parseLong(args[0]));
        System.out.println(run(time, Long.parseLong(args[1])));
    }

    static Outcome run(Duration time, long seed) throws Exception {
        return new MemberCuts().through(time, seed);
    }

    private Outcome through(Duration time, long seed) throws Exception {
        Random random = new Random(seed);
        try (Transport transport = new Transport(2);
                Side one = new Side(transport, 1);
                Side two = new Side(transport, 2);
                Proxy proxy =
                        new Proxy(
                                one.links.listen(new Address("127.0.0.1", 0)),
                                new Random(random.nextLong()))) {
            two.links.dial(one.self.member(), proxy.address());
            one.start(random.nextLong());
            two.start(random.nextLong());
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() < end && wrong.get() == null) {
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
                if (random.nextInt(20) == 0) {
                    // A member may end a link, too, in the midst of anything.
                    one.current().ifPresent(sender -> sender.link.close("for a test"));
                }
            }
            proxy.calm();
            // A link that was told to cut may still be there: what is sent now is on one, or lost.
            Awaited.until("a link on which all arrives", () -> arrives(one, two));
            sending = false;
            one.stop();
            two.stop();
            if (wrong.get() != null) {
                throw new AssertionError("seed " + seed, wrong.get());
            }
            return new Outcome(
                    links.get(),
                    segments.get(),
                    bytes.get(),
                    smallFrames.get(),
                    proxy.cuts(),
                    proxy.stalls());
        }
    }

    private boolean arrives(Side one, Side two) {
        return wrong.get() != null || (one.arrivesAt(two) && two.arrivesAt(one));
    }

    private void wrong(String what) {
        wrong.compareAndSet(null, new AssertionError(what));
    }

    /** What is sent on one link: a function of its id and the place in the order. */
    private static MemberFrame sent(long sender, long index) {
        Random random = new Random(sender * 31 + index);
        int kind = random.nextInt(10);
        if (kind < 5) {
            return new MemberFrame.Fetch(1 + sender, 1 + sender + index);
        }
        if (kind == 5) {
            return new MemberFrame.Committed(
                    new SegmentId(1 + sender, 1 + index, SegmentId.NO_DIGEST));
        }
        int most = kind == 9 ? 8 << 20 : 100_000;
        byte[] body = new byte[HEADER_BYTES + random.nextInt(most)];
        // Filled sparsely: each stretch differs from all others, and costs little to make.
        for (int i = HEADER_BYTES; i + 8 <= body.length; i += 997) {
            ByteBuffer.wrap(body).putLong(i, random.nextLong());
        }
        ByteBuffer.wrap(body).putLong(0, sender).putLong(8, index);
        return new MemberFrame.Segment(ByteBuffer.wrap(body));
    }

    /** What was sent on one link. */
    private static final class Sender {
        final MemberLink link;
        final AtomicLong sent = new AtomicLong();

        Sender(MemberLink link) {
            this.link = link;
        }
    }

    /** What came on one link. */
    private static final class Receiver {
        long sender;
        final AtomicLong next = new AtomicLong();
    }

    /** One member, which sends on its newest link as much as is taken. */
    private final class Side implements MemberListener, AutoCloseable {

        final MemberFrame.Hello self;
        final MemberLinks links;
        private final ExecutorService turns = Executors.newSingleThreadExecutor();

        /** By the sender's link. */
        private final Map<Long, Receiver> received = new ConcurrentHashMap<>();

        /** Of its executor. */
        private final Map<MemberLink, Receiver> receivers = new HashMap<>();

        private volatile Sender newest;
        private Thread sendingThread;

        Side(Transport transport, int number) throws Exception {
            self = Member.hello("bank", number);
            links =
                    MemberLinks.open(
                            transport,
                            NetOptions.plain(),
                            self,
                            this,
                            turns,
                            () -> new MemberFrame.Heartbeat(number, number));
        }

        Optional<Sender> current() {
            return Optional.ofNullable(newest);
        }

        void start(long seed) {
            Random pace = new Random(seed);
            sendingThread = new Thread(() -> send(pace), "sender " + self.member());
            sendingThread.start();
        }

        void stop() throws InterruptedException {
            sendingThread.join();
        }

        private void send(Random pace) {
            while (sending && wrong.get() == null) {
                Sender sender = newest;
                if (sender == null || sender.link.unsentBytes() > 4 << 20) {
                    LockSupport.parkNanos(100_000);
                    continue;
                }
                sender.link.send(sent(sender.link.id(), sender.sent.get()));
                sender.sent.incrementAndGet();
                if (pace.nextInt(50) == 0) {
                    LockSupport.parkNanos(2_000_000);
                }
            }
        }

        /** Whether all that this has sent on its newest link so far has arrived at the other. */
        boolean arrivesAt(Side other) {
            Sender sender = newest;
            if (sender == null) {
                return false;
            }
            long sent = sender.sent.get();
            Awaited.until(
                    "what was sent, or the end of the link",
                    () -> {
                        Receiver at = other.received.get(sender.link.id());
                        return newest != sender
                                || wrong.get() != null
                                || (at != null && at.next.get() >= sent);
                    });
            return newest == sender && sent > 0;
        }

        @Override
        public void up(MemberLink link) {
            if (receivers.put(link, new Receiver()) != null) {
                wrong(link.id() + " came up twice");
            }
            MemberCuts.this.links.incrementAndGet();
            newest = new Sender(link);
        }

        @Override
        public void frame(MemberLink link, MemberFrame frame) {
            Receiver receiver = receivers.get(link);
            if (receiver == null) {
                wrong(frame + " on a link that is not up");
            } else if (frame instanceof MemberFrame.Heartbeat beat) {
                if (beat.state() == Long.parseLong(self.member())) {
                    wrong("its own heartbeat came back");
                }
            } else {
                arrived(receiver, frame);
            }
        }

        private void arrived(Receiver receiver, MemberFrame frame) {
            if (receiver.next.get() == 0) {
                receiver.sender = sender(frame);
                if (received.put(receiver.sender, receiver) != null) {
                    wrong("two links bring what was sent on " + receiver.sender);
                }
            }
            if (!frame.equals(sent(receiver.sender, receiver.next.get()))) {
                wrong(
                        "frame "
                                + receiver.next.get()
                                + " of link "
                                + receiver.sender
                                + " is not what was sent: "
                                + frame);
            }
            receiver.next.incrementAndGet();
            if (frame instanceof MemberFrame.Segment segment) {
                segments.incrementAndGet();
                bytes.addAndGet(segment.bytes().remaining());
            } else {
                smallFrames.incrementAndGet();
            }
        }

        private long sender(MemberFrame frame) {
            if (frame instanceof MemberFrame.Segment segment) {
                return segment.bytes().getLong(0);
            } else if (frame instanceof MemberFrame.Fetch fetch) {
                return fetch.from() - 1;
            } else if (frame instanceof MemberFrame.Committed committed) {
                return committed.segment().epoch() - 1;
            }
            wrong("nobody sent " + frame);
            return -1;
        }

        @Override
        public void down(MemberLink link, String reason) {
            if (receivers.remove(link) == null) {
                wrong(link.id() + " went down and was not up");
            }
            if (reason.contains("no frame") || reason.contains("this side")) {
                wrong(reason);
            }
            Sender sender = newest;
            if (sender != null && sender.link == link) {
                newest = null;
            }
        }

        @Override
        public void close() {
            sending = false;
            links.close();
            turns.shutdownNow();
        }
    }
}
