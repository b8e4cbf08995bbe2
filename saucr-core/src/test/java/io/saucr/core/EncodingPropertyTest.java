package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.MalformedMarkerException;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** What is written is read back, and nothing else is read: proposals, maps and marker files. */
class EncodingPropertyTest {
    private static final String GARBAGE_CHARACTERS = "0123456789abcdefFS,;=-x\n \u00e9";

    @Property(tries = 300)
    void mapsRoundTrip(@ForAll("maps") LleMap map) {
        assertThat(LleMap.decode(map.encode())).isEqualTo(map).hasSameHashCodeAs(map);
    }

    @Property(tries = 1000)
    void textIsAMapOnlyInItsOneSpelling(@ForAll("garbage") String text) {
        LleMap map;
        try {
            map = LleMap.decode(text);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("LLE map");
            return;
        }
        assertThat(map.encode()).isEqualTo(text);
    }

    @Property(tries = 300)
    void tagsRoundTrip(
            @ForAll Mode mode,
            @ForAll @Size(min = 1, max = 9) Set<@LongRange(min = 0, max = 12) Long> members,
            @ForAll("maps") LleMap others) {
        long[] sids = members.stream().mapToLong(Long::longValue).toArray();
        ProposalTag tag = ProposalTag.of(mode, sids, others);

        ProposalTag decoded = ProposalTag.decode(tag.encode());

        assertThat(decoded).isEqualTo(tag).hasSameHashCodeAs(tag);
        assertThat(decoded.mode()).isEqualTo(mode);
        assertThat(decoded.members()).containsExactlyInAnyOrder(sids);
        assertThat(decoded.encode()).isEqualTo(tag.encode());
        long zxid = Zxid.of(9, 9);
        LleMap resolved = decoded.resolve(zxid);
        others.forEach(
                (sid, known) ->
                        assertThat(resolved.get(sid))
                                .isEqualTo(members.contains(sid) ? zxid : known));
        for (long sid : sids) {
            assertThat(resolved.get(sid)).isEqualTo(zxid);
            assertThat(decoded.hasMember(sid)).isTrue();
            assertThat(decoded.others().get(sid)).isEqualTo(Zxid.NONE);
        }
    }

    @Property(tries = 300)
    void viewsRoundTrip(@ForAll("sealedViews") View view) {
        View decoded = View.decode(view.encode());
        assertThat(decoded).isEqualTo(view).hasSameHashCodeAs(view);
        assertThat(decoded.isFirst()).isFalse();
        assertThat(decoded.members()).isSorted().doesNotHaveDuplicates();
    }

    @Property(tries = 1000)
    void damagedViewsAreRejectedOrMeanExactlyWhatTheySay(
            @ForAll @LongRange(min = 0, max = 30) long at, @ForAll("garbage") String replacement) {
        String text = new View(0x10000001aL, 5, List.of(1L, 2L, 3L, 12L)).encode();
        String damaged = text.substring(0, (int) Math.min(at, text.length())) + replacement;
        View view;
        try {
            view = View.decode(damaged);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("view");
            return;
        }
        assertThat(view.encode()).isEqualTo(damaged);
    }

    @Property(tries = 1000)
    void damagedTagsAreRejectedOrMeanExactlyWhatTheySay(
            @ForAll @LongRange(min = 0, max = 40) long at, @ForAll("garbage") String replacement) {
        String text =
                ProposalTag.of(Mode.FAST, new long[] {1, 2, 3}, LleMap.empty().with(4, 0x1a))
                        .encode();
        int cut = (int) Math.min(at, text.length());
        String damaged = text.substring(0, cut) + replacement;
        ProposalTag tag;
        try {
            tag = ProposalTag.decode(damaged);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("proposal tag");
            return;
        }
        assertThat(ProposalTag.of(tag.mode(), tag.members(), tag.others()).encode())
                .isEqualTo(damaged);
    }

    @Example
    void aTagReadsAsTheDesignShowsIt() {
        ProposalTag tag =
                ProposalTag.of(Mode.FAST, new long[] {3, 1, 2}, LleMap.empty().with(4, 0x1a));
        assertThat(tag.encode()).isEqualTo("1;F;1,2,3;4=1a").isSameAs(tag.encode());
        assertThat(tag).hasToString("FAST to [1, 2, 3], others {4: 0x1a}");
    }

    @Example
    void limitsHold() {
        long[] many = new long[ProposalTag.MAX_MEMBERS + 1];
        Arrays.setAll(many, i -> i);
        assertThatThrownBy(() -> ProposalTag.of(Mode.SLOW, many, LleMap.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ProposalTag.of(Mode.SLOW, new long[0], LleMap.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ProposalTag.of(Mode.SLOW, new long[] {1, 1}, LleMap.empty()))
                .hasMessageContaining("server 1 is a member twice");
        StringBuilder tooMany = new StringBuilder("1;S;0");
        for (int i = 1; i <= ProposalTag.MAX_MEMBERS; i++) {
            tooMany.append(',').append(i);
        }
        assertThatThrownBy(() -> ProposalTag.decode(tooMany + ";"))
                .hasMessageContaining("at most 255 members");
        assertThatThrownBy(() -> ProposalTag.decode("1".repeat(ProposalTag.MAX_ENCODED_LENGTH + 1)))
                .hasMessageContaining("at most 16384");
        assertThatThrownBy(() -> ProposalTag.decode("2;F;1;"))
                .hasMessage("proposal tag: expected version 1 at character 0, found version 2");
        assertThatThrownBy(() -> ProposalTag.decode("1;F;1,2;2=1a"))
                .hasMessageContaining("others without members");
        assertThatThrownBy(() -> LleMap.decode("1=100000005,2=zz"))
                .hasMessage("LLE map: expected a zxid in hex at character 14, found ''");
        assertThatThrownBy(() -> LleMap.decode("2=1,1=1")).hasMessageContaining("ascending");
        Map<Long, Long> full = new HashMap<>();
        for (long sid = 0; sid < LleMap.MAX_SERVERS; sid++) {
            full.put(sid, 1L);
        }
        LleMap fullMap = LleMap.of(full);
        assertThat(LleMap.decode(fullMap.encode())).isEqualTo(fullMap);
        assertThatThrownBy(() -> fullMap.with(LleMap.MAX_SERVERS, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LleMap.decode(fullMap.encode() + "," + LleMap.MAX_SERVERS + "=1"))
                .hasMessageContaining("at most 1024 servers");
    }

    @Property(tries = 300)
    void markersRoundTrip(
            @ForAll @LongRange(min = 0) long zxid,
            @ForAll("maps") LleMap map,
            @ForAll("views") View view)
            throws MalformedMarkerException {
        assertThat(MarkerFile.decodeFastSwitch(MarkerFile.encodeFastSwitch(zxid))).isEqualTo(zxid);
        long onDisk = Math.max(zxid, view.seal());
        byte[] latestOnDisk = MarkerFile.encodeLatestOnDisk(onDisk, map, view);
        assertThat(latestOnDisk).hasSizeLessThanOrEqualTo(MarkerFile.MAX_LENGTH);
        assertThat(MarkerFile.decodeLatestOnDisk(latestOnDisk))
                .isEqualTo(new MarkerFile.LatestOnDisk(onDisk, map, view));
    }

    /** R23: a version without views reads the marker of a server that has sealed none. */
    @Example
    void onlyAMarkerWithAViewIsOfTheSecondVersion() throws MalformedMarkerException {
        LleMap map = LleMap.empty().with(1, 0x100000009L).with(2, 0x100000009L);
        View view = new View(0x100000007L, 3, List.of(1L, 2L, 3L));

        assertThat(text(MarkerFile.encodeLatestOnDisk(0x100000009L, map, View.FIRST)))
                .startsWith(
                        "saucr-latest-on-disk 1\n"
                                + "zxid=100000009\n"
                                + "lle=1=100000009,2=100000009\n"
                                + "crc32c=");
        assertThat(text(MarkerFile.encodeLatestOnDisk(0x100000009L, map, view)))
                .startsWith(
                        "saucr-latest-on-disk 2\n"
                                + "zxid=100000009\n"
                                + "lle=1=100000009,2=100000009\n"
                                + "view=100000007;3;1,2,3\n"
                                + "crc32c=");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    /** R23: the longest view, beside the longest map. */
    @Example
    void aMarkerOfTheMostServersFits() throws MalformedMarkerException {
        List<Long> members =
                LongStream.range(0, Configuration.MAX_VOTERS)
                        .mapToObj(i -> Long.MIN_VALUE + i)
                        .toList();
        View view = new View(Long.MAX_VALUE, Configuration.MAX_VOTERS, members);
        Map<Long, Long> full = new HashMap<>();
        for (long i = 0; i < LleMap.MAX_SERVERS; i++) {
            full.put(Long.MIN_VALUE + i, Long.MAX_VALUE);
        }
        LleMap map = LleMap.of(full);

        assertThat(View.decode(view.encode())).isEqualTo(view);
        byte[] marker = MarkerFile.encodeLatestOnDisk(Long.MAX_VALUE, map, view);
        assertThat(MarkerFile.decodeLatestOnDisk(marker))
                .isEqualTo(new MarkerFile.LatestOnDisk(Long.MAX_VALUE, map, view));
    }

    /** A power cut leaves prefixes, zeros and stale bytes: none of them may read as a marker. */
    @Property(tries = 1000)
    void damagedMarkersAreRejected(
            @ForAll @LongRange(min = 0) long zxid,
            @ForAll("maps") LleMap map,
            @ForAll("views") View view,
            @ForAll @LongRange(min = 0, max = 400) long at,
            @ForAll byte value) {
        byte[] whole = MarkerFile.encodeLatestOnDisk(Math.max(zxid, view.seal()), map, view);
        int position = (int) (at % whole.length);

        byte[] cut = Arrays.copyOf(whole, position);
        assertThatThrownBy(() -> MarkerFile.decodeLatestOnDisk(cut))
                .isInstanceOf(MalformedMarkerException.class);

        byte[] zeroed = Arrays.copyOf(cut, whole.length);
        assertThatThrownBy(() -> MarkerFile.decodeLatestOnDisk(zeroed))
                .isInstanceOf(MalformedMarkerException.class);

        byte[] longer = Arrays.copyOf(whole, whole.length + 1);
        longer[whole.length] = value;
        assertThatThrownBy(() -> MarkerFile.decodeLatestOnDisk(longer))
                .isInstanceOf(MalformedMarkerException.class);

        byte[] changed = whole.clone();
        changed[position] = value;
        if (value != whole[position]) {
            assertThatThrownBy(() -> MarkerFile.decodeLatestOnDisk(changed))
                    .isInstanceOf(MalformedMarkerException.class);
        }
    }

    @Example
    void malformedMarkersSayWhatAndWhere() {
        assertMarker("saucr-fast-switch 7\n", "line 1: expected version 1, found version 7");
        assertMarker("", "line 1: expected 'saucr-fast-switch 1', found the end of the file");
        assertMarker(
                "saucr-fast-switch 1\nzxid=-1\n", "line 2: expected a zxid in hex at character 0");
        assertMarker("saucr-fast-switch 1\nzxid=5\ncrc32c=00000000\n", "line 3: expected 'crc32c=");
        assertMarker("saucr-fast-switch 1\nzxid=5", "line 2: expected a line that ends");
        assertMarker("x".repeat(MarkerFile.MAX_LENGTH + 1), "bytes, at most");
        assertThatThrownBy(
                        () ->
                                MarkerFile.decodeFastSwitch(
                                        MarkerFile.encodeLatestOnDisk(
                                                5, LleMap.empty(), View.FIRST)))
                .hasMessageContaining("line 1: expected 'saucr-fast-switch 1'");
    }

    /** Also with a checksum that is right: not only a power cut makes a wrong file. */
    @Example
    void malformedViewsSayWhatAndWhere() {
        String head = "saucr-latest-on-disk 2\nzxid=9\nlle=\n";
        assertLatestOnDisk(
                "saucr-latest-on-disk 3\n", "line 1: expected version 1 or 2, found version 3");
        assertLatestOnDisk(head, "line 4: expected 'view=...', found the end of the file");
        assertLatestOnDisk(sealed(head), "line 4: expected 'view=...', found 'crc32c=");
        assertLatestOnDisk(
                sealed(head + "view=\n"), "line 4: expected a zxid in hex at character 0");
        assertLatestOnDisk(
                sealed(head + "view=0;3;1,2\n"), "line 4: expected a zxid above 0 at character 0");
        assertLatestOnDisk(
                sealed(head + "view=7;3;1,2;\n"), "line 4: expected the end at character 7");
        assertLatestOnDisk(
                sealed(head + "view=7;3;1\n"),
                "line 4: expected at least 2 members at character 5, found 1");
        assertLatestOnDisk(
                sealed(head + "view=7;3;2,1\n"),
                "line 4: expected server ids, ascending at character 6");
        assertLatestOnDisk(
                sealed(head + "view=a;3;1,2\n"),
                "line 4: expected a view sealed at 0x9 or before, found 0xa");
        // A view in a marker of the first version, and a second one.
        assertLatestOnDisk(
                sealed("saucr-latest-on-disk 1\nzxid=9\nlle=\nview=7;3;1,2\n"),
                "line 4: expected 'crc32c=");
        assertLatestOnDisk(
                sealed(head + "view=7;3;1,2\nview=7;3;1,2\n"), "line 5: expected 'crc32c=");
    }

    private static String sealed(String body) {
        CRC32C crc = new CRC32C();
        crc.update(body.getBytes(StandardCharsets.US_ASCII));
        return body + "crc32c=" + String.format("%08x", crc.getValue()) + "\n";
    }

    private static void assertLatestOnDisk(String text, String message) {
        assertThatThrownBy(
                        () ->
                                MarkerFile.decodeLatestOnDisk(
                                        text.getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(MalformedMarkerException.class)
                .hasMessageStartingWith("latest-on-disk marker, ")
                .hasMessageContaining(message);
    }

    private static void assertMarker(String text, String message) {
        assertThatThrownBy(
                        () -> MarkerFile.decodeFastSwitch(text.getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(MalformedMarkerException.class)
                .hasMessageStartingWith("fast-switch marker")
                .hasMessageContaining(message);
    }

    @Example
    void zxidsPackAndPrint() {
        assertThat(Zxid.of(1, 5)).isEqualTo(0x100000005L);
        assertThat(Zxid.toString(Zxid.of(1, 5))).isEqualTo("0x100000005");
        assertThat(Zxid.epoch(Zxid.of(7, 0xffffffffL))).isEqualTo(7);
        assertThat(Zxid.counter(Zxid.of(7, 0xffffffffL))).isEqualTo(0xffffffffL);
        assertThatThrownBy(() -> Zxid.of(-1, 0)).hasMessageContaining("epoch");
        assertThatThrownBy(() -> Zxid.of(0, 1L << 32)).hasMessageContaining("counter");
    }

    @Example
    void markersTellAFastCrash() {
        assertThat(Markers.none().crashedInFastMode()).isFalse();
        assertThat(new Markers(5, 4, LleMap.empty()).crashedInFastMode()).isTrue();
        assertThat(new Markers(5, 5, LleMap.empty()).crashedInFastMode()).isFalse();
        View view = new View(3, 3, List.of(1L, 2L));
        assertThat(new Markers(5, 4, LleMap.empty(), view).crashedInFastMode()).isTrue();
        assertThat(new Markers(5, 5, LleMap.empty(), view).crashedInFastMode()).isFalse();
        assertThatThrownBy(() -> new Markers(-1, 0, LleMap.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Example
    void markersShowTheOwnView() {
        assertThat(Markers.none().view()).isEqualTo(View.FIRST);
        assertThat(new Markers(5, 4, LleMap.empty()))
                .isEqualTo(new Markers(5, 4, LleMap.empty(), View.FIRST))
                .hasToString("fast-switch 0x5, latest-on-disk 0x4, LLE {}");
        assertThat(new Markers(5, 4, LleMap.empty(), new View(0x1a, 3, List.of(2L, 1L))))
                .hasToString("fast-switch 0x5, latest-on-disk 0x4, LLE {}, view 1a;3;1,2");
    }

    @Provide
    Arbitrary<LleMap> maps() {
        return Arbitraries.maps(
                        Arbitraries.longs().between(0, 12),
                        Combinators.combine(
                                        Arbitraries.longs().between(0, 3),
                                        Arbitraries.longs().between(0, 20))
                                .as(Zxid::of))
                .ofMaxSize(8)
                .map(LleMap::of);
    }

    /** Of any number of voters, with as many members as make a bare majority at least. */
    @Provide
    Arbitrary<View> sealedViews() {
        Arbitrary<Long> sids =
                Arbitraries.oneOf(Arbitraries.longs().between(-2, 12), Arbitraries.longs());
        return sids.set()
                .ofMinSize(1)
                .ofMaxSize(9)
                .flatMap(
                        members ->
                                Combinators.combine(
                                                Arbitraries.longs().greaterOrEqual(1),
                                                Arbitraries.integers()
                                                        .between(
                                                                members.size(),
                                                                2 * members.size() - 1))
                                        .as(
                                                (seal, voters) ->
                                                        new View(
                                                                seal,
                                                                voters,
                                                                List.copyOf(members))));
    }

    @Provide
    Arbitrary<View> views() {
        return Arbitraries.oneOf(Arbitraries.just(View.FIRST), sealedViews(), sealedViews());
    }

    @Provide
    Arbitrary<String> garbage() {
        return Arbitraries.strings().withChars(GARBAGE_CHARACTERS.toCharArray()).ofMaxLength(20);
    }
}
