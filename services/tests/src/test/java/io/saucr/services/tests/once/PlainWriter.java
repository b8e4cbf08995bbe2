package io.saucr.services.tests.once;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Semaphore;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * ZooKeeper's own client and what is commonly written around it: what got no answer is sent again,
 * and if that finds the node there (or gone), it is taken for done.
 */
final class PlainWriter implements Writer {
    private static final long PAUSE_MILLIS = 50;

    /** Those without an answer, in order; filled by the client's thread. */
    private final ConcurrentSkipListSet<Integer> lost = new ConcurrentSkipListSet<>();

    @Override
    public void run(Task task, OutcomeFile outcomes) throws IOException, InterruptedException {
        List<Told> told = OutcomeFile.read(task.folder(), task.steps().size());
        List<Integer> open = new ArrayList<>();
        for (int number = 0; number < told.size(); number++) {
            if (told.get(number) == null) {
                open.add(number);
            }
        }
        boolean again = false;
        ZooKeeper session = connect(task);
        while (!open.isEmpty()) {
            Semaphore room = new Semaphore(task.depth());
            int sent = 0;
            while (sent < open.size()) {
                room.acquire();
                if (!lost.isEmpty()) {
                    room.release();
                    break; // What was lost goes first, as far as that is known.
                }
                int number = open.get(sent);
                send(session, task.steps().get(number), number, again, room, outcomes);
                sent++;
            }
            room.acquire(task.depth());
            List<Integer> left = new ArrayList<>(lost);
            left.addAll(open.subList(sent, open.size()));
            open = left;
            lost.clear();
            again = true;
            if (!session.getState().isAlive()) {
                session.close();
                session = connect(task);
            } else if (!open.isEmpty()) {
                Thread.sleep(PAUSE_MILLIS);
            }
        }
        session.close();
    }

    private static ZooKeeper connect(Task task) throws IOException {
        return new ZooKeeper(task.connectString(), Task.SESSION_MILLIS, event -> {});
    }

    private void send(
            ZooKeeper session,
            Step step,
            int number,
            boolean again,
            Semaphore room,
            OutcomeFile outcomes) {
        if (step instanceof Step.Create create) {
            session.create(
                    create.path(),
                    Step.bytes(create.data()),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT,
                    (AsyncCallback.StringCallback)
                            (code, path, context, name) ->
                                    tell(
                                            number,
                                            taken(code, again, Code.NODEEXISTS),
                                            room,
                                            outcomes),
                    null);
        } else if (step instanceof Step.CreateSequential create) {
            session.create(
                    create.prefix(),
                    Step.bytes(create.data()),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT_SEQUENTIAL,
                    (AsyncCallback.StringCallback)
                            (code, path, context, name) ->
                                    tell(
                                            number,
                                            code == 0
                                                    ? Told.created(name)
                                                    : Told.refused(Code.get(code)),
                                            room,
                                            outcomes),
                    null);
        } else if (step instanceof Step.SetData set) {
            session.setData(
                    set.path(),
                    Step.bytes(set.data()),
                    set.version(),
                    (code, path, context, stat) ->
                            tell(number, taken(code, false, Code.OK), room, outcomes),
                    null);
        } else if (step instanceof Step.Delete delete) {
            session.delete(
                    delete.path(),
                    delete.version(),
                    (code, path, context) ->
                            tell(number, taken(code, again, Code.NONODE), room, outcomes),
                    null);
        } else {
            session.multi(
                    step.ops(),
                    (code, path, context, results) ->
                            tell(
                                    number,
                                    taken(reason(code, results), false, Code.OK),
                                    room,
                                    outcomes),
                    null);
        }
    }

    /** The first part that failed says why. */
    private static int reason(int code, List<OpResult> results) {
        if (results != null) {
            for (OpResult result : results) {
                if (result instanceof OpResult.ErrorResult error && error.getErr() != 0) {
                    return error.getErr();
                }
            }
        }
        return code;
    }

    private static Told taken(int code, boolean again, Code sameAsDone) {
        return code == 0 || (again && code == sameAsDone.intValue())
                ? Told.done()
                : Told.refused(Code.get(code));
    }

    private void tell(int number, Told told, Semaphore room, OutcomeFile outcomes) {
        try {
            switch (told.word()) {
                case "CONNECTIONLOSS", "SESSIONEXPIRED", "SESSIONMOVED", "OPERATIONTIMEOUT" ->
                        lost.add(number);
                default -> outcomes.append(number, told);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            room.release();
        }
    }
}
