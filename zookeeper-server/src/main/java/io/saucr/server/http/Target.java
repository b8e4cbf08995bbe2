package io.saucr.server.http;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * What a request asks for.
 *
 * @param path decoded, without the parameters of its segments
 * @param parameters those of the query, with all values of each
 */
record Target(String path, String query, Map<String, List<String>> parameters) {
    private static final int MOST_PARAMETERS = 1_024;

    /**
     * Takes a request's target apart. Segments that mean another folder are refused: two programs
     * could read different paths.
     *
     * @throws IllegalArgumentException if it is no path
     */
    static Target of(String target) {
        int fragment = target.indexOf('#');
        String whole = fragment < 0 ? target : target.substring(0, fragment);
        String relative = whole.startsWith("/") ? whole : pathOfUri(whole);
        int question = relative.indexOf('?');
        String query = question < 0 ? "" : relative.substring(question + 1);
        return new Target(
                path(question < 0 ? relative : relative.substring(0, question)),
                query,
                new QueryStringDecoder(query, StandardCharsets.UTF_8, false, MOST_PARAMETERS, true)
                        .parameters());
    }

    /** Of the form that a proxy gets, which every server has to take. */
    private static String pathOfUri(String target) {
        URI uri = URI.create(target);
        if (uri.getHost() == null) {
            throw new IllegalArgumentException("no path and no URI");
        }
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        return uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery();
    }

    private static String path(String raw) {
        StringBuilder path = new StringBuilder();
        for (String segment : raw.substring(1).split("/", -1)) {
            int parameters = segment.indexOf(';');
            String decoded =
                    // A plus is a space in a query alone.
                    QueryStringDecoder.decodeComponent(
                            (parameters < 0 ? segment : segment.substring(0, parameters))
                                    .replace("+", "%2B"));
            if (decoded.equals(".") || decoded.equals("..")) {
                throw new IllegalArgumentException("ambiguous segment of a path");
            }
            path.append('/').append(decoded);
        }
        return path.toString();
    }
}
