package io.saucr.services;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A bank that uses all that a turn offers. */
public final class Bank implements Service {

    public record Open(String owner, long cents) {}

    /** To an account of this or another bank. */
    public record Transfer(String id, String from, String bank, String to, long cents) {}

    public record Credit(String id, String to, long cents) {}

    public record Done(String id) {}

    public record Bounced(String id) {}

    public record Balance(String owner) {}

    public record Cents(long cents) {}

    public record Total() {}

    public record CheckSettled(String id, Sent credit) {}

    public record Settled() {}

    public record Settlements(List<String> ids, List<Instant> at) {}

    public record Letter(String text) {}

    public record Posted(String stamp) {}

    public record Stamps() {}

    public record Stamped(List<String> stamps) {}

    public record Wait(String until) {}

    public record Release(String until) {}

    public record Released() {}

    public record Poison(String why) {}

    public record Remind(String text, Duration after) {}

    public record Forget(String text) {}

    public record Interest() {}

    public record Audit(String path, String text) {}

    private final MapState<String, Long> accounts;
    private final ListState<String> settled;
    private final ListState<Instant> settledAt;
    private final ListState<String> stamps;
    private final MapState<String, Caller> waiting;
    private final MapState<String, Timer> reminders;
    private final ValueState<Long> interests;
    private final List<String> calls;
    private final Set<String> post;

    /** Calls to the world are noted outside; letters with an id in post arrive. */
    public Bank(State state, List<String> calls, Set<String> post) {
        accounts = state.map("accounts", String.class, Long.class);
        settled = state.list("settled", String.class);
        settledAt = state.list("settledAt", Instant.class);
        stamps = state.list("stamps", String.class);
        waiting = state.map("waiting", String.class, Caller.class);
        reminders = state.map("reminders", String.class, Timer.class);
        interests = state.value("interests", Long.class);
        this.calls = calls;
        this.post = post;
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Open.class,
                (open, turn) -> {
                    accounts.put(open.owner(), open.cents());
                    turn.reply(new Done(open.owner()));
                });
        on.message(
                Transfer.class,
                (t, turn) -> {
                    long have = accounts.getOrDefault(t.from(), 0L);
                    if (have < t.cents()) {
                        turn.reply(new Bounced(t.id()));
                        return;
                    }
                    accounts.put(t.from(), have - t.cents());
                    Sent credit = turn.send(t.bank(), new Credit(t.id(), t.to(), t.cents()));
                    turn.after(Duration.ofDays(1), new CheckSettled(t.id(), credit));
                    turn.reply(new Done(t.id()));
                });
        on.message(
                Credit.class,
                (credit, turn) ->
                        accounts.put(
                                credit.to(),
                                accounts.getOrDefault(credit.to(), 0L) + credit.cents()));
        on.message(
                CheckSettled.class,
                (check, turn) -> {
                    if (turn.acked(check.credit())) {
                        settled.add(check.id());
                        settledAt.add(turn.now());
                    } else {
                        turn.after(Duration.ofDays(1), check);
                    }
                });
        on.message(Letter.class, (letter, turn) -> turn.output(letter));
        on.message(Posted.class, (posted, turn) -> stamps.add(posted.stamp()));
        on.output(
                Letter.class,
                (letter, id) -> {
                    calls.add(id + " " + letter.text());
                    if (!post.contains(letter.text())) {
                        throw new IllegalStateException("the post is closed");
                    }
                    return new Posted(letter.text());
                });
        on.message(Wait.class, (wait, turn) -> waiting.put(wait.until(), turn.detach()));
        on.message(
                Release.class,
                (release, turn) -> {
                    turn.reply(waiting.get(release.until()), new Released());
                    waiting.remove(release.until());
                });
        on.message(
                Poison.class,
                (poison, turn) -> {
                    accounts.put("poison", 1L);
                    turn.send("elsewhere", poison);
                    throw new IllegalArgumentException(poison.why());
                });
        on.message(
                Remind.class,
                (remind, turn) ->
                        reminders.put(
                                remind.text(),
                                turn.after(remind.after(), new Letter(remind.text()))));
        on.message(
                Forget.class,
                (forget, turn) -> {
                    turn.cancel(reminders.get(forget.text()));
                    reminders.remove(forget.text());
                });
        on.message(
                Audit.class,
                (audit, turn) ->
                        turn.ensemble().create(audit.path(), audit.text().getBytes(UTF_8)));
        on.message(
                EnsembleOutcome.class,
                (outcome, turn) ->
                        stamps.add(outcome.paths() + " " + outcome.happened() + outcome.refusal()));
        on.message(Interest.class, (interest, turn) -> interests.update(interests.orElse(0L) + 1));
        on.every(Duration.ofHours(1), new Interest());
        on.query(Balance.class, (b, turn) -> new Cents(accounts.getOrDefault(b.owner(), 0L)));
        on.query(
                Total.class,
                (total, turn) -> {
                    long sum = 0;
                    for (long cents : accounts.values()) {
                        sum += cents;
                    }
                    return new Cents(sum);
                });
        on.query(
                Settled.class,
                (query, turn) -> {
                    List<String> ids = new ArrayList<>();
                    settled.forEach(ids::add);
                    List<Instant> at = new ArrayList<>();
                    settledAt.forEach(at::add);
                    return new Settlements(ids, at);
                });
        on.query(
                Stamps.class,
                (query, turn) -> {
                    List<String> all = new ArrayList<>();
                    stamps.forEach(all::add);
                    return new Stamped(all);
                });
        on.query(InterestSoFar.class, (q, turn) -> new Cents(interests.orElse(0L)));
    }

    public record InterestSoFar() {}
}
