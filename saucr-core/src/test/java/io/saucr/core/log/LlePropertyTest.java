package io.saucr.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** R8: maps only grow, whatever the order in which they are learned. */
class LlePropertyTest {

    @Property(tries = 500)
    void mergeIsTheLargerValuePerServer(
            @ForAll("values") Map<Long, Long> left, @ForAll("values") Map<Long, Long> right) {
        Map<Long, Long> expected = new HashMap<>(left);
        right.forEach((sid, zxid) -> expected.merge(sid, zxid, Math::max));

        LleMap merged = LleMap.of(left).merge(LleMap.of(right));

        assertThat(merged).isEqualTo(LleMap.of(expected));
        expected.forEach((sid, zxid) -> assertThat(merged.get(sid)).isEqualTo(zxid));
        assertThat(merged.get(99)).isEqualTo(Zxid.NONE);
    }

    @Property(tries = 500)
    void severalServersRaisedAtOnceAreEachRaised(
            @ForAll("maps") LleMap map,
            @ForAll @Size(max = 8) Set<@LongRange(max = 20) Long> servers,
            @ForAll @LongRange(max = 20) long zxid) {
        LleMap expected = map;
        for (long sid : servers) {
            expected = expected.with(sid, zxid);
        }
        long[] ascending = servers.stream().mapToLong(Long::longValue).sorted().toArray();
        assertThat(map.with(ascending, zxid)).isEqualTo(expected);
    }

    @Property(tries = 500)
    void mergeIsCommutativeAssociativeIdempotentAndMonotone(
            @ForAll("maps") LleMap a, @ForAll("maps") LleMap b, @ForAll("maps") LleMap c) {
        assertThat(a.merge(b)).isEqualTo(b.merge(a));
        assertThat(a.merge(b).merge(c)).isEqualTo(a.merge(b.merge(c)));
        LleMap ab = a.merge(b);
        assertThat(ab.merge(a)).isSameAs(ab);
        assertThat(ab.merge(b)).isSameAs(ab);
        assertThat(a.includedIn(ab)).isTrue();
        assertThat(b.includedIn(ab)).isTrue();
        assertThat(ab.includedIn(a)).isEqualTo(ab.equals(a));
    }

    /** One thing that an owner may do with its knowledge. */
    sealed interface Step {
        /** An entry with the tag of this index. */
        record Append(int tag, long zxid) implements Step {}

        /** A map from elsewhere. */
        record Merge(LleMap map) implements Step {}

        /** Somebody looks. */
        record Snapshot() implements Step {}
    }

    @Property(tries = 500)
    void knowledgeEqualsNaiveReplay(
            @ForAll("maps") LleMap initial,
            @ForAll("tags") List<ProposalTag> tags,
            @ForAll("steps") List<Step> steps) {
        LleKnowledge knowledge = new LleKnowledge(initial);
        LleMap naive = initial;
        for (Step step : steps) {
            if (step instanceof Step.Append append) {
                ProposalTag tag = tags.get(append.tag);
                knowledge.appended(tag, append.zxid);
                naive = naive.merge(tag.resolve(append.zxid));
            } else if (step instanceof Step.Merge merge) {
                knowledge.merge(merge.map);
                naive = naive.merge(merge.map);
            } else {
                assertThat(knowledge.snapshot()).isEqualTo(naive).isSameAs(knowledge.snapshot());
            }
            for (long sid = 0; sid < 8; sid++) {
                assertThat(knowledge.get(sid)).isEqualTo(naive.get(sid));
            }
        }
        assertThat(knowledge.snapshot()).isEqualTo(naive);
    }

    @Provide
    Arbitrary<Map<Long, Long>> values() {
        return Arbitraries.maps(
                        Arbitraries.longs().between(0, 7), Arbitraries.longs().between(0, 30))
                .ofMaxSize(7);
    }

    @Provide
    Arbitrary<LleMap> maps() {
        return values().map(LleMap::of);
    }

    @Provide
    Arbitrary<List<ProposalTag>> tags() {
        return Combinators.combine(
                        Arbitraries.of(Mode.class),
                        Arbitraries.longs().between(0, 7).set().ofMinSize(1).ofMaxSize(7),
                        maps())
                .as(
                        (mode, members, others) ->
                                ProposalTag.of(
                                        mode,
                                        members.stream().mapToLong(Long::longValue).toArray(),
                                        others))
                .list()
                .ofSize(3);
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<Step> append =
                Combinators.combine(
                                Arbitraries.integers().between(0, 2),
                                Arbitraries.longs().between(1, 30))
                        .as(Step.Append::new);
        Arbitrary<Step> merge = maps().map(Step.Merge::new);
        return Arbitraries.oneOf(
                        append, append, append, merge, Arbitraries.just(new Step.Snapshot()))
                .list()
                .ofMaxSize(25);
    }
}
