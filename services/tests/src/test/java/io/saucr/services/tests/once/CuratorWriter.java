package io.saucr.services.tests.once;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult;

/**
 * Curator at its best: {@code idempotent()} where there is one, protection for sequential creates.
 * Neither has asynchronous variants, so one operation follows the other.
 */
final class CuratorWriter implements Writer {
    private static final int PAUSE_MILLIS = 50;

    @Override
    public void run(Task task, OutcomeFile outcomes) throws IOException, InterruptedException {
        List<Told> told = OutcomeFile.read(task.folder(), task.steps().size());
        try (CuratorFramework curator =
                CuratorFrameworkFactory.newClient(
                        task.connectString(),
                        Task.SESSION_MILLIS,
                        Task.SESSION_MILLIS,
                        new RetryForever(PAUSE_MILLIS))) {
            curator.start();
            for (int number = 0; number < told.size(); number++) {
                if (told.get(number) == null) {
                    outcomes.append(number, attempt(curator, task.steps().get(number)));
                }
            }
        }
    }

    private static Told attempt(CuratorFramework curator, Step step)
            throws IOException, InterruptedException {
        try {
            return done(curator, step);
        } catch (KeeperException e) {
            return Told.refused(reason(e));
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("Curator failed at " + step, e);
        }
    }

    private static KeeperException.Code reason(KeeperException e) {
        if (e.getResults() != null) {
            for (OpResult result : e.getResults()) {
                if (result instanceof OpResult.ErrorResult error && error.getErr() != 0) {
                    return KeeperException.Code.get(error.getErr());
                }
            }
        }
        return e.code();
    }

    private static Told done(CuratorFramework curator, Step step) throws Exception {
        if (step instanceof Step.Create create) {
            curator.create().idempotent().forPath(create.path(), Step.bytes(create.data()));
        } else if (step instanceof Step.CreateSequential create) {
            return Told.created(
                    Tree.withoutProtection(
                            curator.create()
                                    .withProtection()
                                    .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
                                    .forPath(create.prefix(), Step.bytes(create.data()))));
        } else if (step instanceof Step.SetData set) {
            curator.setData()
                    .idempotent()
                    .withVersion(set.version())
                    .forPath(set.path(), Step.bytes(set.data()));
        } else if (step instanceof Step.Delete delete) {
            curator.delete().idempotent().withVersion(delete.version()).forPath(delete.path());
        } else if (step instanceof Step.Multi multi) {
            List<CuratorOp> parts = new ArrayList<>();
            for (Step part : multi.parts()) {
                parts.add(part(curator, part));
            }
            curator.transaction().forOperations(parts);
        } else {
            throw new IllegalArgumentException("only in a multi: " + step);
        }
        return Told.done();
    }

    private static CuratorOp part(CuratorFramework curator, Step part) throws Exception {
        if (part instanceof Step.Create create) {
            return curator.transactionOp()
                    .create()
                    .forPath(create.path(), Step.bytes(create.data()));
        } else if (part instanceof Step.SetData set) {
            return curator.transactionOp()
                    .setData()
                    .withVersion(set.version())
                    .forPath(set.path(), Step.bytes(set.data()));
        } else if (part instanceof Step.Delete delete) {
            return curator.transactionOp()
                    .delete()
                    .withVersion(delete.version())
                    .forPath(delete.path());
        } else if (part instanceof Step.Check check) {
            return curator.transactionOp()
                    .check()
                    .withVersion(check.version())
                    .forPath(check.path());
        }
        throw new IllegalArgumentException("not in a multi: " + part);
    }
}
