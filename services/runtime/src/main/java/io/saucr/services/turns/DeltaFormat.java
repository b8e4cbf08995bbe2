package io.saucr.services.turns;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Count;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Input;
import io.saucr.services.state.Changes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The bytes of what a turn did, in a journal's record and, as one large turn, in a base (K3, K10).
 * CBOR: one array of format, incarnation, time, what changed in the state, and each change as an
 * array of its own, its kind first. A turn's number is the record's. A later release may add kinds
 * and append fields to a kind; it raises the format where an earlier one must not read what it
 * wrote. Any thread.
 */
public final class DeltaFormat {

    private static final int FORMAT = 1;

    private static final CBORFactory FACTORY =
            CBORFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxStringLength(Integer.MAX_VALUE)
                                    .maxNestingDepth(8)
                                    .build())
                    .build();

    // Kinds of changes; a number once given is never given again.
    private static final int PAIR_OPENED = 1;
    private static final int PAIR_KNOWN = 2;
    private static final int PAIR_OVER = 3;
    private static final int CONSUMED = 4;
    private static final int ACKED = 5;
    private static final int SENT = 6;
    private static final int TIMER_SET = 7;
    private static final int TIMER_GONE = 8;
    private static final int TIMERS_UP_TO = 9;
    private static final int REPEAT_DUE = 10;
    private static final int REPEAT_GONE = 11;
    private static final int OUTPUT_MADE = 12;
    private static final int OUTPUT_DONE = 13;
    private static final int RETURN_TAKEN = 14;
    private static final int TRIED = 15;
    private static final int PARKED = 16;
    private static final int PARKED_GONE = 17;
    private static final int WAITS = 18;
    private static final int ANSWERED = 19;
    private static final int PEER_IS = 20;
    private static final int NUMBERS_UP_TO = 21;
    private static final int OUTPUT_IS = 22;
    private static final int RETURN_IS = 23;
    private static final int PARKED_IS = 24;
    private static final int IN_FILES = 25;
    private static final int RETURNING_IS = 26;
    private static final int PAIR_REFUSED = 30;
    private static final int GIVEN_UP = 31;
    private static final int BORN_ANEW = 32;
    private static final int BORN_AS = 33;
    private static final int RETURNING_UNSENT_IS = 34;
    private static final int RETURN_PARKED = 40;
    private static final int RETURN_AGAIN = 41;
    private static final int PARKED_RETURN_IS = 42;
    private static final int AT = 50;
    private static final int EPOCH_BEGAN = 60;
    private static final int WITHDRAWN = 61;

    private DeltaFormat() {}

    /**
     * The bytes of a turn, or of several that were joined.
     *
     * @param delta of the core alone
     * @param changes to the state by the same turns
     */
    public static byte[] bytes(Delta delta, Changes changes) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(delta.with(changes.encode()), bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Writes a turn.
     *
     * @throws IOException where the stream throws it
     */
    static void write(Delta delta, OutputStream to) throws IOException {
        try (JsonGenerator out =
                FACTORY.createGenerator(to).disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)) {
            out.writeStartArray(null, 4 + delta.changes().size());
            out.writeNumber(FORMAT);
            out.writeNumber(delta.incarnation());
            out.writeNumber(delta.nowMillis());
            out.writeBinary(delta.state());
            for (Change change : delta.changes()) {
                write(change, out);
            }
            out.writeEndArray();
        }
    }

    /**
     * Reads what {@link #bytes} gave, and is what remains in a buffer; takes it out of that.
     *
     * @param turn its number, as the record says
     * @throws IOException where the bytes are not a turn, or of a later release; says which
     */
    public static Delta read(long turn, ByteBuffer from) throws IOException {
        byte[] copy = new byte[from.remaining()];
        from.get(copy);
        return read(turn, new ByteArrayInputStream(copy));
    }

    /**
     * Reads what {@link #bytes} gave.
     *
     * @param turn its number, as the record or base says
     * @throws IOException where the bytes are not a turn, or of a later release; says which
     */
    public static Delta read(long turn, InputStream from) throws IOException {
        try (JsonParser in =
                FACTORY.createParser(from).disable(JsonParser.Feature.AUTO_CLOSE_SOURCE)) {
            expect(in.nextToken() == JsonToken.START_ARRAY, turn, in);
            Fields fields = new Fields(turn, in);
            long format = fields.number();
            if (format != FORMAT) {
                throw new IOException(
                        "turn "
                                + turn
                                + " is of format "
                                + format
                                + ", and this release reads "
                                + FORMAT
                                + ": start the release that wrote it");
            }
            long incarnation = fields.number();
            long nowMillis = fields.number();
            byte[] state = fields.bytes();
            List<Change> changes = new ArrayList<>();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                expect(in.currentToken() == JsonToken.START_ARRAY, turn, in);
                changes.add(change(fields));
                fields.end();
            }
            expect(in.nextToken() == null, turn, in);
            return new Delta(turn, incarnation, nowMillis, state, List.copyOf(changes));
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IOException("turn " + turn + " is damaged: " + e.getOriginalMessage(), e);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            // The parser counts past its buffer where a length is wild.
            throw new IOException("turn " + turn + " is damaged: " + e.getMessage(), e);
        }
    }

    private static void expect(boolean fits, long turn, JsonParser in) throws IOException {
        if (!fits) {
            throw new IOException(
                    "turn "
                            + turn
                            + " is damaged at byte "
                            + in.currentTokenLocation().getByteOffset()
                            + " of its bytes");
        }
    }

    private static void begin(JsonGenerator out, int kind) throws IOException {
        out.writeStartArray();
        out.writeNumber(kind);
    }

    private static void write(Change change, JsonGenerator out) throws IOException {
        if (change instanceof Change.PairOpened it) {
            begin(out, PAIR_OPENED);
            out.writeString(it.peer());
            out.writeBoolean(it.outside());
            write(it.birth(), out);
            write(it.seen(), out);
        } else if (change instanceof Change.PairKnown it) {
            begin(out, PAIR_KNOWN);
            out.writeString(it.peer());
        } else if (change instanceof Change.PairOver it) {
            begin(out, PAIR_OVER);
            out.writeString(it.peer());
            write(it.birth(), out);
            out.writeString(it.reason());
        } else if (change instanceof Change.Consumed it) {
            begin(out, CONSUMED);
            out.writeString(it.peer());
            write(it.last(), out);
        } else if (change instanceof Change.Acked it) {
            begin(out, ACKED);
            out.writeString(it.peer());
            write(it.last(), out);
        } else if (change instanceof Change.Sent it) {
            begin(out, SENT);
            out.writeString(it.peer());
            out.writeNumber(it.answers());
            write(it.refusal(), out);
            write(it.body(), out);
        } else if (change instanceof Change.TimerSet it) {
            begin(out, TIMER_SET);
            out.writeNumber(it.id());
            out.writeNumber(it.dueMillis());
            write(it.body(), out);
        } else if (change instanceof Change.TimerGone it) {
            begin(out, TIMER_GONE);
            out.writeNumber(it.id());
        } else if (change instanceof Change.TimersUpTo it) {
            begin(out, TIMERS_UP_TO);
            out.writeNumber(it.id());
        } else if (change instanceof Change.RepeatDue it) {
            begin(out, REPEAT_DUE);
            out.writeString(it.type());
            out.writeNumber(it.periodMillis());
            out.writeNumber(it.dueMillis());
        } else if (change instanceof Change.RepeatGone it) {
            begin(out, REPEAT_GONE);
            out.writeString(it.type());
        } else if (change instanceof Change.Withdrawn it) {
            begin(out, WITHDRAWN);
            out.writeString(it.peer());
            out.writeNumber(it.count());
        } else if (change instanceof Change.EpochBegan it) {
            begin(out, EPOCH_BEGAN);
            out.writeNumber(it.begun().epoch());
            out.writeNumber(it.begun().after());
        } else if (change instanceof Change.OutputMade it) {
            begin(out, OUTPUT_MADE);
            write(it.body(), out);
        } else if (change instanceof Change.OutputDone it) {
            begin(out, OUTPUT_DONE);
            out.writeNumber(it.output());
        } else if (change instanceof Change.ReturnTaken it) {
            begin(out, RETURN_TAKEN);
            out.writeNumber(it.id());
        } else if (change instanceof Change.Tried it) {
            begin(out, TRIED);
            out.writeString(it.channel());
            out.writeString(it.input());
            out.writeNumber(it.times());
        } else if (change instanceof Change.Parked it) {
            begin(out, PARKED);
            out.writeString(it.channel());
            out.writeString(it.reason());
            write(it.body(), out);
        } else if (change instanceof Change.ReturnParked it) {
            begin(out, RETURN_PARKED);
            out.writeString(it.channel());
            out.writeString(it.reason());
            write(it.returned(), out);
        } else if (change instanceof Change.ParkedGone it) {
            begin(out, PARKED_GONE);
            out.writeNumber(it.id());
        } else if (change instanceof Change.ReturnAgain it) {
            begin(out, RETURN_AGAIN);
            out.writeNumber(it.id());
        } else if (change instanceof Change.Waits it) {
            begin(out, WAITS);
            out.writeString(it.peer());
            out.writeNumber(it.number());
        } else if (change instanceof Change.Answered it) {
            begin(out, ANSWERED);
            out.writeString(it.peer());
            out.writeNumber(it.number());
        } else if (change instanceof Change.At it) {
            begin(out, AT);
            out.writeNumber(it.nowMillis());
        } else if (change instanceof Change.PairRefused it) {
            begin(out, PAIR_REFUSED);
            out.writeString(it.peer());
            write(it.birth(), out);
            out.writeString(it.reason());
        } else if (change instanceof Change.GivenUp it) {
            begin(out, GIVEN_UP);
            out.writeString(it.peer());
            out.writeString(it.reason());
        } else if (change instanceof Change.BornAnew it) {
            begin(out, BORN_ANEW);
            write(it.before(), out);
            write(it.now(), out);
            out.writeString(it.reason());
        } else {
            writeOfBase(change, out);
        }
        out.writeEndArray();
    }

    private static void writeOfBase(Change change, JsonGenerator out) throws IOException {
        if (change instanceof Change.PeerIs it) {
            write(it, out);
        } else if (change instanceof Change.NumbersUpTo it) {
            begin(out, NUMBERS_UP_TO);
            out.writeNumber(it.output());
            out.writeNumber(it.returned());
            out.writeNumber(it.parked());
        } else if (change instanceof Change.OutputIs it) {
            begin(out, OUTPUT_IS);
            out.writeNumber(it.output());
            write(it.body(), out);
        } else if (change instanceof Change.ReturnIs it) {
            begin(out, RETURN_IS);
            out.writeNumber(it.id());
            write(it.returned(), out);
        } else if (change instanceof Change.ParkedIs it) {
            begin(out, PARKED_IS);
            out.writeNumber(it.id());
            out.writeString(it.channel());
            out.writeString(it.reason());
            write(it.body(), out);
        } else if (change instanceof Change.InFiles it) {
            write(it, out);
        } else if (change instanceof Change.ReturningIs it) {
            begin(out, it.perhaps() ? RETURNING_IS : RETURNING_UNSENT_IS);
            out.writeNumber(it.stream());
            out.writeNumber(it.id());
            out.writeString(it.service());
            out.writeNumber(it.from());
            out.writeNumber(it.to());
            out.writeString(it.reason());
        } else if (change instanceof Change.ParkedReturnIs it) {
            begin(out, PARKED_RETURN_IS);
            out.writeNumber(it.id());
            write(it.returned(), out);
        } else if (change instanceof Change.BornAs it) {
            begin(out, BORN_AS);
            write(it.now(), out);
            out.writeNumber(it.before().size());
            for (Change.Former former : it.before()) {
                write(former.birth(), out);
                out.writeNumber(former.outputsUpTo());
            }
        } else {
            throw new IllegalStateException("no bytes for " + change);
        }
    }

    private static void write(Change.PeerIs peer, JsonGenerator out) throws IOException {
        begin(out, PEER_IS);
        out.writeString(peer.peer());
        out.writeBoolean(peer.outside());
        out.writeBoolean(peer.birth().isPresent());
        if (peer.birth().isPresent()) {
            write(peer.birth().get(), out);
        }
        out.writeBoolean(peer.known());
        write(peer.seen(), out);
        write(peer.consumed(), out);
        write(peer.acked(), out);
        out.writeNumber(peer.numbersAfter());
        out.writeNumber(peer.sent());
        out.writeNumber(peer.heardMillis());
        out.writeNumber(peer.gone().size());
        for (Birth birth : peer.gone()) {
            write(birth, out);
        }
        out.writeNumber(peer.returned().size());
        for (Change.Range range : peer.returned()) {
            out.writeNumber(range.from());
            out.writeNumber(range.to());
        }
        out.writeNumber(peer.unacked().size());
        for (Change.Unacked message : peer.unacked()) {
            write(message, out);
        }
    }

    private static void write(Change.Unacked message, JsonGenerator out) throws IOException {
        out.writeNumber(message.incarnation());
        out.writeNumber(message.sentMillis());
        out.writeNumber(message.answers());
        write(message.refusal(), out);
        write(message.body(), out);
    }

    private static void write(Change.InFiles files, JsonGenerator out) throws IOException {
        begin(out, IN_FILES);
        out.writeString(files.peer());
        out.writeNumber(files.stream());
        out.writeNumber(files.messages());
        out.writeNumber(files.sinceMillis());
        out.writeNumber(files.refusals().size());
        for (long count : files.refusals()) {
            out.writeNumber(count);
        }
        out.writeNumber(files.starts().size());
        for (Change.Start start : files.starts()) {
            out.writeNumber(start.count());
            out.writeNumber(start.incarnation());
        }
    }

    /** The bytes of a message that lies in a file (K13). */
    static byte[] message(Change.Unacked message) throws IOException {
        ByteArrayOutputStream bytes =
                new ByteArrayOutputStream(message.body().bytes().length + 128);
        try (JsonGenerator out = FACTORY.createGenerator(bytes)) {
            out.writeStartArray();
            write(message, out);
            out.writeEndArray();
        }
        return bytes.toByteArray();
    }

    /**
     * Reads what {@link #message} gave.
     *
     * @throws IOException where it is none
     */
    static Change.Unacked message(byte[] bytes) throws IOException {
        try (JsonParser in = FACTORY.createParser(bytes)) {
            expect(in.nextToken() == JsonToken.START_ARRAY, 0, in);
            Fields fields = new Fields(0, in);
            Change.Unacked message = fields.unacked();
            fields.end();
            return message;
        }
    }

    private static void write(Input.Returned returned, JsonGenerator out) throws IOException {
        out.writeString(returned.service());
        out.writeNumber(returned.number());
        out.writeBoolean(returned.perhapsConsumed());
        out.writeString(returned.reason());
        write(returned.body(), out);
    }

    private static void write(Body body, JsonGenerator out) throws IOException {
        out.writeString(body.type());
        out.writeBinary(body.bytes());
    }

    private static void write(Birth birth, JsonGenerator out) throws IOException {
        out.writeNumber(birth.high());
        out.writeNumber(birth.low());
    }

    private static void write(Count count, JsonGenerator out) throws IOException {
        out.writeNumber(count.number());
        out.writeNumber(count.incarnation());
        out.writeNumber(count.nonce());
    }

    private static void write(Optional<String> text, JsonGenerator out) throws IOException {
        if (text.isPresent()) {
            out.writeString(text.get());
        } else {
            out.writeNull();
        }
    }

    private static Change change(Fields in) throws IOException {
        int kind = in.size();
        return switch (kind) {
            case PAIR_OPENED ->
                    new Change.PairOpened(in.text(), in.truth(), in.birth(), in.count());
            case PAIR_KNOWN -> new Change.PairKnown(in.text());
            case PAIR_OVER -> new Change.PairOver(in.text(), in.birth(), in.text());
            case CONSUMED -> new Change.Consumed(in.text(), in.count());
            case ACKED -> new Change.Acked(in.text(), in.count());
            case SENT -> new Change.Sent(in.text(), in.number(), in.optional(), in.body());
            case TIMER_SET -> new Change.TimerSet(in.number(), in.number(), in.body());
            case TIMER_GONE -> new Change.TimerGone(in.number());
            case TIMERS_UP_TO -> new Change.TimersUpTo(in.number());
            case REPEAT_DUE -> new Change.RepeatDue(in.text(), in.number(), in.number());
            case REPEAT_GONE -> new Change.RepeatGone(in.text());
            case WITHDRAWN -> new Change.Withdrawn(in.text(), in.number());
            case EPOCH_BEGAN -> new Change.EpochBegan(new Epochs.Begun(in.number(), in.number()));
            case OUTPUT_MADE -> new Change.OutputMade(in.body());
            case OUTPUT_DONE -> new Change.OutputDone(in.number());
            case RETURN_TAKEN -> new Change.ReturnTaken(in.number());
            case TRIED -> new Change.Tried(in.text(), in.text(), in.size());
            case PARKED -> new Change.Parked(in.text(), in.text(), in.body());
            case RETURN_PARKED -> new Change.ReturnParked(in.text(), in.text(), returned(in));
            case RETURN_AGAIN -> new Change.ReturnAgain(in.number());
            case PARKED_GONE -> new Change.ParkedGone(in.number());
            case WAITS -> new Change.Waits(in.text(), in.number());
            case ANSWERED -> new Change.Answered(in.text(), in.number());
            case AT -> new Change.At(in.number());
            case PEER_IS -> peer(in);
            case NUMBERS_UP_TO -> new Change.NumbersUpTo(in.number(), in.number(), in.number());
            case OUTPUT_IS -> new Change.OutputIs(in.number(), in.body());
            case IN_FILES -> inFiles(in);
            case RETURNING_IS -> returning(in, true);
            case RETURNING_UNSENT_IS -> returning(in, false);
            case RETURN_IS -> new Change.ReturnIs(in.number(), returned(in));
            case PARKED_RETURN_IS -> new Change.ParkedReturnIs(in.number(), returned(in));
            case PARKED_IS -> new Change.ParkedIs(in.number(), in.text(), in.text(), in.body());
            case PAIR_REFUSED -> new Change.PairRefused(in.text(), in.birth(), in.text());
            case GIVEN_UP -> new Change.GivenUp(in.text(), in.text());
            case BORN_ANEW -> new Change.BornAnew(in.birth(), in.birth(), in.text());
            case BORN_AS -> new Change.BornAs(in.birth(), formers(in));
            default ->
                    throw new IOException(
                            "turn "
                                    + in.turn
                                    + " holds a change of kind "
                                    + kind
                                    + ", which this release does not know: start the release that"
                                    + " wrote it");
        };
    }

    private static Change inFiles(Fields in) throws IOException {
        String peer = in.text();
        long stream = in.number();
        long messages = in.number();
        long sinceMillis = in.number();
        List<Long> refusals = new ArrayList<>();
        for (int left = in.size(); left > 0; left--) {
            refusals.add(in.number());
        }
        List<Change.Start> starts = new ArrayList<>();
        for (int left = in.size(); left > 0; left--) {
            starts.add(new Change.Start(in.number(), in.number()));
        }
        return new Change.InFiles(peer, stream, messages, sinceMillis, refusals, starts);
    }

    private static Input.Returned returned(Fields in) throws IOException {
        return new Input.Returned(in.text(), in.number(), in.truth(), in.text(), in.body());
    }

    private static Change returning(Fields in, boolean perhaps) throws IOException {
        return new Change.ReturningIs(
                in.number(), in.number(), in.text(), in.number(), in.number(), perhaps, in.text());
    }

    private static List<Change.Former> formers(Fields in) throws IOException {
        List<Change.Former> formers = new ArrayList<>();
        for (int left = in.size(); left > 0; left--) {
            formers.add(new Change.Former(in.birth(), in.number()));
        }
        return formers;
    }

    private static Change peer(Fields in) throws IOException {
        String name = in.text();
        boolean outside = in.truth();
        Optional<Birth> birth = in.truth() ? Optional.of(in.birth()) : Optional.empty();
        boolean known = in.truth();
        Count seen = in.count();
        Count consumed = in.count();
        Count acked = in.count();
        long numbersAfter = in.number();
        long sent = in.number();
        long heardMillis = in.number();
        List<Birth> gone = new ArrayList<>();
        for (int left = in.size(); left > 0; left--) {
            gone.add(in.birth());
        }
        List<Change.Range> returned = new ArrayList<>();
        for (int left = in.size(); left > 0; left--) {
            returned.add(new Change.Range(in.number(), in.number()));
        }
        List<Change.Unacked> unacked = new ArrayList<>();
        for (int left = in.size(); left > 0; left--) {
            unacked.add(in.unacked());
        }
        return new Change.PeerIs(
                name,
                outside,
                birth,
                known,
                seen,
                consumed,
                acked,
                numbersAfter,
                sent,
                heardMillis,
                gone,
                returned,
                unacked);
    }

    /** Reads the fields of a change, one after the other. */
    private static final class Fields {

        private final long turn;
        private final JsonParser in;

        Fields(long turn, JsonParser in) {
            this.turn = turn;
            this.in = in;
        }

        long number() throws IOException {
            expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, turn, in);
            return in.getLongValue();
        }

        int size() throws IOException {
            long number = number();
            expect(number >= 0 && number <= Integer.MAX_VALUE, turn, in);
            return (int) number;
        }

        boolean truth() throws IOException {
            JsonToken token = in.nextToken();
            expect(token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE, turn, in);
            return in.getBooleanValue();
        }

        String text() throws IOException {
            expect(in.nextToken() == JsonToken.VALUE_STRING, turn, in);
            return in.getText();
        }

        Optional<String> optional() throws IOException {
            JsonToken token = in.nextToken();
            if (token == JsonToken.VALUE_NULL) {
                return Optional.empty();
            }
            expect(token == JsonToken.VALUE_STRING, turn, in);
            return Optional.of(in.getText());
        }

        byte[] bytes() throws IOException {
            expect(in.nextToken() == JsonToken.VALUE_EMBEDDED_OBJECT, turn, in);
            return in.getBinaryValue();
        }

        Birth birth() throws IOException {
            return new Birth(number(), number());
        }

        Count count() throws IOException {
            return new Count(number(), number(), number());
        }

        Body body() throws IOException {
            return new Body(text(), bytes());
        }

        Change.Unacked unacked() throws IOException {
            return new Change.Unacked(number(), number(), number(), optional(), body());
        }

        /** The end of a change; fields that a later release appended are skipped. */
        void end() throws IOException {
            int depth = 0;
            for (JsonToken token = in.nextToken();
                    token != JsonToken.END_ARRAY || depth > 0;
                    token = in.nextToken()) {
                expect(token != null, turn, in);
                if (token.isStructStart()) {
                    depth++;
                } else if (token.isStructEnd()) {
                    depth--;
                }
            }
        }
    }
}
