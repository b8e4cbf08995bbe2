package io.saucr.services.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Outside clients without a birth, who are known by their links alone, and those of their requests
 * that a later turn answers. Turn thread.
 */
final class Askers {

    private static final String LINK = "#link ";

    private final Map<String, Link> links = new HashMap<>();
    private final Set<Input.Outside> detached = new HashSet<>();

    /** What a client without a birth is called as a caller: by its link. */
    static String caller(Link link) {
        return LINK + link.id();
    }

    /** Whether such a caller is a client without a birth. */
    static boolean isLinkOnly(String caller) {
        return caller.startsWith(LINK);
    }

    void joined(Link link) {
        links.put(caller(link), link);
    }

    void left(Link link) {
        String caller = caller(link);
        links.remove(caller);
        detached.removeIf(it -> it.caller().equals(caller));
    }

    /** Where it hears, while it is there. */
    Optional<Link> link(String caller) {
        return Optional.ofNullable(links.get(caller));
    }

    /** It did not happen; says so where the client is still there. */
    void refuse(String caller, long request, String reason, List<Action> out) {
        link(caller)
                .ifPresent(it -> out.add(new Action.Send(it, new Frame.Refused(request, reason))));
    }

    /** A later turn answers. */
    void detach(Input.Outside ask) {
        detached.add(ask);
    }

    /** What waits under that number for the answer of a later turn; it waits no longer. */
    Optional<Input.Outside> take(String caller, long request) {
        Optional<Input.Outside> found = find(caller, request);
        found.ifPresent(detached::remove);
        return found;
    }

    boolean waits(String caller, long request) {
        return find(caller, request).isPresent();
    }

    private Optional<Input.Outside> find(String caller, long request) {
        return detached.stream().filter(it -> isCaller(it, caller, request)).findFirst();
    }

    /** Whether an input came from that caller, under that number. */
    static boolean isCaller(Input input, String caller, long number) {
        if (input instanceof Input.Message message) {
            return message.peer().equals(caller) && message.number() == number;
        }
        return input instanceof Input.Outside ask
                && ask.caller().equals(caller)
                && ask.request() == number;
    }
}
