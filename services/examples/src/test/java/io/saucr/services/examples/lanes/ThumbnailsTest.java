package io.saucr.services.examples.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Bytes;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ThumbnailsTest {

    private static Bytes grey(int count, int value) {
        byte[] pixels = new byte[count];
        Arrays.fill(pixels, (byte) value);
        return Bytes.of(pixels);
    }

    @Test
    void aSmallImageStaysAsItIs() {
        Bytes pixels = Bytes.of((byte) 1, (byte) -1, (byte) 3, (byte) 4, (byte) 5, (byte) 6);
        assertThat(Thumbnails.scale(3, 2, pixels)).isEqualTo(new Thumbnails.Image(3, 2, pixels));
    }

    @Test
    void aPixelIsTheMeanOfItsSquare() {
        // Squares of 2 by 2; those at the right end have one column.
        byte[] pixels = new byte[2 * 127];
        pixels[0] = (byte) 250;
        pixels[1] = 10;
        pixels[127] = 20;
        pixels[128] = 40;
        pixels[126] = 8;
        pixels[253] = 9;
        Thumbnails.Image image = Thumbnails.scale(127, 2, Bytes.of(pixels));
        assertThat(image.width()).isEqualTo(64);
        assertThat(image.height()).isEqualTo(1);
        assertThat(image.pixels().get(0) & 0xff).isEqualTo(80);
        assertThat(image.pixels().get(1)).isZero();
        assertThat(image.pixels().get(63)).isEqualTo((byte) 8);
    }

    @Test
    void aLargeImageHasAtMost64PixelsASide() {
        Thumbnails.Image image = Thumbnails.scale(1000, 65, grey(65_000, 200));
        assertThat(image.width()).isEqualTo(63);
        assertThat(image.height()).isEqualTo(5);
        assertThat(image.pixels()).isEqualTo(grey(63 * 5, 200));
    }

    @Test
    void whatIsNoImageIsRefusedByName() {
        assertThatThrownBy(() -> new Thumbnails.Render("a", 2, 2, grey(3, 1)))
                .hasMessage("an image of 2 by 2 pixels has 4 bytes, not 3");
        assertThatThrownBy(() -> new Thumbnails.Render("a", 0, 2, grey(0, 1)))
                .hasMessage("the width of an image is 1 to 4096 pixels, not 0");
        assertThatThrownBy(() -> new Thumbnails.Render("a", 2, 5000, grey(0, 1)))
                .hasMessage("the height of an image is 1 to 4096 pixels, not 5000");
        assertThatThrownBy(() -> new Thumbnails.Render("", 1, 1, grey(1, 1)))
                .hasMessageContaining("1 to 200 characters");
    }
}
