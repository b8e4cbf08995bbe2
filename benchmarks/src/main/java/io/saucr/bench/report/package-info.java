/** Results as text, HTML pages with plots, and files. */
package io.saucr.bench.report;
