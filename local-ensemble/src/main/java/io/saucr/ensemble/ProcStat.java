package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What Linux says of a process or a thread in its {@code stat} file. */
public final class ProcStat {
    private ProcStat() {}

    /**
     * The fields behind the program's name, which may have blanks and parentheses in it: the state,
     * as one letter, is the first.
     *
     * @param folder {@code /proc/PID}, or {@code /proc/PID/task/TID}
     * @throws IOException also if the process or thread has ended
     */
    public static String[] fields(Path folder) throws IOException {
        String stat = Files.readString(folder.resolve("stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    }
}
