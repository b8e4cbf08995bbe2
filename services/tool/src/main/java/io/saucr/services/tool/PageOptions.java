package io.saucr.services.tool;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where status pages are. One thread. */
final class PageOptions {

    private static final int LONGEST_SECONDS = 3_600;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = {"-u", "--url"},
            paramLabel = "HOST:PORT",
            split = ",",
            required = true,
            description =
                    "The status page, as the service's statusPage(...) and its log say. A page"
                            + " without a host of its own is reached from the service's machine alone.")
    private List<String> urls = List.of();

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "15",
            description = "How long a page may take, up to 3600. Preset: 15.")
    private int seconds;

    /**
     * All pages that are named.
     *
     * @throws ParameterException where one is no address
     */
    List<Page> all() {
        if (seconds < 1 || seconds > LONGEST_SECONDS) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--timeout is from 1 to " + LONGEST_SECONDS + ", not " + seconds);
        }
        List<Page> pages = new ArrayList<>();
        for (String url : urls) {
            try {
                pages.add(new Page(Page.address(url), Duration.ofSeconds(seconds)));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), e.getMessage(), e);
            }
        }
        return pages;
    }

    /** The one page that an order is for. */
    Page one() {
        List<Page> pages = all();
        if (pages.size() != 1) {
            throw new ParameterException(
                    spec.commandLine(), "an order is for one service: name one page");
        }
        return pages.get(0);
    }
}
