package io.saucr.core.config;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Reads {@code zoo.cfg} for the scripts: prints a line for each key, its value behind a tab, and
 * behind them lines that begin with {@code @} for what the keys mean.
 */
public final class ZooCfgCommand {
    private ZooCfgCommand() {}

    /** Argument: the file. Exit codes: 0 printed, 1 not readable, with a sentence. */
    public static void main(String[] args) {
        if (args.length != 1) {
            System.err.println("argument: FILE");
            System.exit(2);
        }
        try {
            // At once: System.out would encode the text in another way than paths are.
            byte[] printed = print(ZooCfg.facts(Path.of(args[0])));
            System.out.write(printed, 0, printed.length);
            System.out.flush();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println("Error: " + e.getMessage());
            System.exit(1);
        }
    }

    private static byte[] print(Map<String, String> facts) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        facts.forEach(
                (key, value) -> {
                    String line = key + '\t' + value.replaceAll("[\t\r\n]", " ") + '\n';
                    printed.writeBytes(line.getBytes(pathCharset()));
                });
        return printed.toByteArray();
    }

    /** That in which the server's JVM gives the system the names of files and folders. */
    private static Charset pathCharset() {
        try {
            return Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            return StandardCharsets.UTF_8;
        }
    }
}
