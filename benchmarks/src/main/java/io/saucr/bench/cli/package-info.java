/**
 * The subcommands of {@code saucr-bench} with their options. Packages depend on each other in this
 * order, each on those before it: result, load, ensemble, report, measure, cli.
 */
package io.saucr.bench.cli;
