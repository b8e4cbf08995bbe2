package io.saucr.services.testkit;

import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;

/** What a {@link Wire} joins. */
interface WireEnd {

    String name();

    void linkUp(Link link);

    void linkDown(Link link);

    void frame(Link link, Frame frame);
}
