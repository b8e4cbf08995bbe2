package io.saucr.services;

/**
 * Where a service answers. Immutable.
 *
 * @param host a name or number, without brackets
 * @param port from 0 to 65535; 0 lets the system choose
 */
public record Address(String host, int port) {

    /**
     * Checks what was given.
     *
     * @throws IllegalArgumentException where the host is empty or the port out of range
     */
    public Address {
        if (host.isBlank()) {
            throw new IllegalArgumentException("an address needs a host before its port " + port);
        }
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException(
                    "the port of " + host + " is from 0 to 65535, not " + port);
        }
    }

    /**
     * Reads {@code host:port}, of which a host with colons stands in brackets.
     *
     * @throws IllegalArgumentException where it is anything else; the message says what is allowed
     */
    public static Address parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            host = "";
        }
        String port = text.substring(colon + 1);
        if (host.isBlank() || !port.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException(
                    "an address is host:port or [host]:port, not \"" + text + "\"");
        }
        return new Address(host, Integer.parseInt(port));
    }

    /** {@code host:port}. */
    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
