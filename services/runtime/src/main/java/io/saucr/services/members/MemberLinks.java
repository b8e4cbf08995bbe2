package io.saucr.services.members;

import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.net.NetOptions;
import io.saucr.services.net.Transport;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * All links of one member with others of its service: it accepts theirs, and keeps one to each that
 * it was told to dial. Any thread.
 */
@SuppressWarnings("DoNotCallSuggester") // Until it is there; only its signature is.
public final class MemberLinks implements AutoCloseable {

    /** Of all that members send to each other: {@link MemberFrame.Hello#format}. */
    public static final int FORMAT = 1;

    /** Once more than this waits to be sent on a link, {@link MemberListener#writable} is told. */
    public static final long WRITABLE_BYTES = 1 << 20;

    private MemberLinks() {}

    /**
     * Makes those of a member, which neither listens nor dials yet. Reads the keys.
     *
     * @param transport whose threads are used; closed after this
     * @param options of these {@code frameBytes}, {@code backoffMin} and {@code backoffMax} do not
     *     count here
     * @param self who this member is; with TLS its certificate bears the service's name
     * @param listener hears of links
     * @param executor runs the listener, one call at a time in the order given; where it throws
     *     {@link java.util.concurrent.RejectedExecutionException} the link ends
     * @param heartbeats asked every 50 ms for each link
     * @throws IOException where the keys cannot be used; says which file and what to do
     */
    public static MemberLinks open(
            Transport transport,
            NetOptions options,
            MemberFrame.Hello self,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats)
            throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * The service's birth has become known to this member: from now on its hello bears it, and
     * links with members of another birth end.
     *
     * @throws IllegalStateException where another one was known
     */
    public void birth(Birth birth) {
        throw new UnsupportedOperationException();
    }

    /**
     * Accepts links from now on. Waits for the socket.
     *
     * @return where it listens: with the port that the system chose, where that was 0
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public Address listen(Address at) throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * Keeps a link with a member from now on, dialling again whenever it is lost, after 20 ms at
     * first, 500 ms at most. Told again, it follows the member to another address.
     *
     * @param member 16 hexadecimal digits; who else answers there is refused
     * @throws IllegalArgumentException where the port is 0, or that is no member
     */
    public void dial(String member, Address address) {
        throw new UnsupportedOperationException();
    }

    /** Ends the link that was dialled with a member, and dials it no more. */
    public void leave(String member) {
        throw new UnsupportedOperationException();
    }

    /** Members that are dialled and cannot be reached, each with the reason, for people. */
    public Map<String, String> unreachable() {
        throw new UnsupportedOperationException();
    }

    /**
     * Ends all links; waits for at most 2 s. The listener hears of the end of each; nothing new
     * comes. Not on a thread of the transport.
     */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
