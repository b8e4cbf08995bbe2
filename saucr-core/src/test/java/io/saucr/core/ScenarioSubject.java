package io.saucr.core;

import java.util.List;

/** What a scenario file talks to. One instance per file. */
public interface ScenarioSubject {
    /**
     * Carries out one line.
     *
     * @return the lines that belong below it, without indentation
     */
    List<String> answer(ScenarioInput input);
}
