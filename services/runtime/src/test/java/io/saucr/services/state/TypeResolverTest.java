package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.saucr.services.TypeName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Each type that is not allowed is refused with its place and with what to use instead. */
class TypeResolverTest {

    private final Codec codec = new Codec();

    private void refused(Class<?> type, String... parts) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.check(type))
                .satisfies(e -> assertThat(e.getMessage()).contains(parts));
        // Nothing of it is remembered as allowed.
        assertThatIllegalArgumentException().isThrownBy(() -> codec.check(type));
    }

    @Test
    @SuppressWarnings("ArrayRecordComponent") // That is the point.
    void partsThatCanChangeAreRefused() {
        record Order(String id, Line line) {
            record Line(int count, byte[] content) {}
        }
        refused(
                Order.class,
                "component content of record " + Order.Line.class.getName(),
                "byte[] is not allowed",
                "use io.saucr.services.Bytes");
        record Dated(Date date) {}
        refused(Dated.class, "component date", "use java.time.Instant");
        record Counter(AtomicLong count) {}
        refused(Counter.class, "use long or Long");
        record Numbers(int[] numbers) {}
        refused(Numbers.class, "int[] is not allowed", "use List");
        record Anything(Object it) {}
        refused(Anything.class, "use a sealed interface");
        record Several(Collection<String> several) {}
        refused(Several.class, "use List or Set");
        record Listed(ArrayList<String> list) {}
        refused(Listed.class, "java.util.ArrayList");
        record Task(Runnable task) {}
        refused(Task.class, "make it a sealed interface of records");
        record Self(TypeResolverTest test) {}
        refused(Self.class, "make it a record");
        refused(int.class, "use its box");
    }

    @Test
    void typesThatBytesDoNotTellAreRefused() {
        record Raw(@SuppressWarnings("rawtypes") List list) {}
        refused(Raw.class, "say of what, as in List<...>");
        record Wild(List<? extends String> list) {}
        refused(Wild.class, "? extends java.lang.String", "name the type itself");
        record Twice(Optional<Optional<String>> twice) {}
        refused(Twice.class, "use one Optional");
        record Pair<A, B>(A a, B b) {}
        record Pairs(Pair<String, String> pair) {}
        refused(Pairs.class, "component pair", "use a record without any");
        refused(List.class, "make it a component of a record");
    }

    sealed interface Open permits Fine, Other {}

    record Fine() implements Open {}

    static non-sealed class Other implements Open {}

    sealed interface Same permits One, Two {}

    record One() implements Same {}

    @TypeName("One")
    record Two() implements Same {}

    @Test
    void whatASealedInterfacePermitsIsChecked() {
        refused(Open.class, "permits " + Other.class.getName(), "make it a record");
        refused(Same.class, "also called One", "@TypeName");
    }

    @TypeName("")
    record Nameless() {}

    @Test
    void namesAreChecked() {
        assertThatIllegalArgumentException().isThrownBy(() -> codec.name(Nameless.class));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> codec.name(new Object() {}.getClass()));
    }

    @Test
    void enumsOfOthersAreAllowed() {
        codec.check(TimeUnit.class);
    }

    @Test
    void keysHoldNoSets() {
        record Key(Optional<List<Inner>> inner) {
            record Inner(Map<String, String> map) {}
        }
        record Flat(Set<String> set) {}
        StateStore store = new StateStore("test", 1, false);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.map("m", Key.class, String.class))
                .withMessageContaining("component map of Inner")
                .withMessageContaining("use a sorted List");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.map("m", Flat.class, String.class));
        // The name is free again.
        store.map("m", String.class, Flat.class);
    }
}
