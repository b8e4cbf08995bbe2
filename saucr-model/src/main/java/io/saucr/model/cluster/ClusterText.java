package io.saucr.model.cluster;

import io.saucr.model.cluster.Server.Role;
import java.util.Locale;

/** A cluster's state for humans, a line per server. */
public final class ClusterText {
    private ClusterText() {}

    /**
     * One server: what it does, its epoch, its log with a bar behind what is on disk and a star
     * behind what may have been acked, or is in the page cache of a dead process, its markers, and
     * its own view if that lacks a server.
     */
    public static String describe(ModelCluster cluster, int server) {
        Server s = cluster.servers[server];
        StringBuilder out = new StringBuilder();
        out.append(s.sid).append(' ').append(s.role.name().toLowerCase(Locale.ROOT));
        if (s.role == Role.FOLLOWING) {
            out.append(' ').append(s.leader == Server.NOWHERE ? "nobody" : "" + (s.leader + 1L));
            out.append(cluster.attached(server) ? "" : ", cut off");
            out.append(!s.loggedInitialHistory ? ", joining" : s.upToDate ? "" : ", synced");
        } else if (s.role == Role.LEADING) {
            out.append(s.established ? cluster.fastMode(server) ? " fast" : " slow" : " not yet");
            out.append(s.pinned ? ", pinned" : "");
            out.append(s.state.draining() ? ", holding back" : "");
            out.append(", committed ").append(s.committed);
            out.append(s.waiting.isEmpty() ? "" : ", syncs " + s.waiting.size());
        }
        out.append(", epoch ").append(s.currentEpoch).append(", log");
        for (int i = 0; i < s.length; i++) {
            out.append(' ').append(Entry.toString(s.log[i]));
            out.append(i + 1 == s.forced ? " |" : "");
            out.append(i + 1 == s.acked && s.acked > s.forced ? " *" : "");
        }
        for (int i = s.queueNext; i < s.queueLength; i++) {
            out.append(i == s.queueNext ? " <- " : " ").append(Entry.toString(s.queue[i]));
        }
        if (s.lost) {
            return out.append(", disk lost").toString();
        }
        out.append(s.markersSayFast() ? ", markers: fast" : ", markers: on disk");
        if (!s.ownView.isFirst() && s.ownView.members().size() < cluster.n) {
            out.append(", view of ").append(s.ownView.members().size());
            out.append(" sealed at ").append(Entry.toString(s.ownView.seal()));
        }
        return out.toString();
    }
}
