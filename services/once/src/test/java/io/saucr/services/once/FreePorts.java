package io.saucr.services.once;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports on which nothing listens. They are below those that the kernel gives to connections: there
 * any connection may take one meanwhile, even one that is made to that very port.
 */
public final class FreePorts {
    private static final int FIRST = 14_000;
    private static final int END = 18_000;

    private FreePorts() {}

    /** The first of so many in a row. */
    public static int inARow(int count) {
        while (true) {
            int first = ThreadLocalRandom.current().nextInt(FIRST, END - count);
            int free = 0;
            while (free < count && isFree(first + free)) {
                free++;
            }
            if (free == count) {
                return first;
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
