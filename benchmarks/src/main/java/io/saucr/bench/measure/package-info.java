/** The driver: which configuration is measured when, interleaved in rounds. */
package io.saucr.bench.measure;
