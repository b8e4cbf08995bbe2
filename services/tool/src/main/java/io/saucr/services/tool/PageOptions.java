package io.saucr.services.tool;

import io.saucr.core.config.TimeLimit;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where status pages are. One thread. */
final class PageOptions {

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
            paramLabel = "TIME",
            defaultValue = "15s",
            description = "How long a page may take: " + TimeLimit.FORM + ". Default: 15s.")
    private String timeout;

    /**
     * All pages that are named.
     *
     * @throws ParameterException where one is no address
     */
    List<Page> all() {
        List<Page> pages = new ArrayList<>();
        for (String url : urls) {
            try {
                pages.add(new Page(Page.address(url), TimeLimit.parse(timeout)));
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
