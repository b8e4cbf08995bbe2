package io.saucr.services;

import java.util.List;

/** A service that passes notes on, and remembers what it got and what came back. */
public final class Notes implements Service {

    public record Pass(String to, String text) {}

    public record Note(String text) {}

    /** Is never answered. */
    public record Keep(String text) {}

    public record Write(String path) {}

    public record Ask() {}

    public record Seen(List<String> notes) {}

    private final ListState<String> seen;

    public Notes(State state) {
        seen = state.list("seen", String.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(Pass.class, (pass, turn) -> turn.send(pass.to(), new Note(pass.text())));
        on.message(Note.class, (note, turn) -> seen.add(note.text()));
        on.message(
                Keep.class,
                (keep, turn) -> {
                    seen.add(keep.text());
                    Caller unused = turn.detach();
                });
        on.returned(
                Note.class,
                (note, turn) ->
                        seen.add(
                                (note.perhapsConsumed() ? "perhaps " : "not ")
                                        + note.message().text()));
        on.message(Write.class, (write, turn) -> turn.ensemble().create(write.path(), new byte[0]));
        on.message(
                EnsembleOutcome.class,
                (outcome, turn) ->
                        seen.add(
                                outcome.paths()
                                        + (outcome.unknown()
                                                ? " unknown"
                                                : " " + outcome.happened())));
        on.query(Ask.class, (ask, turn) -> new Seen(all()));
    }

    private List<String> all() {
        List<String> all = new java.util.ArrayList<>();
        for (int i = 0; i < seen.size(); i++) {
            all.add(seen.get(i));
        }
        return all;
    }
}
