package io.saucr.services.http;

import java.net.InetAddress;
import java.util.Locale;
import java.util.Set;

/**
 * Whether a request to loopback names this host, as a page of the web does not that was sent here.
 * Immutable.
 *
 * @param bound where it came in
 * @param name by which it is called, too
 */
public record MeantHost(InetAddress bound, String name) {

    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    /**
     * Whether that header names this host; another address than loopback has any name. Names of
     * hosts have no case.
     *
     * @param header Host, or null
     */
    public boolean isMeant(String header) {
        if (!bound.isLoopbackAddress() || header == null) {
            return true;
        }
        int port = header.lastIndexOf(':');
        String given = port > header.indexOf(']') ? header.substring(0, port) : header;
        return LOOPBACK.contains(given.toLowerCase(Locale.ROOT)) || given.equalsIgnoreCase(name);
    }
}
