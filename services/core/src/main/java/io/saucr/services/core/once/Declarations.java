package io.saucr.services.core.once;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * Decides how ephemerals that were declared are kept in each session of a client, and taken away
 * again (E7). They have no numbers: what counts is that they are there while declared and the
 * client's session lives, and that nobody else's is ever deleted.
 *
 * <p>Guarantees: creates and deletes have the parent's version as a condition, so that none that is
 * late happens once the marker was replaced (E3): not behind a withdrawal, and not behind a later
 * start. A delete follows a look of the same session that has shown its own ephemeral; another
 * session's, be it an older one of this client or a stranger's, is waited out.
 *
 * <p>Phases of a path:
 *
 * <pre>
 * UNSEEN    has to be looked at, once there is a session
 * LOOKING   is looked at
 * FREE      nobody's; created once there is a marker
 * CREATING  a create is on its way
 * HELD      this session's
 * TAKEN     another session's, which has to end on its own
 * OWN       this session's and withdrawn; deleted once there is a marker
 * DELETING  a delete is on its way
 * OPEN      whether one of the two happened is open; looked at once the marker was replaced
 * REFUSED   the ensemble refuses it; looked at again with the next session
 * </pre>
 *
 * <p>The code that drives it does the actions in their order and answers each once. Used by the
 * thread of the {@link MarkerChain}.
 */
public class Declarations {

    /** What is to be done. */
    public sealed interface Action {

        /**
         * Look whose the path is, after a sync, in this session; again until it is answered. Then
         * {@link Declarations#seen}.
         */
        record Look(long session, String path) implements Action {}

        /**
         * Send one multi in this session: check the parent's version, create the ephemeral. Then
         * {@link Declarations#answered}.
         *
         * @param request numbered from 1
         * @param session that it belongs to; in another one it is not sent, and unknown
         * @param path of the ephemeral
         * @param parentVersion that the parent's data must have
         */
        record Create(long request, long session, String path, int parentVersion)
                implements Action {}

        /** The same with a delete in place of the create, of any version. */
        record Delete(long request, long session, String path, int parentVersion)
                implements Action {}

        /** Watch the path from the look before on; when it changes {@link Declarations#changed}. */
        record Watch(long session, String path) implements Action {}

        /** Call {@link MarkerChain#disturbed}. */
        record ReplaceMarker() implements Action {}

        /** Tell the one that declared it; each change once. */
        record Report(String path, Standing standing) implements Action {}
    }

    /** What became of a declaration. */
    public sealed interface Standing {

        /** It is there, this session's. */
        record Held() implements Standing {}

        /** It is not there now: another session's is, which has to end on its own, or none is. */
        record Missing() implements Standing {}

        /**
         * The ensemble refuses it; it is tried again in the next session, or when it is declared
         * again.
         *
         * @param code of the error, as ZooKeeper numbers them
         */
        record Refused(int code) implements Standing {}

        /**
         * It was taken away, and none of this session comes any more. An older session's may be
         * there until the servers end that session.
         */
        record Withdrawn() implements Standing {}
    }

    /** What a look has shown. */
    public enum Seen {
        /** There is nothing. */
        NOTHING,
        /** An ephemeral of the session that has looked. */
        OWN,
        /** An ephemeral of another session. */
        ANOTHERS,
        /** A znode that is no ephemeral. */
        LASTING,
    }

    /** What came back of a create or delete. */
    public sealed interface Reply {

        /** It happened. */
        record Done() implements Reply {}

        /** It did not happen: the parent has another version. */
        record ParentMoved() implements Reply {}

        /** It did not happen: the path exists, or does not, against what was seen. */
        record PathMoved() implements Reply {}

        /** It did not happen, for another reason. */
        record Refused(int code) implements Reply {}

        /** It happened or did not, or may yet. */
        record Unknown() implements Reply {}
    }

    private enum Phase {
        UNSEEN,
        LOOKING,
        FREE,
        CREATING,
        HELD,
        TAKEN,
        OWN,
        DELETING,
        OPEN,
        REFUSED,
    }

    private static final class Declared {
        final String path;
        boolean wanted = true;
        Phase phase = Phase.UNSEEN;

        /** The version that the newest request had as its condition. */
        int usedVersion;

        Standing told = new Standing.Missing();

        Declared(String path) {
            this.path = path;
        }
    }

    /** A path exists already, and is no ephemeral. */
    private static final int NODE_EXISTS = -110;

    private final Map<String, Declared> all = new TreeMap<>();
    private final Map<Long, Declared> underWay = new TreeMap<>();
    private boolean hasSession;
    private long session;
    private OptionalInt parentVersion = OptionalInt.empty();
    private long lastRequest;

    /**
     * From now on the path is an ephemeral of each session.
     *
     * @param path that nobody else declares
     */
    public List<Action> declare(String path) {
        List<Action> actions = new ArrayList<>();
        Declared declared = all.computeIfAbsent(path, Declared::new);
        declared.wanted = true;
        if (declared.phase == Phase.OWN) {
            hold(declared, actions);
        } else if (declared.phase == Phase.UNSEEN || declared.phase == Phase.REFUSED) {
            // Who declares again is told again, even the same.
            tell(declared, new Standing.Missing(), actions);
            look(declared, actions);
        }
        return actions;
    }

    /**
     * From now on the path is none of this client's; reported once it is so.
     *
     * @throws IllegalArgumentException where it is not declared
     */
    public List<Action> withdraw(String path) {
        Declared declared = all.get(path);
        if (declared == null || !declared.wanted) {
            throw new IllegalArgumentException(path + " is not declared");
        }
        declared.wanted = false;
        List<Action> actions = new ArrayList<>();
        switch (declared.phase) {
            // Whose it is now has to be seen, not remembered.
            case HELD -> look(declared, actions);
            case FREE, TAKEN, REFUSED -> withdrawn(declared, actions);
            // Even where no look was answered yet: nothing of this session was sent.
            case UNSEEN, LOOKING, CREATING, OWN, DELETING, OPEN -> {}
        }
        return actions;
    }

    /** The client has a new session; what the one before held ends with it. */
    public List<Action> session(long id) {
        hasSession = true;
        session = id;
        List<Action> actions = new ArrayList<>();
        for (Declared declared : List.copyOf(all.values())) {
            switch (declared.phase) {
                case UNSEEN, LOOKING, FREE, HELD, TAKEN, OWN, REFUSED -> look(declared, actions);
                case CREATING, DELETING, OPEN -> {}
            }
        }
        return actions;
    }

    /**
     * What {@link MarkerChain#parentVersion} says has changed.
     *
     * @param version of the parent, empty while there is no marker
     */
    public List<Action> parent(OptionalInt version) {
        parentVersion = version;
        List<Action> actions = new ArrayList<>();
        if (version.isPresent()) {
            for (Declared declared : List.copyOf(all.values())) {
                switch (declared.phase) {
                    case FREE -> create(declared, actions);
                    case OWN -> delete(declared, actions);
                    case OPEN -> behindReplacement(declared, actions);
                    case UNSEEN, LOOKING, CREATING, HELD, TAKEN, DELETING, REFUSED -> {}
                }
            }
        }
        return actions;
    }

    /**
     * Whose a path is.
     *
     * @param inSession that has looked; of an older one it says nothing
     */
    public List<Action> seen(long inSession, String path, Seen seen) {
        Declared declared = all.get(path);
        if (declared == null || declared.phase != Phase.LOOKING || inSession != session) {
            return List.of();
        }
        List<Action> actions = new ArrayList<>();
        switch (seen) {
            case NOTHING -> {
                if (declared.wanted) {
                    declared.phase = Phase.FREE;
                    tell(declared, new Standing.Missing(), actions);
                    create(declared, actions);
                } else {
                    withdrawn(declared, actions);
                }
            }
            case OWN -> {
                if (declared.wanted) {
                    hold(declared, actions);
                } else {
                    declared.phase = Phase.OWN;
                    delete(declared, actions);
                }
            }
            case ANOTHERS -> {
                if (declared.wanted) {
                    declared.phase = Phase.TAKEN;
                    tell(declared, new Standing.Missing(), actions);
                    actions.add(new Action.Watch(session, path));
                } else {
                    withdrawn(declared, actions);
                }
            }
            case LASTING -> refused(declared, NODE_EXISTS, actions);
        }
        return actions;
    }

    /** A path that was watched has changed. */
    public List<Action> changed(long inSession, String path) {
        Declared declared = all.get(path);
        List<Action> actions = new ArrayList<>();
        if (declared != null
                && inSession == session
                && (declared.phase == Phase.HELD || declared.phase == Phase.TAKEN)) {
            look(declared, actions);
        }
        return actions;
    }

    /** A create or delete was answered. */
    public List<Action> answered(long request, Reply reply) {
        Declared declared = underWay.remove(request);
        if (declared == null) {
            throw new IllegalStateException("request " + request + " is not under way");
        }
        List<Action> actions = new ArrayList<>();
        if (reply instanceof Reply.Unknown) {
            declared.phase = Phase.OPEN;
            behindReplacement(declared, actions);
        } else if (reply instanceof Reply.ParentMoved) {
            if (isCurrent(declared.usedVersion)) {
                // By a replacement that the chain has not heard of, or by another start.
                actions.add(new Action.ReplaceMarker());
            }
            look(declared, actions);
        } else if (reply instanceof Reply.Refused refused) {
            refused(declared, refused.code(), actions);
        } else {
            // Also of a create that is done: its session may have ended meanwhile.
            look(declared, actions);
        }
        return actions;
    }

    private boolean isCurrent(int version) {
        return parentVersion.isPresent() && parentVersion.getAsInt() == version;
    }

    /** Looks once nothing that was sent before can happen any more. */
    private void behindReplacement(Declared declared, List<Action> actions) {
        if (isCurrent(declared.usedVersion)) {
            actions.add(new Action.ReplaceMarker());
        } else if (parentVersion.isPresent()) {
            look(declared, actions);
        }
    }

    private void look(Declared declared, List<Action> actions) {
        declared.phase = Phase.UNSEEN;
        if (hasSession) {
            declared.phase = Phase.LOOKING;
            actions.add(new Action.Look(session, declared.path));
        }
    }

    private void create(Declared declared, List<Action> actions) {
        if (parentVersion.isPresent()) {
            declared.phase = Phase.CREATING;
            declared.usedVersion = parentVersion.getAsInt();
            underWay.put(++lastRequest, declared);
            actions.add(
                    new Action.Create(lastRequest, session, declared.path, declared.usedVersion));
        }
    }

    private void delete(Declared declared, List<Action> actions) {
        if (parentVersion.isPresent()) {
            declared.phase = Phase.DELETING;
            declared.usedVersion = parentVersion.getAsInt();
            underWay.put(++lastRequest, declared);
            actions.add(
                    new Action.Delete(lastRequest, session, declared.path, declared.usedVersion));
        }
    }

    private void hold(Declared declared, List<Action> actions) {
        declared.phase = Phase.HELD;
        tell(declared, new Standing.Held(), actions);
        actions.add(new Action.Watch(session, declared.path));
    }

    private void refused(Declared declared, int code, List<Action> actions) {
        if (declared.wanted || declared.phase == Phase.DELETING) {
            declared.phase = Phase.REFUSED;
            tell(declared, new Standing.Refused(code), actions);
        } else {
            withdrawn(declared, actions);
        }
    }

    private void withdrawn(Declared declared, List<Action> actions) {
        all.remove(declared.path);
        tell(declared, new Standing.Withdrawn(), actions);
    }

    private void tell(Declared declared, Standing standing, List<Action> actions) {
        if (!standing.equals(declared.told)) {
            declared.told = standing;
            actions.add(new Action.Report(declared.path, standing));
        }
    }
}
