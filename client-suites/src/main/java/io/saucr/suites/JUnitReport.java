package io.saucr.suites;

import io.saucr.suites.Outcome.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** Reads the XML in which JUnit and pytest report. */
final class JUnitReport {
    private JUnitReport() {}

    /** The results of a file; a test that it has twice has failed if one of them has. */
    static Map<String, Result> read(Path file) throws IOException {
        Map<String, Result> results = new TreeMap<>();
        try {
            NodeList cases =
                    DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(file.toFile())
                            .getElementsByTagName("testcase");
            for (int i = 0; i < cases.getLength(); i++) {
                Element test = (Element) cases.item(i);
                String name =
                        test.getAttribute("classname").replaceFirst(".*\\.", "")
                                + "."
                                + test.getAttribute("name");
                results.merge(name, result(test), (a, b) -> a == Result.FAILED ? a : b);
            }
            return results;
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file + " cannot be read", e);
        }
    }

    private static Result result(Element test) {
        if (has(test, "failure") || has(test, "error")) {
            return Result.FAILED;
        }
        return has(test, "skipped") ? Result.SKIPPED : Result.PASSED;
    }

    private static boolean has(Element test, String tag) {
        return test.getElementsByTagName(tag).getLength() > 0;
    }
}
