package io.saucr.services;

import io.saucr.services.client.BirthClient;
import io.saucr.services.client.PlainClient;
import io.saucr.services.core.Limits;
import io.saucr.services.journal.Disk;
import io.saucr.services.local.BirthOrder;
import io.saucr.services.local.LocalService;
import io.saucr.services.move.ProtectionMove;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import io.saucr.services.speculative.MemberService;
import io.saucr.services.standby.FolderRestore;
import io.saucr.services.standby.MemberLoss;
import io.saucr.services.standby.ReplayService;
import io.saucr.services.standby.StandbyService;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.Place;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Where a service is, and how it runs: the entry point for programs that run a service and for
 * programs that call it.
 *
 * <pre>{@code
 * Services.at("zk1:2181,zk2:2181/apps/bank-eu").run(Bank::new, Protection.local());
 * Services.at("zk1:2181,zk2:2181/apps/bank-eu").client().ask(new Balance("ann"), Cents.class);
 * }</pre>
 *
 * <p>The last part of the path is the service's name; it sends to services with the same parent by
 * their names. Immutable: each setting gives another of these. Any thread.
 */
public final class Services {

    private final Place place;
    private final Halt halt;

    private Services(Place place, Halt halt) {
        this.place = place;
        this.halt = halt;
    }

    private static Services of(Place place) {
        return new Services(place, (reason, cause) -> {});
    }

    private Services with(Place other) {
        return new Services(other, halt);
    }

    /**
     * A service whose place is a znode of an ensemble. The ensemble hands out names and sees to it
     * that a service runs once (K14); no message goes through it.
     *
     * @param ensemble servers as for ZooKeeper's client, and the service's path: {@code
     *     zk1:2181,zk2:2181/apps/bank-eu}
     * @throws IllegalArgumentException where a part is missing or not allowed
     */
    public static Services at(String ensemble) {
        return of(Place.at(ensemble, Optional.empty()));
    }

    /**
     * The same, for an ensemble with authentication; only these credentials can change the znodes.
     */
    public static Services at(String ensemble, Credentials credentials) {
        return of(Place.at(ensemble, Optional.of(credentials)));
    }

    /**
     * A service whose peers are at known addresses. Nothing ensures that it runs only once: an old
     * copy of its folder is noticed only when it meets a peer (K14). For tests, and for systems
     * that fence in another way.
     *
     * @param name of the service
     * @param addresses of services by name; for a client also that of this one
     */
    public static Services without(String name, Map<String, Address> addresses) {
        return of(Place.without(name, addresses));
    }

    /**
     * Where the service keeps what must survive: a folder of its own on a disk of this machine.
     * Default: one of its name in {@code services} of the current folder.
     */
    public Services folder(Path folder) {
        return with(place.withFolder(folder));
    }

    /**
     * Where the service listens. Other processes get this address, too, so it has to be a name or
     * number that they reach. Default: {@code localhost}, at a port that the system chooses.
     */
    public Services listen(Address address) {
        return with(place.withListen(address));
    }

    /** How connections are made, and how much they hold. */
    public Services net(NetOptions options) {
        return with(place.withNet(options));
    }

    /** Encrypts all connections; who is on the other side is proven by its certificate. */
    public Services tls(TlsOptions keys) {
        return net(place.net().with(keys));
    }

    /** How many messages are held, how often they are tried, and the like. */
    public Services limits(Limits limits) {
        return with(place.withOptions(place.options().with(limits)));
    }

    /**
     * For tests: values are looked at, to find one that a handler changed in place, which no
     * standby and no start would know of (C12). Each turn compares those that it saw with what was
     * stored, and the first turn behind each checkpoint compares the whole state. A turn that finds
     * one fails and names collection and key. It multiplies the time of a turn.
     */
    public Services checkingValues() {
        return with(place.withOptions(place.options().checkingValues()));
    }

    /** How many bytes of turns may lie above the base before the next one is written (K10). */
    public Services foldBytes(long bytes) {
        return with(place.withOptions(place.options().foldBytes(bytes)));
    }

    /**
     * How many bytes of messages may wait for peers in files before inputs of clients wait, too;
     * default 8 GiB (K13). Other services' messages are still taken.
     */
    public Services outboxBytes(long bytes) {
        return with(place.withOptions(place.options().outboxBytes(bytes)));
    }

    /**
     * The size of the journal's files, from 4 KiB to 1 GiB; default 64 MiB. Twice as many bytes are
     * kept in reserve on the disk, so that acks and folding continue when it is full (K13).
     */
    public Services segmentBytes(int bytes) {
        return with(place.withSegmentBytes(bytes));
    }

    /**
     * Answers with a status page and JSON on this machine, for its own people; in the artifact
     * {@code saucr-services-http}. Default: none.
     *
     * @param port of localhost; 0 lets the system choose, and the log says it
     */
    public Services statusPage(int port) {
        return statusPage(new Address("localhost", port));
    }

    /**
     * The same at any address. Without authentication: each process that reaches it may send
     * commands.
     */
    public Services statusPage(Address address) {
        Http unused = Http.found();
        return with(place.withPage(address));
    }

    /**
     * Takes messages and queries by HTTP, too, as JSON; with an {@code Idempotency-Key} each
     * message happens once. It is in the artifact {@code saucr-services-http}. Default: not.
     *
     * @param address where; port 0 lets the system choose, and the log reports it. There is no
     *     authentication: each process that reaches it is a client without a name
     */
    public Services http(Address address) {
        Http unused = Http.found();
        return with(place.withDoor(address));
    }

    /** The timeout of sessions with the ensemble; default 15 s. */
    public Services sessionTimeout(Duration timeout) {
        return with(place.withSessionTimeout(timeout));
    }

    /**
     * Restricts messages of this type to these services, clients excluded; without it all may send
     * them. A message of another sender is returned to it (K12). Without TLS a peer's name is not
     * verified.
     */
    public Services allow(Class<? extends Record> type, String... senders) {
        return with(place.withOptions(place.options().allow(type, senders)));
    }

    /**
     * Called if the service must not continue: its disk failed, another process has its head, or a
     * turn does not end (K8, K14). The service is over then; the process continues, and {@link
     * RunningService#join} throws. A program that is nothing but the service gives {@link
     * Halt#process} here, and is started again. Default: nobody but the log.
     */
    public Services onHalt(Halt owner) {
        return new Services(place, owner);
    }

    /**
     * Starts the service: takes its folder and its head, recovers, listens, and answers. Waits for
     * the ensemble as long as it takes.
     *
     * @param constructor makes the service from its state, such as {@code Bank::new}
     * @param protection what it is to survive
     * @return runs until it is closed. When it must not continue, as its disk fails or its head is
     *     another's, it halts: {@link #onHalt} (K8, K14)
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     * @throws IOException where folder, port or keys cannot be used; says what to do
     * @throws ServiceException where the ensemble refuses the start; says why, and what to do
     * @throws InterruptedException where the thread is interrupted; nothing runs then
     */
    public RunningService run(
            Function<State, ? extends Service> constructor, Protection.Local protection)
            throws IOException, InterruptedException {
        return LocalService.start(Disk.local(), place, constructor, protection, halt);
    }

    /**
     * Starts one member of a service with standbys: the same line on each, with a folder of its
     * own. Returns once it knows whom it follows, or is primary; waits for the ensemble as long as
     * it takes.
     *
     * @param constructor makes the service from its state, each time that this member begins to
     *     follow: what it holds outside of its state is new then
     * @param protection how many members have a turn before it is final
     * @return runs until it is closed, which hands the primary's role over if another member is
     *     ready. When it must not continue, as its disk fails or the head is of another generation,
     *     it halts: {@link #onHalt} (K8, C5)
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     * @throws IOException where folder, port or keys cannot be used; says what to do
     * @throws ServiceException where the head is not for this folder; says why, and what to do
     * @throws InterruptedException where the thread is interrupted; nothing runs then
     */
    public RunningService run(
            Function<State, ? extends Service> constructor, Protection.Standby protection)
            throws IOException, InterruptedException {
        return StandbyService.start(Disk.local(), place, constructor, protection, halt);
    }

    /**
     * Starts one member of a service whose handlers run in lanes: the same line on each, with a
     * folder of its own. Returns once it knows whom it follows, or is primary; waits for the
     * ensemble as long as it takes.
     *
     * @param constructor makes the service from its state, in each life of this member: what it
     *     holds outside of its state is new then
     * @param protection in how many lanes, and which release of the handlers this is
     * @return runs until it is closed; then another member takes over. It halts ({@link #onHalt})
     *     when its disk fails (K8), and when it becomes primary and its handlers do something else
     *     than the primary before it has recorded (X14)
     * @throws IllegalArgumentException if the service, one of its types or a setting of this place
     *     is not supported; says which. Nothing was changed
     * @throws IOException where folder, port or keys cannot be used; says what to do
     * @throws ServiceException where the head is not for this folder; says why, and what to do
     * @throws InterruptedException where the thread is interrupted; nothing runs then
     */
    public RunningService run(
            Function<LaneState, ? extends LaneService> constructor, Protection.Replay protection)
            throws IOException, InterruptedException {
        return ReplayService.start(Disk.local(), place, constructor, protection, halt);
    }

    /**
     * Starts a member of a group. Takes its folder and its head, joins the group or waits for its
     * decision, recovers, listens, and answers. Waits for the ensemble as long as it takes; a start
     * after a failure also waits until each other member that has not left the group was started.
     * The log names what is waited for.
     *
     * @param constructor makes the service from its state, again whenever turns are undone: what it
     *     holds outside of its state is new then
     * @param protection of which group it is a member, and how
     * @return runs until it is closed, which leaves the group. When it must not continue, as its
     *     disk fails or its head is another's, it halts: {@link #onHalt} (K8, K14, D15)
     * @throws IllegalArgumentException where the service, its name or one of its types is not
     *     allowed, or this place has no ensemble; nothing was changed
     * @throws IOException where folder, port or keys cannot be used, or the group refuses the
     *     member; says what to do
     * @throws ServiceException where the ensemble refuses the start; says why, and what to do
     * @throws InterruptedException where the thread is interrupted; nothing runs then
     */
    public RunningService run(
            Function<State, ? extends Service> constructor, Protection.Speculative protection)
            throws IOException, InterruptedException {
        return MemberService.start(Disk.local(), place, constructor, protection, halt);
    }

    /**
     * The same service in partitions: each has the state of some keys, and those of one process
     * share an fsync. Their number is fixed by the first start.
     *
     * @param count from 1 to 1024
     */
    public Partitions partitions(int count) {
        return new Partitions(place, halt, count);
    }

    /**
     * Another service, with the same parent, has partitions: what turns send or ask by its name
     * goes to the partition of the message's key ({@link Keyed}).
     *
     * @param service its name
     * @param count as it was started with
     */
    public Services partitioned(String service, int count) {
        return with(place.withPartitions(service, count));
    }

    /**
     * A client without a generation: messages are consumed at most once. When a connection breaks,
     * calls under way fail, and whether they were consumed is unknown. The service keeps nothing
     * for it. Use it for queries, for calls that may safely be repeated, and for programs that call
     * once and exit.
     *
     * @throws IOException where keys cannot be used
     */
    public Client client() throws IOException {
        return new PlainClient(place);
    }

    /**
     * A client with a generation of its own, in memory: its messages are consumed exactly once and
     * in order for as long as this process lives, across crashes and moves of the service. Calls
     * under way continue when the service answers again. Nothing is written. When this process
     * dies, what was under way was consumed or not, and it is unknown which; {@link #client(String,
     * Path)} avoids that. The service remembers each such client for {@link
     * Limits#outsideSilenceMillis}, by default 30 days: keep one, and do not open one for each
     * call.
     *
     * @param name of the client, without '#'; others may have it, too
     * @throws IOException where keys cannot be used
     */
    public Client client(String name) throws IOException {
        Place.checkName(name);
        return BirthClient.open(place, name, Optional.empty());
    }

    /**
     * A client with a generation of its own in a folder: its messages are consumed exactly once and
     * in order, also across crashes of both. A call is on disk here before it is sent.
     *
     * @param name of the client, without '#'
     * @param folder its own, locked while it is open
     * @throws IOException where folder or keys cannot be used; says what to do
     */
    public Client client(String name, Path folder) throws IOException {
        Place.checkName(name);
        return BirthClient.open(place, name, Optional.of(folder));
    }

    /**
     * Reads this service's folder and its head, for a command that makes the folder a new
     * generation: so that a backup can continue, or a loss is accepted (K11). Changes nothing until
     * {@link NewGeneration#give}.
     *
     * @throws IOException where the folder is in use, is none or is damaged, or the ensemble does
     *     not answer within half a minute
     */
    public NewGeneration newGeneration() throws IOException, InterruptedException {
        return BirthOrder.ofService(Disk.local(), place);
    }

    /**
     * Reads this folder of a member of a service with standbys, and the head, for a command that
     * accepts a loss: if no member has the segment that the head names (C17). Changes nothing until
     * {@link DataLoss#give}, but cuts off what a crash tore, as a start does.
     *
     * @throws IOException where the folder is in use, is none or is damaged, or the ensemble does
     *     not answer within half a minute
     * @throws ServiceException where there is no head
     */
    public DataLoss dataLoss() throws IOException, InterruptedException {
        return MemberLoss.of(Disk.local(), place);
    }

    /**
     * Makes this folder that of a member of a service with standbys, out of what members share,
     * where all their own folders are lost: up to what the head names, or to the newest segment
     * that is there. What is shared is only read. The member must not run. Where the head names
     * more, {@link #dataLoss} comes next, with this folder.
     *
     * @param store as members were given it; a hung one is waited for
     * @return what was done, and what to do next: lines for people
     * @throws IllegalArgumentException where members share nothing: {@link
     *     Protection.Store#members}
     * @throws IOException where the folder is in use, is another's or holds something else, the
     *     store cannot be used, or the ensemble does not answer within half a minute
     * @throws ServiceException where there is no head, or nothing in the store to begin with
     */
    public List<String> restore(Protection.Store store) throws IOException, InterruptedException {
        return FolderRestore.from(Disk.local(), place, store);
    }

    /**
     * Moves this service, which is stopped, from {@link Protection#local} to {@link
     * Protection#standby}: makes the first member's folder of this one, and hands that member the
     * head. Clients and peers continue as after a restart. This folder is left as it is, and
     * refused by starts from then on.
     *
     * @param member the member's folder: empty, or not there yet
     * @return what was done, and what to do next: lines for people
     * @throws IOException where a folder is in use, is none, is damaged or not empty, or the
     *     ensemble does not answer within half a minute
     * @throws ServiceException where the service runs, its head is not this folder's, or writes to
     *     the ensemble are open; says what to do
     */
    public List<String> moveToStandby(Path member) throws IOException, InterruptedException {
        return ProtectionMove.toStandby(Disk.local(), place, member);
    }

    /**
     * Moves this service, whose members are all stopped, from {@link Protection#standby} to {@link
     * Protection#local}: makes a folder of this member's, which has all that the head names, and
     * hands it the head. Clients and peers continue as after a restart. Members' folders are left
     * as they are, and refused by starts from then on.
     *
     * @param folder the service's folder: empty, or not there yet
     * @return what was done, and what to do next: lines for people
     * @throws IOException where a folder is in use, is none, is damaged or not empty, or the
     *     ensemble does not answer within half a minute
     * @throws ServiceException where a member runs, this one lacks what the head names, or writes
     *     to the ensemble are open; says what to do
     */
    public List<String> moveToLocal(Path folder) throws IOException, InterruptedException {
        return ProtectionMove.toLocal(Disk.local(), place, folder);
    }

    /**
     * Reads the folder of a client with a generation, for a command that makes it a new one: if the
     * service reports that the old one is lost, or to use the folder with another service.
     *
     * @throws IOException where the folder is in use, is none or is damaged
     */
    public NewGeneration newGeneration(String client, Path folder)
            throws IOException, InterruptedException {
        Place.checkName(client);
        return BirthOrder.ofClient(Disk.local(), folder, client);
    }
}
