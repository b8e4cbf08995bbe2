package io.saucr.bench.measure;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.BusyProcesses;
import io.saucr.bench.result.Case;
import io.saucr.ensemble.Majority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one run measures: every case with every configuration, in rounds. Immutable.
 *
 * @param title names the run in every result
 * @param failedServers followers of each ensemble that are killed before the first round
 * @param cases what is measured of each configuration
 * @param records nodes that each load finds when it begins, 1 to 1,000,000
 * @param warmUp load at the beginning of each slice that does not count
 * @param slice load that counts
 * @param compile load on each ensemble, before anything is delayed or killed, that lets its JVMs
 *     compile what is hot
 * @param rounds rounds to run at least
 * @param maxRounds rounds to stop after, even if the precision is not reached
 * @param precision half width of the confidence interval of every ratio of throughputs, as a part
 *     of the ratio, after which no further round is run; 0 if the rounds alone decide
 * @param busy processes that only compute next to the ensembles while slices are measured
 * @param processors how many each server may use once it is warm; 0: as many as there are
 * @param jvmFlags of every server
 */
public record RunPlan(
        String title,
        List<Configuration> configurations,
        int failedServers,
        List<Case> cases,
        int records,
        Duration warmUp,
        Duration slice,
        Duration compile,
        int rounds,
        int maxRounds,
        double precision,
        int busy,
        double processors,
        List<String> jvmFlags) {

    /** Checks what can be checked before anything is started. */
    public RunPlan {
        configurations = List.copyOf(configurations);
        cases = List.copyOf(cases);
        jvmFlags = List.copyOf(jvmFlags);
        require(!configurations.isEmpty(), "a run without a configuration");
        require(
                configurations.stream().map(Configuration::name).distinct().count()
                        == configurations.size(),
                "two configurations have the same name");
        require(failedServers >= 0, "a negative number of failed servers");
        require(!cases.isEmpty(), "a run without a case");
        for (Case each : cases) {
            require(
                    failedServers == 0 || failedServers <= Majority.spares(each.voters()),
                    failedServers + " failed of " + each.voters() + " servers leave no majority");
        }
        require(cases.stream().distinct().count() == cases.size(), "a case that is given twice");
        require(records >= 1 && records <= 1_000_000, "1 to 1,000,000 records");
        require(!slice.isNegative() && !slice.isZero(), "a slice that is longer than nothing");
        require(rounds >= 1 && maxRounds >= rounds, "at least one round, and no more than allowed");
        require(precision >= 0 && precision < 1, "a precision between 0 and 1");
        BusyProcesses.requirePossible(busy);
        require(processors >= 0, "a negative number of processors");
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalArgumentException("not possible: " + what);
        }
    }

    /** The kinds of ensembles, in order; those of one kind run at the same time. */
    public List<Case.EnsembleKey> ensembles() {
        return cases.stream().map(Case::ensemble).distinct().toList();
    }

    /** The cases of ensembles of one kind. */
    public List<Case> cases(Case.EnsembleKey key) {
        return cases.stream().filter(each -> each.ensemble().equals(key)).toList();
    }

    /** Slices of a whole run without further rounds. */
    public int slices() {
        return configurations.size() * cases.size() * rounds;
    }

    /** As it stands in {@code plan.json} and {@code result.json}. */
    public Map<String, Object> described() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("title", title);
        List<Object> described = new ArrayList<>();
        configurations.forEach(each -> described.add(each.described()));
        values.put("configurations", described);
        values.put("failedServers", failedServers);
        values.put("cases", cases);
        values.put("records", records);
        values.put("warmUpSeconds", warmUp.toMillis() / 1e3);
        values.put("sliceSeconds", slice.toMillis() / 1e3);
        values.put("compileSeconds", compile.toMillis() / 1e3);
        values.put("rounds", rounds);
        values.put("maxRounds", maxRounds);
        values.put("precision", precision);
        if (busy > 0) {
            values.put("busy", busy);
        }
        if (processors > 0) {
            values.put("processors", processors);
        }
        values.put("jvmFlags", jvmFlags);
        return values;
    }
}
