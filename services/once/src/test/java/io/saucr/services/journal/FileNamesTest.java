package io.saucr.services.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.once.MarkerContent;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Where numbers are written in other digits, as in Egypt, what is written is read again all the
 * same: recovery would pass over a segment whose name it cannot read.
 */
class FileNamesTest {

    @Test
    void digitsAreThoseThatAreRead() throws Exception {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            Path folder = Path.of("folder");
            assertThat(Segment.file(folder, 15)).hasFileName("0000000000000000015.log");
            assertThat(Base.file(folder, 15)).hasFileName("0000000000000000015.snap");
            Incarnation start = new Incarnation(new Birth(1, 2), 12, -1);
            Head head = new Head(start);
            assertThat(Head.decode(head.encode())).isEqualTo(head);
            MarkerContent marker = new MarkerContent(start, 34);
            assertThat(MarkerContent.decode(marker.encode())).isEqualTo(marker);
        } finally {
            Locale.setDefault(before);
        }
    }
}
