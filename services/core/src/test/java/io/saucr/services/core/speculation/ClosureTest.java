package io.saucr.services.core.speculation;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is final among what members reported (D6). */
class ClosureTest {

    private static Sealed sealed(long version, long... on) {
        return new Sealed(1, version, VersionVector.of(on));
    }

    @Test
    void aVersionWaitsForAllThatItDependsOn() {
        List<Sealed> first = List.of(sealed(1), sealed(2, 0, 2));
        assertThat(Closure.of(VersionVector.NONE, Map.of(0, first, 1, List.of(sealed(1)))))
                .isEqualTo(VersionVector.of(1, 1));
        assertThat(
                        Closure.of(
                                VersionVector.NONE,
                                Map.of(0, first, 1, List.of(sealed(1), sealed(2)))))
                .isEqualTo(VersionVector.of(2, 2));
    }

    @Test
    void versionsThatDependOnEachOtherAreFinalTogether() {
        assertThat(
                        Closure.of(
                                VersionVector.NONE,
                                Map.of(0, List.of(sealed(1, 0, 1)), 1, List.of(sealed(1, 1)))))
                .isEqualTo(VersionVector.of(1, 1));
    }

    @Test
    void whatDependsOnALossIsNotFinalAndNorIsWhatFollows() {
        assertThat(
                        Closure.of(
                                VersionVector.of(3, 3, 3),
                                Map.of(
                                        1,
                                        List.of(sealed(4, 4), sealed(5)),
                                        2,
                                        List.of(sealed(4, 0, 5)))))
                .isEqualTo(VersionVector.of(3, 3, 3));
    }
}
