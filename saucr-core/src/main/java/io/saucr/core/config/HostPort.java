package io.saucr.core.config;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;

/**
 * A host and a port, as {@code zoo.cfg}, options and addresses of web pages have them. Every part
 * of the project that reads or writes such a text does so here. Immutable.
 *
 * @param host a name or an address, without brackets
 * @param port from 1 to 65535
 */
public record HostPort(String host, int port) {
    private static final int HIGHEST_PORT = 65_535;

    /** Letters, digits, and what names of compose files, IPv6 addresses and their zones have. */
    private static final String HOST = "[\\p{Alnum}._:%-]+";

    private static final String LOCALHOST = "localhost";

    /**
     * Reads HOST:PORT, [IPV6]:PORT, or HOST with a default port.
     *
     * @param defaultPort 0 if the text must have a port
     * @throws IllegalArgumentException with a sentence that names the text and what is allowed
     */
    public static HostPort parse(String text, int defaultPort) {
        String trimmed = text.strip();
        int colon = trimmed.lastIndexOf(':');
        boolean bracketed = trimmed.startsWith("[");
        boolean bare = trimmed.indexOf(':') != colon && !bracketed;
        boolean hasPort = colon >= 0 && !trimmed.endsWith("]") && !bare;
        String written = hasPort ? trimmed.substring(0, colon) : trimmed;
        String host = withoutBrackets(written);
        boolean twoColons = host.indexOf(':') != host.lastIndexOf(':');
        if (bare
                || !host.matches(HOST)
                || bracketed == host.equals(written)
                || bracketed != twoColons
                || (!hasPort && defaultPort == 0)) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not HOST:PORT (an IPv6 address is written [ADDRESS]:PORT)");
        }
        return new HostPort(host, hasPort ? port(trimmed.substring(colon + 1), text) : defaultPort);
    }

    /**
     * Reads a port.
     *
     * @param whole the text that it is part of, for the message
     * @throws IllegalArgumentException if it is not a number from 1 to 65535
     */
    public static int port(String text, String whole) {
        try {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= HIGHEST_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            // The same message.
        }
        throw new IllegalArgumentException(
                "'" + whole + "': '" + text + "' is not a port (1 to " + HIGHEST_PORT + ")");
    }

    /** A host as sockets take it: ZooKeeper accepts an address with brackets, too. */
    public static String withoutBrackets(String host) {
        return host.startsWith("[") && host.endsWith("]")
                ? host.substring(1, host.length() - 1)
                : host;
    }

    /**
     * The host at which a process of the same machine reaches a server.
     *
     * @param bound where that server listens, as its configuration has it; perhaps empty
     */
    public static String reachable(String bound) {
        String host = withoutBrackets(bound.strip());
        return host.isEmpty() || host.equals("*") || isAnyAddress(host) ? LOCALHOST : host;
    }

    private static boolean isAnyAddress(String host) {
        if (!host.contains(":")) {
            return host.equals("0.0.0.0");
        }
        try {
            // With a colon it can only be an address, which is not looked up.
            return InetAddress.getByName(host).isAnyLocalAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /**
     * A web address that Java's HTTP client takes. It refuses a host that is not a name of the
     * domain name system, such as {@code zk_1} of a compose file; that host is looked up here, and
     * its address stands in its place.
     *
     * @throws UnknownHostException if that host has no address
     * @throws IllegalArgumentException if there is no host in it
     */
    public static URI connectable(URI uri) throws UnknownHostException {
        if (uri.getHost() != null) {
            return uri;
        }
        String authority = String.valueOf(uri.getRawAuthority());
        boolean hasPort = authority.matches(".*:\\d+");
        HostPort place = parse(authority, HIGHEST_PORT);
        String host = InetAddress.getByName(place.host()).getHostAddress();
        String found = new HostPort(host, place.port()).toString();
        return URI.create(
                uri.toString()
                        .replace(
                                "//" + authority,
                                "//" + (hasPort ? found : found.replaceFirst(":\\d+$", ""))));
    }

    /** HOST:PORT, with brackets around an IPv6 address. */
    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
