package io.saucr.ensemble;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The admin command that lets another server lead, which only situation-aware servers have. The
 * leader needs an AdminServer ({@code admin.enableServer}). Stateless.
 */
public final class LeaderMove {
    /** Longer than a leader tries. */
    public static final Duration LIMIT = Duration.ofSeconds(5);

    private LeaderMove() {}

    /**
     * Asks a leader to hand over, and returns once it has left or has refused.
     *
     * @param to number of the server that is to lead, 0 for one that can
     * @return empty if the leader has left, else its answer, which says why not
     * @throws IOException if it does not answer within {@link #LIMIT}: nobody knows who leads then
     */
    public static String order(ServerProcess leader, int to) throws IOException {
        URI uri = URI.create("http://" + leader.address().admin() + "/commands/saucr/moveLeader");
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        try {
            connection.setConnectTimeout((int) LIMIT.toMillis());
            connection.setReadTimeout((int) LIMIT.toMillis());
            connection.setRequestProperty("Authorization", "ip self");
            connection.setRequestMethod("POST");
            connection.setDoOutput(true);
            connection
                    .getOutputStream()
                    .write((to + " a test").getBytes(StandardCharsets.US_ASCII));
            if (connection.getResponseCode() == HttpURLConnection.HTTP_OK) {
                return "";
            }
            try (InputStream body = connection.getErrorStream()) {
                String text =
                        body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
                return "status " + connection.getResponseCode() + ": " + text;
            }
        } finally {
            connection.disconnect();
        }
    }
}
