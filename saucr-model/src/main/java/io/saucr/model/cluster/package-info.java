/**
 * An ensemble made of the classes that the server runs, for the model checker and the simulator.
 *
 * <p>{@link io.saucr.model.cluster.ModelCluster} is mutable and belongs to one thread:
 *
 * <pre>{@code
 * ModelCluster cluster = new ModelCluster(5, Bounds.none()); // everybody up, looking, empty logs
 * int[] steps = new int[ModelCluster.MAX_ENABLED];
 * int count = cluster.enabled(steps);                        // what may happen next
 * if (!cluster.apply(steps[i])) {                            // one of these happens
 *     cluster.violation();                                   // the name of the invariant that broke
 *     cluster.explanation();
 * }
 * cluster.reset();                                           // back to the beginning
 * }</pre>
 *
 * <p>{@code ModelCluster} holds the state. {@code EnabledSteps} says which steps may happen; {@code
 * LeaderSteps}, {@code SyncSteps}, {@code FollowerSteps}, {@code LogSteps}, {@code ProcessSteps}
 * and {@code RecoverySteps} say what they do.
 *
 * <p>A {@link io.saucr.model.cluster.Step} is an int: {@code Step.kind}, {@code Step.server},
 * {@code Step.other}, {@code Step.argument}; {@code Step.toString} and {@code Step.parse} are its
 * text. {@code apply} trusts its caller: only a step that {@code enabled} offers has a meaning.
 * {@code new ModelCluster(n, bounds, Set.of(BrokenRule.R5_FAST_BEFORE_DISKS))} breaks a rule, in
 * the cluster only.
 *
 * <h2>What is the product's own</h2>
 *
 * LeaderState decides all that a leader decides; it is made of CommitRule, ReplicationSet,
 * ModeController, IncarnationFence and ReadIndex. LogDurability, LleKnowledge with LleMap and
 * ProposalTag, RecoveryProcedure and RecoverySource decide the rest; the cluster does what the
 * server does around them, in the same order.
 *
 * <h2>What is modelled</h2>
 *
 * <ul>
 *   <li>Connections of followers, FIFO in both directions. What was put into one stays readable
 *       after its writer crashed, left, or closed its end; the two ends close at different times.
 *   <li>A log's entries in the buffer and on disk, markers, map and epochs. A crash loses what is
 *       not forced, or any end of it ({@code crash 3 keeping 1}).
 *   <li>Between proposing and acking everything may come between: a leader's own entry goes through
 *       its queue like a follower's; append and ack are two steps; a flush forces in one step and
 *       marks in another.
 *   <li>Synchronisation as ZooKeeper 3.9.5 does it: what the leader has committed comes before
 *       NEWLEADER, is logged and forced before its ack; what is outstanding is sent again with its
 *       old packets and logged after UPTODATE; a follower that has more than its leader committed
 *       is truncated, even of entries that the leader is going to send again.
 *   <li>Syncs of a leader's clients, its questions and the answers (R22). A client reads what its
 *       leader has committed when the sync is answered; a follower's client reads no less.
 *   <li>What else changes a leader's mode: operators' orders (R10), proposals that are held back
 *       until the slow ones are on disk (R5) or until that takes too long, a follower that is not
 *       heard in time (R6), and a pause of the leader's process (H11).
 *   <li>Recovery message by message; the messages of a recovery may get lost by not happening. A
 *       query may arrive after enough others have answered; it still tells the leader (R20).
 * </ul>
 *
 * <h2>What is abstracted, and why no violation hides there</h2>
 *
 * <ul>
 *   <li>Election: any server may be elected that is not behind a bare majority of those who look
 *       for a leader, whatever votes say; FastLeaderElection elects some of them. So votes that
 *       name the past (H17) are included.
 *   <li>Discovery is one step. Between its promise and the leader's last one a follower's log does
 *       not change unless it breaks the promise's connection, so what the leader learnt of it stays
 *       true or does not count any more; and a leader that was overtaken finds no bare majority for
 *       NEWLEADER, because a server that accepted a later epoch acks none of an earlier one.
 *   <li>Connecting is one step: the leader accepts the connection, closes the old one (R21), and
 *       starts to forward at the same moment. Until then the follower looks for a leader, which may
 *       do more than one that waits for its leader.
 *   <li>Suspicion needs no silence, and promptness no packets: a leader may turn slow at any time,
 *       and fast whenever all that R5 asks of disks and connections holds. Time does not pass for a
 *       leader but in steps that need it, so nobody is late by chance.
 *   <li>COMMIT packets are not modelled: what followers apply is what their leader has committed.
 *       S1 and S2 are asserted there, earlier than any follower could apply.
 *   <li>Logs begin with the first entry: no snapshots, no purging. Recovery from a snapshot is
 *       covered by the core's own properties.
 *   <li>An answer is not sent twice by one server to one process while the first one counts, unless
 *       the later one names a newer view than the asker's, and so may be enough (R23). Any other
 *       later one is as if the first had been lost.
 *   <li>The configuration never changes.
 *   <li>There are voters only. An observer gets what is committed and acks nothing, so no decision
 *       depends on it; {@code ObserversIT} has real ones.
 *   <li>Questions and answers of R22 overtake proposals and acks, which only allows more. Of
 *       several unread ones in a connection there is the newest: it serves what they serve. One
 *       that can serve no sync any more is not read. The entry that is proposed when nobody answers
 *       is left out: every server here answers.
 * </ul>
 *
 * <h2>Invariants</h2>
 *
 * Each is a class that implements {@link io.saucr.model.cluster.Invariant}: S1 to S4, log order,
 * marker truth, mode safety, mode is allowed, synced reads. Liveness is looked at by running a
 * cluster on without faults.
 */
package io.saucr.model.cluster;
