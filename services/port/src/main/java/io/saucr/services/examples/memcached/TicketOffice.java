package io.saucr.services.examples.memcached;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients of a memcached server that sell seats: what is left is a counter, who bought what are
 * items. They do what such programs do: when a connection breaks they connect again, add what is
 * missing, and repeat the command that was not answered.
 */
final class TicketOffice {

    /** How many buy at the same time, each with a connection of its own. */
    static final int BUYERS = 4;

    private static final int ANSWER_MILLIS = 60_000;
    private static final int RECONNECT_MILLIS = 20;
    private static final int ATTEMPTS = 100;
    private static final int LONGEST_RUN_MINUTES = 5;

    private final int port;
    private final int steps;
    private final AtomicInteger sold = new AtomicInteger();

    /**
     * What was answered.
     *
     * @param answers of each buyer, in order, without those that depend on others
     * @param left what the counter said after each seat that was sold
     */
    record Answers(List<List<String>> answers, List<String> left) {

        /** How many there are to compare. */
        int size() {
            return answers.stream().mapToInt(List::size).sum();
        }

        /** How many are not those of a run without failures. */
        int different(Answers sound) {
            int different = 0;
            for (int buyer = 0; buyer < answers.size(); buyer++) {
                for (int i = 0; i < answers.get(buyer).size(); i++) {
                    if (!answers.get(buyer).get(i).equals(sound.answers().get(buyer).get(i))) {
                        different++;
                    }
                }
            }
            return different;
        }

        /** How many seats were sold to more than one. */
        int soldAgain() {
            Set<String> once = new HashSet<>(left);
            return left.size() - once.size();
        }
    }

    /** Tells that so many seats were sold; may kill. */
    interface Progress {

        /** On a buyer's thread, which waits for it. */
        void sold(int seats) throws Exception;
    }

    /**
     * An office.
     *
     * @param port of the server, on this machine
     * @param steps that each buyer makes
     */
    TicketOffice(int port, int steps) {
        this.port = port;
        this.steps = steps;
    }

    private int seats() {
        return BUYERS * steps;
    }

    /** Sells all seats. */
    Answers sell(Progress progress) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(BUYERS);
        try {
            List<Callable<List<List<String>>>> buyers = new ArrayList<>();
            for (int buyer = 0; buyer < BUYERS; buyer++) {
                String name = "b" + buyer;
                buyers.add(() -> buy(name, progress));
            }
            List<List<String>> answers = new ArrayList<>();
            List<String> left = new ArrayList<>();
            for (Future<List<List<String>>> each :
                    threads.invokeAll(buyers, LONGEST_RUN_MINUTES, TimeUnit.MINUTES)) {
                answers.add(each.get().get(0));
                left.addAll(each.get().get(1));
            }
            return new Answers(answers, left);
        } finally {
            threads.shutdownNow();
        }
    }

    private List<List<String>> buy(String name, Progress progress) throws Exception {
        List<String> answers = new ArrayList<>();
        List<String> left = new ArrayList<>();
        try (Session session = new Session(name)) {
            for (int step = 0; step < steps; step++) {
                left.add(seat(session));
                answers.add(session.command("incr count:" + name + " 1"));
                answers.add(session.command(store("append", "list:" + name, " " + step)));
                answers.add(session.command(store("add", "ticket:" + name + ":" + step, name)));
                progress.sold(sold.incrementAndGet());
            }
        }
        return List.of(answers, left);
    }

    /**
     * The original says that there is no counter where two clients change it at the same moment, so
     * they ask again.
     */
    private static String seat(Session session) throws InterruptedException {
        String left = session.command("decr seats 1");
        for (int attempt = 0; attempt < ATTEMPTS && left.equals("NOT_FOUND"); attempt++) {
            left = session.command("decr seats 1");
        }
        return left;
    }

    /** What is there in the end, as the clients see it. */
    Answers look() throws Exception {
        List<List<String>> answers = new ArrayList<>();
        for (int buyer = 0; buyer < BUYERS; buyer++) {
            String name = "b" + buyer;
            List<String> seen = new ArrayList<>();
            try (Session session = new Session(name)) {
                seen.add(session.command("get seats count:" + name));
                seen.add(session.command("get list:" + name));
                for (int step = 0; step < steps; step++) {
                    seen.add(session.command("get ticket:" + name + ":" + step));
                }
            }
            answers.add(seen);
        }
        return new Answers(answers, List.of());
    }

    private static String store(String how, String key, String value) {
        return how + " " + key + " 0 0 " + value.length() + "\r\n" + value;
    }

    /** One client's connections. Its thread. */
    private final class Session implements AutoCloseable {

        private final String name;
        private MemcachedConnection connection;

        Session(String name) {
            this.name = name;
        }

        String command(String command) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ANSWER_MILLIS);
            while (true) {
                try {
                    if (connection == null) {
                        connection = new MemcachedConnection(port, ANSWER_MILLIS);
                        String number = Integer.toString(seats());
                        String unused = connection.command(store("add", "seats", number));
                        unused = connection.command(store("add", "count:" + name, "0"));
                        unused = connection.command(store("add", "list:" + name, "-"));
                    }
                    return connection.command(command);
                } catch (IOException e) {
                    close();
                    if (System.nanoTime() > end) {
                        throw new IllegalStateException("no answer at port " + port, e);
                    }
                    Thread.sleep(RECONNECT_MILLIS);
                }
            }
        }

        @Override
        public void close() {
            if (connection != null) {
                connection.close();
                connection = null;
            }
        }
    }

    /** A connection that speaks memcached's text protocol. One thread. */
    static final class MemcachedConnection implements AutoCloseable {

        private static final Set<String> MORE = Set.of("VALUE", "STAT");

        private final Socket socket;
        private final InputStream in;

        MemcachedConnection(int port, int timeoutMillis) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(timeoutMillis);
            in = new BufferedInputStream(socket.getInputStream());
        }

        /** Sends a command, with its value where it has one, and reads its whole answer. */
        String command(String command) throws IOException {
            socket.getOutputStream().write((command + "\r\n").getBytes(US_ASCII));
            StringBuilder answer = new StringBuilder();
            while (true) {
                String line = line();
                answer.append(answer.isEmpty() ? "" : "\n").append(line);
                String[] words = line.split(" ");
                if (!MORE.contains(words[0])) {
                    return answer.toString();
                }
                if (words[0].equals("VALUE")) {
                    int size = Integer.parseInt(words[3]);
                    byte[] value = in.readNBytes(size + 2);
                    if (value.length < size + 2) {
                        throw new EOFException("the server ended the connection");
                    }
                    answer.append("\n").append(new String(value, 0, size, US_ASCII));
                }
            }
        }

        private String line() throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int next = in.read(); next != '\n'; next = in.read()) {
                if (next < 0) {
                    throw new EOFException("the server ended the connection");
                }
                if (next != '\r') {
                    line.write(next);
                }
            }
            return line.toString(US_ASCII);
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (IOException e) {
                // It is over either way.
            }
        }
    }
}
